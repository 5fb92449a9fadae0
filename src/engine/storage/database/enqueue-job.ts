import { type Db, statement } from './client.ts'

/** The background jobs, each with its payload. */
export type Jobs = {
  build_index: IndexKey
  drop_index_entries: { base: string; index: string }
  purge_history: { base: string }
  purge_histories: object
  renew_statistics: object
  sweep_contents: object
  sweep_deliveries: object
  sweep_inbound_deliveries: object
  sweep_action_runs: object
  sweep_calls: object
  sweep_change_sets: object
  sweep_tasks: object
}
export type IndexKey = { base: string; type: string; index: string }
export type JobName = keyof Jobs

const ENQUEUE = statement(
  'enqueue_jobs',
  `SELECT count(graphile_worker.add_job($1, j.payload::json, job_key => j.key))::int AS count
   FROM unnest($2::text[], $3::text[]) AS j (payload, key)`,
)

/** A job to enqueue. Pending jobs with the same key are deduplicated. */
type Job<Name extends JobName> = { readonly payload: Jobs[Name]; readonly key: string }

/** Enqueues a job. In a transaction, the job becomes visible at commit. */
export const enqueue = <Name extends JobName>(
  db: Db,
  name: Name,
  payload: Jobs[Name],
  key: string,
): Promise<void> => enqueueAll(db, name, [{ payload, key }])

/** Enqueues jobs of the same kind. */
export async function enqueueAll<Name extends JobName>(
  db: Db,
  name: Name,
  jobs: readonly Job<Name>[],
): Promise<void> {
  if (jobs.length === 0) return
  const payloads = jobs.map(({ payload }) => JSON.stringify(payload))
  await db.query(ENQUEUE, [name, payloads, jobs.map(({ key }) => key)])
}
