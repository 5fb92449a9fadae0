import { invalid } from '../../foundation/errors.ts'
import { requireBaseAccess, requirePermission } from '../access/access.ts'
import type { Change } from '../change-log/entry.ts'
import { type ChangeFilterArgs, readChangeFilter } from '../change-log/filter.ts'
import { type Reader, readFor } from '../change-log/read.ts'
import { requireBase } from '../configuration/bases/index.ts'
import { readPage } from '../core/page.ts'
import { type Scope, viewerOf } from '../core/scope.ts'

export type ChangeArgs = ChangeFilterArgs & {
  /** Sequence number to start after. Default: the oldest retained entry. */
  after?: number | null | undefined
}
/** `nextAfter` is the start of the next page, even if there are no entries yet. */
export type ChangePage = { data: Change[]; hasMore: boolean; limit: number; nextAfter: number }

/**
 * Lists a page of the base's log, in order. Pagination by `nextAfter` returns each entry exactly once, even
 * during concurrent writes.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listChanges(
  scope: Scope,
  baseId: string,
  args: ChangeArgs & { limit?: number | null | undefined },
): Promise<ChangePage> {
  const reader = openReader(scope, baseId, args)
  const { limit } = readPage({ limit: args.limit })
  const after = readAfter(args.after) ?? 0
  const upTo = await scope.feed.settledSeq()
  const { changes, next, hasMore } = await readFor(
    scope.db,
    { baseId, after, upTo, limit },
    reader,
    scope.answer.page(),
  )
  if (changes.length === 0) await requireBase(scope, baseId)
  return { data: changes, hasMore, limit, nextAfter: next }
}

/**
 * The current end of the base's log: all future entries have higher numbers.
 * @throws FORBIDDEN, NOT_FOUND
 */
export async function endOfChanges(scope: Scope, baseId: string): Promise<number> {
  requireBaseAccess(scope.access, baseId)
  await requireBase(scope, baseId)
  return scope.feed.settledSeq()
}

/**
 * Builds the rights and the filter of a reader.
 * @throws FORBIDDEN without a grant on the base, or on the type of the filter
 */
export function openReader(scope: Scope, baseId: string, args: ChangeFilterArgs): Reader {
  requireBaseAccess(scope.access, baseId)
  if (args.recordType) requirePermission(scope.access, 'read', baseId, args.recordType)
  return { ...viewerOf(scope), filter: readChangeFilter(args) }
}

/**
 * Validates `after`.
 * @throws VALIDATION_ERROR
 */
export function readAfter(after: number | null | undefined): number | undefined {
  if (after == null) return undefined
  if (Number.isSafeInteger(after) && after >= 0) return after
  throw invalid({
    path: '/after',
    code: 'out_of_range',
    message: 'after is the seq of an entry: a whole number from 0.',
    received: after,
  })
}
