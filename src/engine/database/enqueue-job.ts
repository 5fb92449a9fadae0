import { type Db, statement } from './client.ts'

/** The background jobs, each with its payload. */
export type Jobs = {
  build_index: IndexKey
  drop_index_entries: { base: string; index: string }
  purge_history: { base: string }
  purge_histories: object
  renew_statistics: object
  sweep_contents: object
}
export type IndexKey = { base: string; type: string; index: string }
export type JobName = keyof Jobs

const ENQUEUE = statement(
  'enqueue_job',
  'SELECT 1 AS one FROM graphile_worker.add_job($1, $2::json, job_key => $3)',
)

/**
 * Enqueues a job. In a transaction, the job becomes visible at commit. Pending jobs with the same key are
 * deduplicated.
 */
export async function enqueue<Name extends JobName>(
  db: Db,
  name: Name,
  payload: Jobs[Name],
  key: string,
): Promise<void> {
  await db.query(ENQUEUE, [name, JSON.stringify(payload), key])
}
