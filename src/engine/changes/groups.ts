/** Changes grouped by the request, or the tool call, that made them. */
import { callFor, type Kind, type Operation } from '../change-log/entry.ts'
import { inReach, narrowing, type Reader } from '../change-log/read.ts'
import { type SeqRange, withinTimes } from '../change-log/time-range.ts'
import { type PackedCall, packCall, type ToolCall, unpackCall } from '../change-log/tool-call.ts'
import { visibleTo } from '../change-log/visible.ts'
import { requireBase } from '../core/existing-base.ts'
import { readPage } from '../core/page.ts'
import { readPageRows, type Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { type ChangePageArgs, openReader, readRange } from './list.ts'

/** The changes of one request by one caller; of one tool call, if the request has several. */
export type ChangeGroup = {
  requestId: string
  call: ToolCall | null
  actor: { tokenId: string | null; name: string; via: string }
  firstAt: string
  lastAt: string
  lastSeq: number
  count: number
  by: { kind: Kind; recordType: string | null; operation: Operation; count: number }[]
  /** The request that took all of them back. */
  undoneBy: string | null
}
export type ChangeGroupPage = {
  data: ChangeGroup[]
  hasMore: boolean
  limit: number
  nextBefore: number | null
}

/** Who made an entry: the key of its group. */
type Key = {
  request_id: string
  token_id: string | null
  actor_name: string
  via: string
  call: PackedCall | null
}
const KEY = 'request_id, token_id, actor_name, via, call'

/**
 * Lists the groups of a base, newest first. Counts only what the filter matches and the token may read.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR
 */
export async function listChangeGroups(
  scope: Scope,
  baseId: string,
  args: Omit<ChangePageArgs, 'order' | 'showsBefore'>,
): Promise<ChangeGroupPage> {
  const reader = openReader(scope, baseId, args)
  const { limit } = readPage({ limit: args.limit })
  const { settled, ...asked } = await readRange(scope, args)
  const range = await withinTimes(scope.db, baseId, asked, reader.filter)
  const reach = await inReach(scope.db, { baseId, ...range, limit, isDescending: true }, 'always')
  const conditions = conditionsFor(reader, baseId)
  const keys = await findKeys(scope, baseId, conditions, reach, limit + 1)
  if (keys.length === 0) await requireBase(scope, baseId)
  // Counted up to the present: a group that goes on after this page was listed before it.
  const counted = { after: asked.after, upTo: settled }
  const { groups, read } = await countGroups(scope, baseId, conditions, counted, keys.slice(0, limit))
  const end = read < keys.length ? (keys[read - 1]?.last ?? range.upTo + 1) - 1 : reach.after
  const isNew = ({ lastSeq }: ChangeGroup) => lastSeq <= asked.upTo
  const data = groups.filter(isNew).map((group) => callFor(reader, baseId, group))
  const hasMore = end > range.after
  return { data, hasMore, limit, nextBefore: hasMore ? end + 1 : null }
}

/** Conditions on the entries `c`, and the values that they bind from `first` on. */
type Conditions = (first: number) => { text: string; values: unknown[] }

function conditionsFor(reader: Reader, baseId: string): Conditions {
  return (first) => {
    const values: unknown[] = []
    const bind = (value: unknown) => `$${first - 1 + values.push(value)}`
    const types = reader.access.types('read', baseId)
    const visible = types === '*' ? [] : [visibleTo(bind([...types]))]
    return {
      text: [...narrowing(reader, baseId, bind), ...visible].map((each) => ` AND ${each}`).join(''),
      values,
    }
  }
}

type Found = Key & { last: number }

/** The groups in a range, newest first. */
async function findKeys(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  { after, upTo }: SeqRange,
  limit: number,
): Promise<Found[]> {
  const { text, values } = conditions(5)
  const statement = shaped(
    `SELECT ${KEY}, max(seq)::float8 AS last FROM plinth.change c
     WHERE base_id = $1 AND seq > $2 AND seq <= $3${text}
     GROUP BY ${KEY} ORDER BY last DESC LIMIT $4`,
  )
  const asked = [baseId, after, upTo, limit, ...values]
  return (await readPageRows<Found>(scope, statement, asked, { atLeast: 1 })).rows
}

type Counted = {
  n: number
  kind: Kind
  record_type: string | null
  operation: Operation
  count: number
  first_at: string
  last_at: string
  last: number
}
type Undone = { n: number; by: string }

/** The entries of the groups `g`, found by their request. */
const entriesOf = (conditions: string) =>
  `unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])
     WITH ORDINALITY AS g (of_request, of_token, of_name, of_via, of_call, n)
   CROSS JOIN LATERAL (
     SELECT seq, at, kind, record_type, id, operation FROM plinth.change c
     WHERE base_id = $1 AND request_id COLLATE "C" = g.of_request COLLATE "C" AND seq > $2 AND seq <= $3
       AND token_id IS NOT DISTINCT FROM g.of_token AND actor_name = g.of_name AND via = g.of_via
       AND call IS NOT DISTINCT FROM g.of_call${conditions} OFFSET 0) c`

/** Reads the counts of groups. `read` is how many fit into the page. */
async function countGroups(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  { after, upTo }: SeqRange,
  keys: readonly Found[],
): Promise<{ groups: ChangeGroup[]; read: number }> {
  if (keys.length === 0) return { groups: [], read: 0 }
  const { text, values } = conditions(9)
  const calls = keys.map(({ call }) => packCall(unpackCall(call)))
  const of = (part: 'request_id' | 'token_id' | 'actor_name' | 'via') => keys.map((key) => key[part])
  const asked = [
    ...[baseId, after, upTo, of('request_id'), of('token_id'), of('actor_name'), of('via'), calls],
    ...values,
  ]
  const counts = shaped(
    `SELECT g.n::int AS n, c.kind, c.record_type, c.operation, count(*)::int AS count,
       min(c.at) AS first_at, max(c.at) AS last_at, max(c.seq)::float8 AS last
     FROM ${entriesOf(text)}
     GROUP BY g.n, c.kind, c.record_type, c.operation
     ORDER BY g.n, count DESC, c.kind, c.record_type, c.operation`,
  )
  const { rows, isCut } = await readPageRows<Counted>(scope, counts, asked, { atLeast: 1 })
  const byKey = Map.groupBy(rows, ({ n }) => n)
  // The last group of a cut result may be incomplete, unless it is the only one.
  const read = isCut ? Math.max(1, (rows.at(-1)?.n ?? 1) - 1) : keys.length
  const undone = await scope.db.query<Undone>(shaped(undoneIn(text)), asked)
  const undoneBy = new Map(undone.map(({ n, by }) => [n, by]))
  const groups = keys
    .slice(0, read)
    .flatMap((key, i) => groupOf(key, byKey.get(i + 1), undoneBy.get(i + 1) ?? null) ?? [])
  return { groups, read }
}

/**
 * The groups whose every entry is taken back, and by which request. An entry is taken back if its last revert
 * stands: that has no revert, or one that is taken back itself. A cascade has a cause too, but of another
 * resource.
 */
const undoneIn = (
  conditions: string,
) => `WITH RECURSIVE chain (n, root, seq, kind, record_type, id, depth, by) AS (
     SELECT g.n, c.seq, c.seq, c.kind, c.record_type, c.id, 0, NULL::text FROM ${entriesOf(conditions)}
     UNION ALL
     SELECT p.n, p.root, i.seq, p.kind, p.record_type, p.id, p.depth + 1, coalesce(p.by, i.request_id)
     FROM chain p CROSS JOIN LATERAL (
       SELECT i.seq, i.request_id FROM plinth.change i
       WHERE i.base_id = $1 AND i.cause COLLATE "C" = p.seq::text AND i.seq > p.seq AND i.kind = p.kind AND i.id = p.id
         AND i.record_type IS NOT DISTINCT FROM p.record_type
       ORDER BY i.cause COLLATE "C" DESC, i.seq DESC LIMIT 1) i),
   entry AS (
     SELECT n, root, max(depth) % 2 = 1 AS is_undone, max(by) AS by, max(seq) FILTER (WHERE depth = 1) AS undone_at
     FROM chain GROUP BY n, root)
   SELECT n::int AS n, (array_agg(by ORDER BY undone_at DESC))[1] AS by FROM entry GROUP BY n HAVING bool_and(is_undone)`

function groupOf(
  key: Key,
  counted: readonly Counted[] | undefined,
  undoneBy: string | null,
): ChangeGroup | undefined {
  if (!counted) return undefined
  const of = <T>(value: (row: Counted) => T) => counted.map(value)
  return {
    requestId: key.request_id,
    call: unpackCall(key.call),
    actor: { tokenId: key.token_id, name: key.actor_name, via: key.via },
    firstAt: of((row) => row.first_at).sort()[0] ?? '',
    lastAt:
      of((row) => row.last_at)
        .sort()
        .at(-1) ?? '',
    lastSeq: Math.max(...of((row) => row.last)),
    count: of((row) => row.count).reduce((sum, count) => sum + count, 0),
    by: counted.map(({ kind, record_type, operation, count }) => ({
      kind,
      recordType: record_type,
      operation,
      count,
    })),
    undoneBy,
  }
}
