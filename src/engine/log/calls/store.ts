/** The statements that store calls. */
import { type Db, statement } from '../../storage/database/client.ts'

/** What the settings of bases say about calls. */
export const SETTINGS_OF_CALLS = statement(
  'settings_of_calls',
  `SELECT id, (settings ->> 'calls_days')::int AS days, (settings ->> 'call_arguments')::boolean AS "withArguments"
   FROM plinth.base WHERE id = ANY ($1::text[])`,
)
export type CallSettings = { id: string; days: number; withArguments: boolean }

/**
 * Counts the log entries that each request of `$1` made, or its tool call if it has several. A request id can be one that the
 * client chose, and sends more than once.
 */
export const COUNT_CHANGES = statement(
  'count_changes_of_calls',
  // Counted within: a join would read the whole log where the planner knows little of it.
  `SELECT w.n::int, w.key, c.changes
   FROM jsonb_to_recordset($1::jsonb) AS w (n int, key text, base_id text, token_id text, request_id text, call_id text, since timestamptz)
   CROSS JOIN LATERAL (
     SELECT count(*)::int AS changes FROM plinth.change c
     WHERE c.base_id = w.base_id AND c.request_id COLLATE "C" = w.request_id AND c.at >= w.since
       AND coalesce(c.token_id, w.token_id) = w.token_id AND (w.call_id IS NULL OR c.call ->> 0 = w.call_id)) c
   WHERE c.changes > 0`,
)

/** A call as its row. */
export type StoredCall = {
  readonly base_id: string
  readonly id: string
  readonly at: string
  readonly token_id: string
  readonly actor_name: string
  readonly actor_kind: string | null
  readonly via: string
  readonly surface: string
  readonly endpoint: string | null
  readonly tool: string | null
  readonly route: string | null
  readonly outcome: string
  readonly message: string | null
  readonly ms: number
  readonly bytes_in: number
  readonly bytes_out: number
  readonly arguments: string | null
  readonly request_id: string
  readonly call_id: string | null
  readonly changes: number
}

const COLUMNS: readonly (readonly [keyof StoredCall, type: string])[] = [
  ['base_id', 'text'],
  ['id', 'uuid'],
  ['at', 'timestamptz'],
  ['token_id', 'text'],
  ['actor_name', 'text'],
  ['actor_kind', 'text'],
  ['via', 'text'],
  ['surface', 'text'],
  ['endpoint', 'text'],
  ['tool', 'text'],
  ['route', 'text'],
  ['outcome', 'text'],
  ['message', 'text'],
  ['ms', 'int'],
  ['bytes_in', 'bigint'],
  ['bytes_out', 'bigint'],
  ['arguments', 'text'],
  ['request_id', 'text'],
  ['call_id', 'text'],
  ['changes', 'int'],
]
const NAMES = COLUMNS.map(([name]) => name).join(', ')

/** Rows of a base that is being deleted are left out: they would outlive it. Lists take half the time of JSON. */
const INSERT = statement(
  'insert_calls',
  `WITH b AS MATERIALIZED (SELECT id FROM plinth.base WHERE id = ANY ($1::text[]) FOR KEY SHARE SKIP LOCKED)
   INSERT INTO plinth.call (${NAMES})
   SELECT e.* FROM unnest(${COLUMNS.map(([, type], n) => `$${n + 1}::${type}[]`).join(', ')}) AS e (${NAMES})
   WHERE e.base_id IN (SELECT id FROM b)`,
)

export async function insertCalls(db: Db, rows: readonly StoredCall[]): Promise<void> {
  const columns = COLUMNS.map(([name]) => rows.map((row) => row[name]))
  await db.query(INSERT, columns)
}
