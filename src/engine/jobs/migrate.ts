import type pg from 'pg'

/**
 * Makes the job queue's own tables, in its schema `graphile_worker`. Where they are it does nothing: those of a newer
 * version are brought by its runner. The caller holds the lock of migrations.
 */
export async function migrateJobs(client: pg.Client, connectionString: string): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass('graphile_worker.migrations') IS NOT NULL AS done")
  if ((rows as { done: boolean }[])[0]?.done) return
  const { runMigrations } = await import('graphile-worker')
  await runMigrations({ connectionString, maxPoolSize: 1 })
}
