import { meantValue } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { settledSeq } from '../../core/change-set/change-set-scope.ts'
import { requireBase } from '../../core/existing-base.ts'
import { readPage } from '../../core/page.ts'
import { type Scope, viewerOf } from '../../core/scope.ts'
import type { Change } from '../../log/entry.ts'
import { type ChangeFilterArgs, readChangeFilter, readSeq } from '../../log/filter.ts'
import { type SeqRange, withinTimes } from '../../log/ranges.ts'
import { type Patience, type Reader, readFor } from '../../log/read.ts'
import { type Titled, withTitles } from '../../records/titles.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { conditionsFor, findGroups } from './find-groups.ts'

export type ChangeArgs = ChangeFilterArgs & {
  /** Sequence number to start after. Default: the oldest retained entry. */
  after?: number | null | undefined
}
export type ChangePageArgs = ChangeArgs & {
  /** Sequence number to end before. */
  before?: number | null | undefined
  order?: string | null | undefined
  /** Whether the diffs also have the values that they replace. */
  showsBefore?: boolean | null | undefined
  limit?: number | null | undefined
}
/**
 * `nextAfter` is the start of the next page in ascending order, even if there are no entries yet.
 * `nextBefore` is that of the next page in descending order, null after the last.
 */
export type ChangePage = {
  data: Titled<Change>[]
  hasMore: boolean
  limit: number
  nextAfter: number | null
  nextBefore: number | null
  /** What to do about an actor that made none of the changes. */
  hint: string | null
}

/**
 * Lists a page of the base's log, in order. Pagination by `nextAfter` returns each entry exactly once, even
 * during concurrent writes.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listChanges(scope: Scope, baseId: string, args: ChangePageArgs): Promise<ChangePage> {
  const reader = { ...openReader(scope, baseId, args), showsBefore: args.showsBefore ?? false }
  // What waits for a person is looked at from its end. Who follows it after an entry reads on.
  const standard = scope.changeSet !== undefined && args.after == null ? 'desc' : 'asc'
  const isDescending = readOrder(args.order ?? standard) === 'desc'
  const { limit } = readPage({ limit: args.limit })
  const { after, upTo } = await readRange(scope, args)
  const stretch = { baseId, after, upTo, limit, isDescending }
  const { changes, rest } = await readFor(scope.db, stretch, reader, scope.answer.page(), patienceOf(scope))
  if (changes.length === 0) await requireBase(scope, baseId)
  // Who follows the log after an entry waits for changes to come.
  const isNone = changes.length === 0 && rest === null && args.after == null
  return {
    data: withTitles(scope, baseId, changes, itself),
    hint: isNone ? await adviseActor(scope, baseId, reader, { after, upTo }) : null,
    hasMore: rest !== null,
    limit,
    nextAfter: isDescending ? null : (rest?.after ?? upTo),
    nextBefore: isDescending && rest ? rest.upTo + 1 : null,
  }
}

export const itself = <T>(item: T) => item

/** A page goes on while it is empty, as long as somebody waits for it. */
export function patienceOf({ closed }: Scope): Patience {
  const gone = closed?.()
  return { entries: LIMITS.changesScanned, isOver: () => gone?.aborted ?? false }
}

/** The entries after `after` and before `before` that are settled. */
export async function readRange(
  scope: Scope,
  { after, before }: Pick<ChangePageArgs, 'after' | 'before'>,
): Promise<{ after: number; upTo: number; settled: number }> {
  const from = readSeq('after', after) ?? 0
  const end = readSeq('before', before)
  const settled = await settledSeq(scope)
  const upTo = end === undefined ? settled : Math.min(settled, Math.max(end - 1, 0))
  return { after: from, upTo: Math.max(from, upTo), settled }
}

const ORDERS = ['asc', 'desc'] as const

function readOrder(order: string): (typeof ORDERS)[number] {
  const found = ORDERS.find((each) => each === order)
  if (found) return found
  throw invalid({
    path: '/order',
    code: 'enum',
    message: 'order must be asc (oldest first) or desc (newest first).',
    received: order.slice(0, 64),
    allowed: ORDERS,
  })
}

/**
 * The current end of the base's log: all future entries have higher numbers.
 * @throws FORBIDDEN, NOT_FOUND
 */
export async function endOfChanges(scope: Scope, baseId: string): Promise<number> {
  requireBaseAccess(scope.access, baseId)
  await requireBase(scope, baseId)
  return settledSeq(scope)
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
export const readAfter = (after: number | null | undefined): number | undefined => readSeq('after', after)

/** Groups that are looked at, and names that are shown. */
const MOST = { groups: 100, names: 10 }

/**
 * Advice for an actor without changes: the names of those that made the newest changes that the filter otherwise
 * matches and the token can read.
 */
export async function adviseActor(
  scope: Scope,
  baseId: string,
  reader: Reader,
  range: SeqRange,
): Promise<string | null> {
  const { actor } = reader.filter
  if (actor === null) return null
  const anyone: Reader = { ...reader, filter: { ...reader.filter, actor: null } }
  const within = await withinTimes(scope.db, baseId, range, anyone.filter)
  const conditions = conditionsFor(anyone, baseId)
  const { keys } = await findGroups(scope, baseId, anyone, conditions, within, MOST.groups, { entries: 0 })
  const names = [...new Set(keys.map(({ actor_name }) => actor_name))]
  const none = `There is no change by the actor ${JSON.stringify(actor.slice(0, 64))} here.`
  if (names.length === 0) return null
  const near = meantValue(actor, names)
  if (near !== undefined) return `${none} Did you mean ${JSON.stringify(near.slice(0, 64))}?`
  const shown = names.slice(0, MOST.names).map((name) => JSON.stringify(name.slice(0, 64)))
  return `${none} The newest are by ${shown.join(', ')}${names.length > MOST.names ? ' and others' : ''}.`
}
