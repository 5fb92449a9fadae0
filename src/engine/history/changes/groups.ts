/** Changes grouped by the request, or the tool call, that made them. */
import { LIMITS } from '../../../foundation/limits.ts'
import { requireBase } from '../../core/existing-base.ts'
import { readPage } from '../../core/page.ts'
import { readPageRows, type Scope } from '../../core/scope.ts'
import { type Author, authorIn, callFor, type Kind, type Operation } from '../../log/entry.ts'
import { type SeqRange, withinTimes } from '../../log/ranges.ts'
import { type ToolCall, unpackCall } from '../../log/tool-call.ts'
import { type Named, type Titled, withTitles } from '../../records/titles.ts'
import { shaped } from '../../storage/database/client.ts'
import { type Conditions, conditionsFor, findGroups, type GroupKey } from './find-groups.ts'
import { type GroupField, readGroupFields } from './group-fields.ts'
import { type Proposer, proposersIn } from './group-proposers.ts'
import { adviseActor, type ChangePageArgs, openReader, patienceOf, readRange } from './list.ts'
import { askedOf, entriesOf, readUndone } from './undone-groups.ts'

/** The changes of one request by one caller; of one tool call, if the request has several. */
export type ChangeGroup = {
  requestId: string
  call: ToolCall | null
  actor: Author
  firstAt: string
  lastAt: string
  lastSeq: number
  count: number
  /** The resource of a group of one change. */
  only: Named | null
  by: { kind: Kind; recordType: string | null; operation: Operation; count: number }[]
  /** What its updates of records changed, if that was asked for. */
  fields?: readonly GroupField[]
  /** How many of them are taken back, and the request that took all of them back. */
  undone: number
  undoneBy: string | null
  /** Who proposed them, if they came with a change-set, the most first. */
  proposed(): Promise<readonly Proposer[]>
}
export type ChangeGroupPage = {
  data: Titled<ChangeGroup>[]
  hasMore: boolean
  limit: number
  nextBefore: number | null
  /** What to do about an actor that made none of the changes. */
  hint: string | null
}

/**
 * Lists the groups of a base, newest first. Counts only what the filter matches and the token may read.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listChangeGroups(
  scope: Scope,
  baseId: string,
  args: Omit<ChangePageArgs, 'order' | 'showsBefore'> & { withFields?: boolean | null | undefined },
): Promise<ChangeGroupPage> {
  const reader = openReader(scope, baseId, args)
  const { limit } = readPage({ limit: args.limit })
  const { settled, ...asked } = await readRange(scope, args)
  const whole = await withinTimes(scope.db, baseId, asked, reader.filter)
  const conditions = conditionsFor(reader, baseId)
  const patience = patienceOf(scope)
  // Counted up to the present: a group that goes on after this page was listed before it.
  const counted = { after: asked.after, upTo: settled }
  const isNew = ({ lastSeq }: ChangeGroup) => lastSeq <= asked.upTo
  for (let range = whole; ; ) {
    const { keys, left } = await findGroups(scope, baseId, reader, conditions, range, limit + 1, patience)
    if (keys.length === 0) await requireBase(scope, baseId)
    const { groups, read } = await countGroups(scope, baseId, conditions, counted, keys.slice(0, limit), {
      withFields: args.withFields ?? false,
    })
    const last = read < keys.length ? keys[read - 1] : undefined
    const rest = last ? { after: whole.after, upTo: last.last - 1 } : left
    const data = groups.filter(isNew).map((group) => callFor(reader, baseId, group))
    const hasMore = rest.upTo > rest.after
    if (!hasMore || data.length > 0 || keys.length === 0) {
      const isNone = data.length === 0 && !hasMore && args.after == null
      const hint = isNone ? await adviseActor(scope, baseId, reader, whole) : null
      const titled = withTitles(scope, baseId, data, ({ only }) => only)
      return { data: titled, hasMore, limit, nextBefore: hasMore ? rest.upTo + 1 : null, hint }
    }
    range = rest
  }
}

type Counted = {
  n: number
  kind: Kind
  record_type: string | null
  operation: Operation
  count: number
  id: string
  first_at: string
  last_at: string
  last: number
}

/**
 * Reads the counts of groups, some at a time. `read` is how many there are when the entries that were counted,
 * or the bytes, end the page.
 */
