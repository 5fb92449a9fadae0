import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { RowCursors } from '../../json/rows.ts'

/** Pagination arguments of a list; `limit` 1 to 1000 (50), `offset` from 0. */
export type PageArgs = {
  limit?: number | null | undefined
  offset?: number | null | undefined
  cursor?: string | null | undefined
  includeTotal?: boolean | null | undefined
}

/** One page of a list. `total` is the exact match count, only on request. */
export type Page<T> = {
  data: T[]
  hasMore: boolean
  /** Maximum number of items, or the actual number if the byte limit ended the page. */
  limit: number
  offset: number
  total: number | null
  /** The page ended at its byte limit, before `limit`. */
  truncated?: boolean
  /** Cursor of the next page, if there is one and the list uses cursors. */
  nextCursor?: string | null
  /** Cursors after each item, for a list that uses cursors. */
  cursors?: RowCursors
  /** Advice for a faster request. */
  hint?: string | null
}

/**
 * Validates the page arguments. A cursor replaces the offset.
 * @throws VALIDATION_ERROR
 */
export function readPage(args: PageArgs): { limit: number; offset: number; includeTotal: boolean } {
  const limit = args.limit ?? LIMITS.pageDefault
  const offset = args.offset ?? 0
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.pageMax)
    throw invalid({
      path: '/limit',
      code: 'out_of_range',
      message: `limit must be a whole number from 1 to ${LIMITS.pageMax}.`,
      received: limit,
    })
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalid({
      path: '/offset',
      code: 'out_of_range',
      message: 'offset must be a whole number from 0.',
      received: offset,
    })
  if (typeof args.cursor === 'string' && typeof args.offset === 'number')
    throw invalid({
      path: '/offset',
      code: 'exclusive',
      message: 'offset cannot be combined with cursor. Leave offset out.',
    })
  return { limit, offset, includeTotal: args.includeTotal ?? false }
}

/**
 * Removes the extra row that shows whether there are more. `isCut` says that the byte limit ended the read.
 * Such a page reports its number of rows as `limit`, so that pagination by offset continues after them.
 */
export function toPage<T>(
  rows: T[],
  { limit, offset }: { limit: number; offset: number },
  total: number | null,
  isCut = false,
): Page<T> {
  if (isCut && rows.length < limit)
    return { data: rows, hasMore: true, limit: rows.length, offset, total, truncated: true }
  return { data: rows.slice(0, limit), hasMore: isCut || rows.length > limit, limit, offset, total }
}

/**
 * Limits `rows`, a statement with a column `data`, to the rows that fit the byte limit of a page, but at
 * least one. Uses the compressed size times the maximum ratio as an upper bound of the text length, because
 * the exact length requires serializing the data. `longest` is the parameter with the maximum size of any
 * data.
 */
export const pageWithin = (order: string, rows: string, longest: string): string =>
  `WITH r AS (${rows}),
   w AS (SELECT r.*, row_number() OVER o AS n,
     sum(least(pg_column_size(data)::bigint * ${LIMITS.compressionRatio}, ${longest}::bigint)) OVER (o ROWS UNBOUNDED PRECEDING) AS bytes
     FROM r WINDOW o AS (ORDER BY ${order}))
   SELECT * FROM w WHERE n = 1 OR bytes <= ${LIMITS.decompressedPageBytes} ORDER BY n`
