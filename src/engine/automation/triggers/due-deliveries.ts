/** Deliveries that are due, and what is sent with each. */
import { snakeFields } from '../../../contract/field-names.ts'
import { EVENT_TYPES } from '../../../contract/trigger-shapes.ts'
import { type RecordRow, toViewText } from '../../data/ledger/record.ts'
import { type AuthorRow, authorIn } from '../../log/entry.ts'
import { recordsWithPrevious } from '../../records/query/point-in-time-statements.ts'
import type { RowCap } from '../../storage/database/capped-query.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'

/** A delivery that is due. */
export type Due = {
  readonly base_id: string
  readonly trigger_id: string
  readonly id: string
  readonly event: string
  readonly record_type: string | null
  readonly record_id: string | null
  readonly change_seq: number | null
  readonly attempts: number
  readonly is_forced: boolean
  readonly created_at: Date
  readonly has_body: boolean
}

/** A trigger as deliveries need it. Secrets are encrypted. */
export type Sender = {
  readonly base_id: string
  readonly trigger_id: string
  /** Null for a trigger that runs an action. */
  readonly url: string | null
  readonly action: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly max_attempts: number
  readonly secret: string
  readonly former_secret: string | null
}

/** How many deliveries a trigger may have in flight. Those in flight are still due. */
export type Capacity = { readonly base: string; readonly trigger: string; readonly capacity: number }

// In the collation of the indexes of due deliveries, so that the planner takes none of the others.
const DUE_OF_ROOM = `d.base_id = r.base_id AND d.trigger_id COLLATE "POSIX" = r.trigger_id AND NOT d.is_held AND d.next_attempt_at <= statement_timestamp()
       ORDER BY d.next_attempt_at, d.id LIMIT r.room`

// One look-up in an index of due deliveries for each trigger, so that the backlog of one costs no other. A trigger that
// is off has its tests and replays in an index of their own, so that its backlog is not read either.
const DUE = statement(
  'due_deliveries',
  `SELECT d.base_id, d.trigger_id, d.id, d.event, d.record_type, d.record_id, d.change_seq::float8 AS change_seq, d.attempts,
     d.is_forced, d.created_at, d.body IS NOT NULL AS has_body
   FROM unnest($1::text[], $2::text[], $3::int[]) AS r (base_id, trigger_id, room)
   CROSS JOIN LATERAL (
     SELECT enabled AND disabled_reason IS NULL AS is_on FROM plinth.trigger t
     WHERE t.base_id = r.base_id AND t.id = r.trigger_id AND NOT t.calls_production) t
   CROSS JOIN LATERAL (
     (SELECT * FROM plinth.trigger_delivery d WHERE t.is_on AND ${DUE_OF_ROOM})
     UNION ALL
     (SELECT * FROM plinth.trigger_delivery d WHERE NOT t.is_on AND d.is_forced AND ${DUE_OF_ROOM})) d`,
)

export const dueDeliveries = (db: Db, capacities: readonly Capacity[]): Promise<Due[]> =>
  db.query<Due>(DUE, [
    capacities.map(({ base }) => base),
    capacities.map(({ trigger }) => trigger),
    capacities.map(({ capacity }) => capacity),
  ])

const SENDERS = statement(
  'senders_of_deliveries',
  `SELECT t.base_id, t.id AS trigger_id, t.url, t.action, t.headers, t.max_attempts, t.secret,
     CASE WHEN t.former_secret_until > clock_timestamp() THEN t.former_secret END AS former_secret
   FROM unnest($1::text[], $2::text[]) AS k (base_id, id) JOIN plinth.trigger t USING (base_id, id)`,
)

export const sendersOf = (
  db: Db,
  keys: readonly { base_id: string; trigger_id: string }[],
): Promise<Sender[]> =>
  db.query<Sender>(SENDERS, [keys.map(({ base_id }) => base_id), keys.map(({ trigger_id }) => trigger_id)])

const CHANGES: Statement = {
  ...statement(
    'changes_to_deliver',
    `SELECT r.seq::float8 AS seq, r.record_type, r.operation, r.at, r.id, r.external_source, r.external_id,
       r.data::text AS data, r.version, r.cancelled_at, r.created_at, r.updated_at,
       p.version AS was_version, p.external_source AS was_external_source, p.external_id AS was_external_id,
       p.data::text AS was_data, p.cancelled_at AS was_cancelled_at, p.created_at AS was_created_at,
       p.updated_at AS was_updated_at
     FROM ${recordsWithPrevious({ base: '$1', seqs: '$2' })} ORDER BY r.seq`,
  ),
  timesAsText: true,
}

type ChangeRow = Omit<RecordRow, 'valid'> & {
  readonly seq: number
  readonly record_type: string
  readonly operation: keyof typeof EVENT_TYPES
  readonly at: string
  readonly was_version: number | null
  readonly was_external_source: string | null
  readonly was_external_id: string | null
  readonly was_data: unknown
  readonly was_cancelled_at: string | null
  readonly was_created_at: string
  readonly was_updated_at: string
}

