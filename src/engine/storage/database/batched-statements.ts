import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, type Statement, statement } from './client.ts'

/** A statement that changes at most `batch` rows and returns their number as `done`. */
type BatchStatement = { readonly statement: Statement; readonly batch: number }

/**
 * Repeats a statement until it changes fewer rows than a batch. Each batch is a transaction, so no lock is held for long.
 * @throws when the job is stopped
 */
export async function inBatches(
  db: Db,
  { statement, values = [], batch }: BatchStatement & { values?: readonly unknown[] },
  signal: AbortSignal,
): Promise<void> {
  for (let done = batch; done === batch; ) {
    signal.throwIfAborted()
    done = (await db.query<{ done: number }>(statement, values))[0]?.done ?? 0
  }
}

/** Deletes a batch of the rows of a table that meet a condition. Rows that others have locked are left for the next time. */
export const batchDeletion = (name: string, table: string, condition: string): BatchStatement => ({
  statement: statement(
    name,
    `WITH gone AS (
       DELETE FROM plinth.${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM plinth.${table} WHERE ${condition} LIMIT ${LIMITS.sweptRows} FOR UPDATE SKIP LOCKED)) RETURNING 1)
     SELECT count(*)::int AS done FROM gone`,
  ),
  batch: LIMITS.sweptRows,
})
