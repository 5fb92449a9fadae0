// Maximum compression ratio of stored JSON, and the byte limit of a page.
const MOST_COMPRESSED = 100
const PAGE_BYTES = 64 * 1024 * 1024

/**
 * Limits `rows`, a statement with a column `data`, to the rows that fit the byte limit of a page, but at
 * least one. Uses the compressed size times the maximum ratio as an upper bound of the text length, because
 * the exact length requires serializing the data. `longest` is the parameter with the maximum size of any
 * data.
 */
export const pageWithin = (order: string, rows: string, longest: string): string =>
  `WITH r AS (${rows}),
   w AS (SELECT r.*, row_number() OVER o AS n,
     sum(least(pg_column_size(data)::bigint * ${MOST_COMPRESSED}, ${longest}::bigint)) OVER (o ROWS UNBOUNDED PRECEDING) AS bytes
     FROM r WINDOW o AS (ORDER BY ${order}))
   SELECT * FROM w WHERE n = 1 OR bytes <= ${PAGE_BYTES} ORDER BY n`
