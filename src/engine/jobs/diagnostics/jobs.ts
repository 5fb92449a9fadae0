import { type Db, statement } from '../../storage/database/client.ts'

/** Jobs of a task in a state. `oldest`: seconds since the first of them was due. */
export type JobCount = {
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
