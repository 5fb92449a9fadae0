import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { RowCursors } from '../../json/rows.ts'

/** What a caller asks of a list; `limit` 1 to 1000 (50), `offset` from 0. */
export type PageArgs = {
  limit?: number | null | undefined
  offset?: number | null | undefined
  cursor?: string | null | undefined
  includeTotal?: boolean | null | undefined
}

/** One page of a list. `total` is the exact match count, only when asked for. */
export type Page<T> = {
  data: T[]
  hasMore: boolean
  /** Items that the page may have, or has, where it ends before them. */
  limit: number
  offset: number
  total: number | null
  /** The page ended at the bytes that a page may have, before its limit. */
  truncated?: boolean
  /** Where the next page starts, when there is more and the list goes by cursor. */
  nextCursor?: string | null
  /** Where a page behind each item would start, of a list that goes by cursor. */
  cursors?: RowCursors
  /** What would make the next such request better. */
  hint?: string | null
}

/** The page asked for, within its bounds; a cursor already says where it starts. @throws VALIDATION_ERROR */
export function readPage(args: PageArgs): { limit: number; offset: number; includeTotal: boolean } {
  const limit = args.limit ?? LIMITS.pageDefault
  const offset = args.offset ?? 0
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMITS.pageMax)
    throw invalid({
      path: '/limit',
      code: 'out_of_range',
      message: `limit is a whole number from 1 to ${LIMITS.pageMax}.`,
      received: limit,
    })
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalid({
      path: '/offset',
      code: 'out_of_range',
      message: 'offset is a whole number from 0.',
      received: offset,
    })
  if (typeof args.cursor === 'string' && typeof args.offset === 'number')
    throw invalid({
      path: '/offset',
      code: 'exclusive',
      message: 'A cursor says where the page starts. Leave offset out.',
    })
  return { limit, offset, includeTotal: args.includeTotal ?? false }
}

/**
 * Cuts the one row read beyond the page, which tells that there is more. `isCut` says that there were more rows than the
 * page has bytes for. Such a page answers as its limit the rows that it has: who pages by offset goes on behind them.
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
