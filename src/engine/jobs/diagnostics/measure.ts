/** Sizes and jobs of the database, for metrics. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { BlobStore, Disk } from '../../storage/blobs/blob-store.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { TABLES } from '../statistics.ts'

export type Measures = {
  readonly postgres: string
  readonly databaseBytes: number
  readonly disk: Disk
  /** Rows of the tables that grow, as the query planner estimates them. */
  readonly rows: Readonly<Record<string, number>>
  readonly jobs: readonly JobCount[]
}

// Reads files' sizes and counters of the planner: no table is scanned.
const SIZES = statement(
  'measure_database',
  `SELECT current_setting('server_version') AS postgres, pg_database_size(current_database())::float8 AS bytes,
     (SELECT jsonb_object_agg(t.name, greatest(c.reltuples, 0)) FROM unnest($1::text[]) AS t (name)
      JOIN pg_class c ON c.oid = ('plinth.' || t.name)::regclass) AS rows`,
)
type Sizes = { postgres: string; bytes: number; rows: Record<string, number> }

async function measure(db: Db, blobs: BlobStore): Promise<Measures> {
  const [sizes] = await db.query<Sizes>(SIZES, [TABLES])
  if (!sizes) throw new Error('PostgreSQL did not measure itself')
  const { postgres, bytes, rows } = sizes
  return { postgres, databaseBytes: bytes, rows, disk: await blobs.disk(), jobs: await readJobs(db) }
}

/** Measures at most once in some seconds, however many ask. Undefined while the database is away. */
export function openMeasures(db: Db, blobs: BlobStore): () => Promise<Measures | undefined> {
  let last: Promise<Measures | undefined> | undefined
  let at = Number.NEGATIVE_INFINITY
  return () => {
    if (!last || performance.now() - at >= LIMITS.measureMs) {
      at = performance.now()
      last = measure(db, blobs).catch(() => undefined)
    }
    return last
  }
}

/** Jobs of a task in a state. `oldest`: seconds since the first of them was due. */
type JobCount = {
  readonly task: string
  readonly state: 'due' | 'scheduled' | 'running' | 'failed'
  readonly count: number
  readonly oldest: number
}

const JOBS = statement(
  'count_jobs',
  `SELECT task_identifier AS task, state, count(*)::int AS count, greatest(0, extract(epoch FROM now() - min(run_at)))::float8 AS oldest FROM (
     SELECT task_identifier, run_at, CASE WHEN locked_at IS NOT NULL THEN 'running' WHEN attempts >= max_attempts THEN 'failed'
       WHEN run_at > now() THEN 'scheduled' ELSE 'due' END AS state FROM graphile_worker.jobs) j
   GROUP BY 1, 2`,
)

export const readJobs = (db: Db): Promise<JobCount[]> => db.query<JobCount>(JOBS, [])