const STEPS: Statement = {
  ...statement(
    'steps_to_deliver',
    `SELECT seq::float8 AS seq, at, operation, data, token_id, actor_name, via, actor_kind FROM plinth.change
     WHERE kind IN ('preview', 'review_request') AND base_id = $1 AND seq = ANY ($2::bigint[]) ORDER BY seq`,
  ),
  timesAsText: true,
}

/** A step of a change-set: what the log says of it, and nothing of what it holds. Or the request that opens and ends a pause. */
type StepRow = AuthorRow & {
  readonly seq: number
  readonly at: string
  readonly operation: string
  readonly data: { readonly event?: string }
}

type Bodies = { readonly bodies: Map<number, string>; readonly isCut: boolean }

/** Bodies by entry of the log, as far as `cap` has room; `isCut` says that it had none for the rest. */
export async function bodiesOf(
  db: Db,
  baseId: string,
  deliveries: readonly Due[],
  cap: RowCap,
): Promise<Bodies> {
  const steps = deliveries.filter(({ record_type }) => record_type === null)
  const changes = deliveries.filter(({ record_type }) => record_type !== null)
  const ofRecords = await db.queryCapped<ChangeRow>(CHANGES, [baseId, seqsOf(changes)], cap)
  const bodies = new Map(ofRecords.rows.map((row) => [row.seq, bodyOf(baseId, row)]))
  if (steps.length === 0) return { bodies, isCut: ofRecords.isCut }
  const ofSteps = await db.queryCapped<StepRow>(STEPS, [baseId, seqsOf(steps)], cap)
  for (const row of ofSteps.rows) bodies.set(row.seq, stepBody(baseId, row))
  return { bodies, isCut: ofRecords.isCut || ofSteps.isCut }
}

const seqsOf = (deliveries: readonly Due[]) => [
  ...new Set(deliveries.map(({ change_seq }) => Number(change_seq))),
]

function stepBody(baseId: string, { seq, at, operation, data, ...by }: StepRow): string {
  const { event, ...about } = data
  const is =
    event === undefined ? (operation === 'create' ? 'token.paused' : 'token.resumed') : `preview.${event}`
  const named = event === undefined ? { review_request: about } : { preview: about }
  return JSON.stringify({
    ...{ type: is, timestamp: at },
    data: { base_id: baseId, ...named, actor: snakeFields(authorIn(by)), change_seq: seq },
  })
}

/** The body as JSON text. Ids, types and times need no escaping. */
function bodyOf(baseId: string, row: ChangeRow): string {
  const isGone = row.operation === 'delete'
  const present = toViewText(row.record_type, { ...row, valid: true })
  const record = isGone ? 'null' : present
  const previous = isGone
    ? present
    : row.was_version === null
      ? 'null'
      : toViewText(row.record_type, before(row))
  return `{"type":"${EVENT_TYPES[row.operation]}","timestamp":"${row.at}","data":{"base_id":"${baseId}","record_type":"${row.record_type}","record":${record},"previous":${previous},"change_seq":${row.seq}}}`
}

const before = (row: ChangeRow): RecordRow => ({
  id: row.id,
  external_source: row.was_external_source,
  external_id: row.was_external_id,
  data: row.was_data,
  version: row.was_version ?? 0,
  cancelled_at: row.was_cancelled_at,
  valid: true,
  created_at: row.was_created_at,
  updated_at: row.was_updated_at,
})

const KEPT = statement(
  'kept_bodies',
  `SELECT d.id, d.body FROM unnest($2::text[], $3::text[]) AS k (trigger_id, id)
   JOIN plinth.trigger_delivery d ON d.base_id = $1 AND d.trigger_id = k.trigger_id AND d.id = k.id`,
)

/** Bodies that were kept with their deliveries, by id, as far as `cap` has room. */
export async function keptBodies(
  db: Db,
  baseId: string,
  deliveries: readonly Due[],
  cap: RowCap,
): Promise<{ bodies: Map<string, string>; isCut: boolean }> {
  const { rows, isCut } = await db.queryCapped<{ id: string; body: string | null }>(
    KEPT,
    [baseId, deliveries.map(({ trigger_id }) => trigger_id), deliveries.map(({ id }) => id)],
    cap,
  )
  return { bodies: new Map(rows.flatMap(({ id, body }) => (body === null ? [] : [[id, body]]))), isCut }
}

/** The body of a test. */
export const testBody = ({ base_id, event, created_at }: Due): string =>
  JSON.stringify({
    type: event,
    timestamp: created_at.toISOString(),
    data: { base_id, record_type: null, record: null, previous: null, change_seq: null },
  })
