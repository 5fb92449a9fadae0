import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { enqueue } from '../storage/database/enqueue-job.ts'

/** Tables that grow with user data. */
export const TABLES = [
  'record',
  'record_index',
  'record_text',
  'record_word',
  'relationship',
  'change',
  'call',
  'usage',
  'content',
  'claim',
  'draft_record',
  'draft_relationship',
  'draft_index',
  'draft_text',
  'draft_change',
  'file',
  'file_version',
  'trigger_delivery',
  'inbound_delivery',
  'action_run',
] as const
type Table = (typeof TABLES)[number]

/**
 * Tables that have grown by 10% and by a minimum number of rows since their last ANALYZE. Reads only
 * counters.
 */
const OUTGROWN = statement(
  'outgrown_statistics',
  `SELECT t.name FROM unnest($1::text[]) AS t (name), pg_class c
   WHERE c.oid = ('plinth.' || t.name)::regclass
     AND pg_stat_get_live_tuples(c.oid) > 500 + 1.1 * greatest(c.reltuples, 0)`,
)

export async function outgrown(db: Db): Promise<Table[]> {
  const rows = await db.query<{ name: Table }>(OUTGROWN, [TABLES])
  return rows.map(({ name }) => name)
}

/** SKIP_LOCKED skips a table that autovacuum or another process is analyzing. */
const ANALYZE: Readonly<Record<Table, ReturnType<typeof statement>>> = Object.fromEntries(
  TABLES.map((name) => [name, statement('', `ANALYZE (SKIP_LOCKED) plinth.${name}`)]),
) as Record<Table, ReturnType<typeof statement>>

/** Job: updates the planner statistics of tables that have outgrown them. */
export async function renewStatistics(db: Db, _: object, signal: AbortSignal): Promise<void> {
  for (const name of await outgrown(db)) {
    signal.throwIfAborted()
    await db.query(ANALYZE[name], [])
  }
}

/**
 * Periodically checks for outdated statistics and enqueues the job. Backs off while each check finds some, as
 * during an import or when the login may not analyze. Returns a function to stop.
 */
export function watchStatistics(db: Db): () => void {
  let pause: number = LIMITS.statisticsFirstPauseMs
  let next = 0
  const poll = async () => {
    if (performance.now() < next) return
    const tables = await outgrown(db)
    if (tables.length > 0) {
      next = performance.now() + pause
      pause = Math.min(2 * pause, LIMITS.statisticsLongestPauseMs)
      await enqueue(db, 'renew_statistics', {}, 'statistics')
    } else pause = LIMITS.statisticsFirstPauseMs
  }
  // Ignore failures: statistics are optional, and the next check tries again.
  const timer = setInterval(() => void poll().catch(() => {}), LIMITS.statisticsPollMs).unref()
  return () => clearInterval(timer)
}
