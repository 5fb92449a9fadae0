import { type Db, statement } from '../database/client.ts'
import { enqueue } from '../database/enqueue-job.ts'

/** The tables that grow with what users write. */
const TABLES = [
  'record',
  'record_index',
  'record_text',
  'record_word',
  'relationship',
  'change',
  'claim',
] as const
type Table = (typeof TABLES)[number]

/** The tables that have grown by a tenth, and by so many rows, since their statistics were made. Reads counters only. */
const OUTGROWN = statement(
  'outgrown_statistics',
  `SELECT t.name FROM unnest($1::text[]) AS t (name), pg_class c
   WHERE c.oid = ('plinth.' || t.name)::regclass
     AND pg_stat_get_live_tuples(c.oid) > 500 + 1.1 * greatest(c.reltuples, 0)`,
)

async function outgrown(db: Db): Promise<Table[]> {
  const rows = await db.query<{ name: Table }>(OUTGROWN, [TABLES])
  return rows.map(({ name }) => name)
}

/** A table that autovacuum or another process is just at is left to it. */
const ANALYZE: Readonly<Record<Table, ReturnType<typeof statement>>> = Object.fromEntries(
  TABLES.map((name) => [name, statement('', `ANALYZE (SKIP_LOCKED) plinth.${name}`)]),
) as Record<Table, ReturnType<typeof statement>>

/** The job: renews the planner statistics of the tables that have outgrown them. */
export async function renewStatistics(db: Db, _: object, signal: AbortSignal): Promise<void> {
  for (const name of await outgrown(db)) {
    signal.throwIfAborted()
    await db.query(ANALYZE[name], [])
  }
}

const LOOK_MS = 2000
const FIRST_PAUSE_MS = 4000
const LONGEST_PAUSE_MS = 10 * 60_000

/**
 * Looks for tables that have outgrown their statistics, and asks for the job when there are some. While there always are,
 * as during an import, or where the login may not analyze, it looks less and less often. Answers how to stop.
 */
export function watchStatistics(db: Db): () => void {
  let pause = FIRST_PAUSE_MS
  let next = 0
  const look = async () => {
    if (performance.now() < next) return
    const tables = await outgrown(db)
    if (tables.length > 0) {
      next = performance.now() + pause
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
      await enqueue(db, 'renew_statistics', {}, 'statistics')
    } else pause = FIRST_PAUSE_MS
  }
  // Plans hold without statistics, so a look that fails is only made again.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS).unref()
  return () => clearInterval(timer)
}
