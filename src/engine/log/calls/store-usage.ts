/** The statements that store how much tokens used. */
import { type Db, statement } from '../../storage/database/client.ts'

/** What a token used in an hour, by address and tool. `hour` is the time that it began, in milliseconds. */
export type StoredUsage = {
  readonly base_id: string
  readonly hour: number
  readonly token_id: string
  readonly surface: string
  readonly endpoint: string
  readonly tool: string
  readonly actor_name: string
  readonly actor_kind: string | null
  readonly calls: number
  readonly failed: number
  readonly reads: number
  readonly bytes_in: number
  readonly bytes_out: number
  readonly ms: number
}

const KEY = 'base_id, hour, token_id, surface, endpoint, tool'
const sum = (name: string) => `${name} = u.${name} + EXCLUDED.${name}`

/** In the order of the keys, since processes store at the same time. Rows of a base that is being deleted would outlive it. */
const ADD = statement(
  'add_usage',
  `WITH b AS MATERIALIZED (SELECT id FROM plinth.base WHERE id = ANY ($1::text[]) FOR KEY SHARE SKIP LOCKED)
   INSERT INTO plinth.usage AS u (${KEY}, actor_name, actor_kind, calls, failed, reads, changes, bytes_in, bytes_out, ms)
   SELECT e.base_id, to_timestamp(e.hour / 1000), e.token_id, e.surface, e.endpoint, e.tool, e.actor_name, e.actor_kind, e.calls, e.failed,
     e.reads, 0, e.bytes_in, e.bytes_out, round(e.ms)
   FROM json_to_recordset($2::json) AS e (base_id text, hour float8, token_id text, surface text, endpoint text, tool text,
     actor_name text, actor_kind text, calls bigint, failed bigint, reads bigint, bytes_in bigint, bytes_out bigint, ms float8)
   JOIN b ON b.id = e.base_id
   ORDER BY ${KEY}
   ON CONFLICT (${KEY}) DO UPDATE SET actor_name = EXCLUDED.actor_name,
     ${['calls', 'failed', 'reads', 'bytes_in', 'bytes_out', 'ms'].map(sum).join(', ')}`,
)

export async function addUsage(db: Db, rows: readonly StoredUsage[]): Promise<void> {
  const bases = [...new Set(rows.map(({ base_id }) => base_id))]
  await db.query(ADD, [bases, JSON.stringify(rows)])
}

/**
 * Counts the entries of the change log up to `$1`, where the last count ended, and moves that on. So each is counted once, whichever
 * process does it, and however the last one ended. Another one that counts goes first.
 */
const COUNT = statement(
  'count_changes_of_usage',
  `WITH p AS MATERIALIZED (SELECT seq FROM plinth.usage_position WHERE seq < $1 FOR UPDATE SKIP LOCKED),
   c AS MATERIALIZED (
     SELECT b.id AS base_id, c.* FROM p
     CROSS JOIN plinth.base b
     CROSS JOIN LATERAL (
       SELECT date_trunc('hour', c.at) AS hour, coalesce(c.token_id, '') AS token_id,
         CASE c.via WHEN 'explorer' THEN 'rest' ELSE c.via END AS surface, coalesce(c.call ->> 2, '') AS endpoint,
         coalesce(c.call ->> 1, '') AS tool, max(c.actor_name) AS actor_name, max(c.actor_kind) AS actor_kind,
         count(*) AS changes
       FROM plinth.change c WHERE c.base_id = b.id AND c.seq > p.seq AND c.seq <= $1
       GROUP BY 1, 2, 3, 4, 5) c),
   kept AS MATERIALIZED (SELECT id FROM plinth.base WHERE id IN (SELECT base_id FROM c) FOR KEY SHARE SKIP LOCKED),
   added AS (
     INSERT INTO plinth.usage AS u (${KEY}, actor_name, actor_kind, calls, failed, reads, changes, bytes_in, bytes_out, ms)
     SELECT ${KEY}, actor_name, actor_kind, 0, 0, 0, changes, 0, 0, 0 FROM c JOIN kept ON kept.id = c.base_id
     ORDER BY ${KEY}
     ON CONFLICT (${KEY}) DO UPDATE SET ${sum('changes')})
   UPDATE plinth.usage_position u SET seq = $1 FROM p`,
)

export const countChanges = (db: Db, upTo: number): Promise<unknown> => db.query(COUNT, [upTo])
