import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { TestDatabase } from './database.ts'

/** A transaction outside the product whose locks block others. */
export type Holding = {
  query(text: string, values?: unknown[]): Promise<unknown>
  /** The backends that wait for its locks, with their statements. */
  waiting(): Promise<{ pid: number; application_name: string; query: string }[]>
  /** Ends the transaction, by default with a rollback. */
  end(how?: 'COMMIT' | 'ROLLBACK'): Promise<void>
}

export async function holdOpen(database: TestDatabase): Promise<Holding> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('BEGIN')
  let isOver = false
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const end = async (how: 'COMMIT' | 'ROLLBACK' = 'ROLLBACK') => {
    if (isOver) return
    isOver = true
    await client.query(how)
    await client.end()
  }
  // Release the locks if the test fails.
  onTestFinished(() => end())
  return {
    query: (text, values) => client.query(text, values),
    waiting: () =>
      database.query(
        'SELECT pid, application_name, query FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) ORDER BY pid',
        [rows[0]?.pid],
      ),
    end,
  }
}
