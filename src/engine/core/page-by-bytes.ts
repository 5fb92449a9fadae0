// What JSON may take more than its compressed form in the table, and the bytes of a page.
const MOST_COMPRESSED = 100
const PAGE_BYTES = 64 * 1024 * 1024

/**
 * The first rows of `rows`, a statement with a column `data`, as far as a page of bytes goes, and one at least. How long data
 * is as text is told by its size in the table, from above: to know it exactly the database would have to print it.
 * `longest` is a parameter, the most bytes that any data has.
 */
export const pageWithin = (order: string, rows: string, longest: string): string =>
  `WITH r AS (${rows}),
   w AS (SELECT r.*, row_number() OVER o AS n,
     sum(least(pg_column_size(data)::bigint * ${MOST_COMPRESSED}, ${longest}::bigint)) OVER (o ROWS UNBOUNDED PRECEDING) AS bytes
     FROM r WINDOW o AS (ORDER BY ${order}))
   SELECT * FROM w WHERE n = 1 OR bytes <= ${PAGE_BYTES} ORDER BY n`