async function countGroups(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  range: SeqRange,
  keys: readonly GroupKey[],
  { withFields }: { withFields: boolean },
): Promise<{ groups: ChangeGroup[]; read: number }> {
  const most = withFields ? LIMITS.groupedFieldEntries : LIMITS.groupedEntries
  const found: { group: ChangeGroup; key: GroupKey; at: number }[] = []
  const proposed = proposersIn(scope, baseId, conditions, range, keys)
  let read = 0
  let entries = 0
  for (let size: number = LIMITS.groupsFirstCounted; read < keys.length && entries < most; ) {
    const some = keys.slice(read, read + size)
    const counts = await countSome(scope, baseId, conditions, range, some)
    const whole = some.slice(0, counts.read)
    const undoneBy = await readUndone(scope, baseId, conditions, range, whole)
    for (const [i, key] of whole.entries()) {
      const counted = counts.byKey.get(i + 1)
      // Purged meanwhile.
      if (!counted) continue
      const at = read + i
      const own = groupOf(key, counted)
      const { by = null, count: undone = 0 } = undoneBy.get(i + 1) ?? {}
      const group = {
        ...own,
        undone,
        undoneBy: undone === own.count ? by : null,
        proposed: () => proposed(at),
      }
      found.push({ group, key, at })
      entries += group.count
    }
    read += whole.length
    if (whole.length < some.length) break
    size = Math.max(1, Math.floor(((most - entries) * read) / Math.max(1, entries)))
  }
  if (!withFields) return { groups: found.map(({ group }) => group), read }
  // To compare entries takes far longer than to count them, so the page ends before the group that would be too much.
  let compared = 0
  const end = found.findIndex(({ group: { count } }, i) => {
    compared += count
    return compared > most && i > 0
  })
  const shown = end < 0 ? found : found.slice(0, end)
  const of = shown.map(({ key }) => key)
  const fields = await readGroupFields(scope, baseId, conditions, range, of)
  return {
    groups: shown.map(({ group }, i) => ({ ...group, fields: fields.get(i) ?? [] })),
    read: found[end]?.at ?? read,
  }
}

async function countSome(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  range: SeqRange,
  keys: readonly GroupKey[],
): Promise<{ byKey: Map<number, Counted[]>; read: number }> {
  const { text, values } = conditions(9)
  const counts = shaped(
    `SELECT g.n::int AS n, c.kind, c.record_type, c.operation, count(*)::int AS count, min(c.id) AS id,
       min(c.at) AS first_at, max(c.at) AS last_at, max(c.seq)::float8 AS last
     FROM ${entriesOf(text)}
     GROUP BY g.n, c.kind, c.record_type, c.operation
     ORDER BY g.n, count DESC, c.kind, c.record_type, c.operation`,
  )
  const asked = [...askedOf(baseId, range, keys), ...values]
  const { rows, isCut } = await readPageRows<Counted>(scope, counts, asked, { atLeast: 1 })
  // The last group of a cut result may be incomplete, unless it is the only one.
  const read = isCut ? Math.max(1, (rows.at(-1)?.n ?? 1) - 1) : keys.length
  return { byKey: Map.groupBy(rows, ({ n }) => n), read }
}

function groupOf(
  key: GroupKey,
  counted: readonly Counted[],
): Omit<ChangeGroup, 'undone' | 'undoneBy' | 'proposed'> {
  const [one] = counted
  const of = <T>(value: (row: Counted) => T) => counted.map(value)
  return {
    requestId: key.request_id,
    call: unpackCall(key.call),
    actor: authorIn(key),
    firstAt: of((row) => row.first_at).sort()[0] ?? '',
    lastAt:
      of((row) => row.last_at)
        .sort()
        .at(-1) ?? '',
    lastSeq: Math.max(...of((row) => row.last)),
    count: of((row) => row.count).reduce((sum, count) => sum + count, 0),
    only:
      one && counted.length === 1 && one.count === 1
        ? { kind: one.kind, recordType: one.record_type, id: one.id }
        : null,
    by: counted.map(({ kind, record_type, operation, count }) => ({
      kind,
      recordType: record_type,
      operation,
      count,
    })),
  }
}
