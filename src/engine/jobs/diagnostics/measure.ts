/** Sizes, jobs, deliveries and delays of the database, for metrics. */
import { LIMITS } from '../../../foundation/limits.ts'
import {
  DELIVERY_COUNTS,
  type DeliveryCount,
  OLDEST_DUE,
  OLDEST_UNMATCHED,
} from '../../automation/deliveries/index.ts'
import type { BlobStore, Disk } from '../../storage/blobs/blob-store.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { TABLES } from '../statistics.ts'

/** Jobs of a task in a state. `oldest`: seconds since the first of them was due. */
type JobCount = {
  readonly task: string
  readonly state: 'due' | 'scheduled' | 'running' | 'failed'
  readonly count: number
  readonly oldest: number
}
const COUNT_JOBS = `SELECT task_identifier AS task, state, count(*)::int AS count, greatest(0, extract(epoch FROM now() - min(run_at)))::float8 AS oldest FROM (
     SELECT task_identifier, run_at, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'failed'
       WHEN run_at > now() THEN 'scheduled' ELSE 'due' END AS state FROM graphile_worker.jobs) j
   GROUP BY 1, 2`
const JOBS = statement('count_jobs', COUNT_JOBS)

export const readJobs = (db: Db): Promise<JobCount[]> => db.query<JobCount>(JOBS, [])

/** Seconds since the oldest open transaction began that has written to the change log: readers wait for its end. */
const OLDEST_WRITER = `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0)::float8
   FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
   WHERE l.locktype = 'relation' AND l.relation = 'plinth.change'::regclass AND l.mode = 'RowExclusiveLock'
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// Sizes of files, counters of the planner, and index probes for each base: no table is scanned.
const textOf = (walBytes: string): string =>
  `SELECT current_setting('server_version') AS postgres, pg_database_size(current_database())::float8 AS "databaseBytes",
     (${walBytes}) AS "walBytes",
     (SELECT jsonb_object_agg(t.name, greatest(c.reltuples, 0)) FROM unnest($1::text[]) AS t (name)
      JOIN pg_class c ON c.oid = ('plinth.' || t.name)::regclass) AS rows,
     (SELECT coalesce(jsonb_agg(j), '[]') FROM (${COUNT_JOBS}) j) AS jobs,
     (SELECT coalesce(jsonb_agg(d), '[]') FROM (${DELIVERY_COUNTS}) d) AS deliveries,
     (${OLDEST_DUE}) AS "oldestDue",
     greatest((${OLDEST_WRITER}), (${OLDEST_UNMATCHED})) AS "feedLag"`
const MEASURE = statement('measure_database', textOf('NULL::float8'))
const MEASURE_WITH_WAL = statement(
  'measure_database_and_wal',
  textOf('SELECT sum(size)::float8 FROM pg_ls_waldir()'),
)
/** A login that only owns its database may not. The right is asked for at once: a statement that calls the function needs it. */
const MAY_LIST_WAL = statement(
  'may_list_wal',
  `SELECT has_function_privilege('pg_ls_waldir()', 'EXECUTE') AS may`,
)

type OfDatabase = {
  readonly postgres: string
  readonly databaseBytes: number
  /** Null where the login may not see it. */
  readonly walBytes: number | null
  /** Rows of the tables that grow, as the query planner estimates them. */
  readonly rows: Readonly<Record<string, number>>
  readonly jobs: readonly JobCount[]
  readonly deliveries: readonly DeliveryCount[]
  /** Seconds for which the delivery that has waited longest is overdue. */
  readonly oldestDue: number
  /** Seconds by which readers of the change log, or the triggers, are behind. */
  readonly feedLag: number
}
export type Measures = OfDatabase & {
  readonly disk: Disk
  /** Bytes in the store of contents; undefined until it has been listed. */
  readonly contentBytes: number | undefined
}

/** Measures at most once in some seconds, however many ask. Undefined while the database is away. */
export function openMeasures(db: Db, blobs: BlobStore): () => Promise<Measures | undefined> {
  const contentBytes = openContentBytes(blobs)
  let mayListWal: boolean | undefined
  const measure = async (): Promise<Measures> => {
    mayListWal ??= (await db.query<{ may: boolean }>(MAY_LIST_WAL, []))[0]?.may === true
    const [found] = await db.query<OfDatabase>(mayListWal ? MEASURE_WITH_WAL : MEASURE, [TABLES])
    if (!found) throw new Error('PostgreSQL did not measure itself')
    return { ...found, disk: await blobs.disk(), contentBytes: contentBytes() }
  }
  let last: Promise<Measures | undefined> | undefined
  let at = Number.NEGATIVE_INFINITY
  return () => {
    if (!last || performance.now() - at >= LIMITS.measureMs) {
      at = performance.now()
      last = measure().catch(() => undefined)
    }
    return last
  }
}

/** The bytes of all contents, listed behind those that ask, at most once in some hours: a store may have millions. */
function openContentBytes(blobs: BlobStore): () => number | undefined {
  let bytes: number | undefined
  let at = Number.NEGATIVE_INFINITY
  const list = async (): Promise<void> => {
    let sum = 0
    for await (const { size } of blobs.list()) sum += size
    bytes = sum
  }
  return () => {
    if (performance.now() - at >= LIMITS.listContentsMs) {
      at = performance.now()
      // A store that does not answer leaves the number as it was.
      void list().catch(() => {})
    }
    return bytes
  }
}
