import type { Db, Statement } from './client.ts'

/**
 * Repeats a statement that changes at most `batch` rows and returns their number as `done`, until it changes fewer.
 * Each batch is a transaction, so no lock is held for long.
 * @throws when the job is stopped
 */
export async function inBatches(
  db: Db,
  { statement, values = [], batch }: { statement: Statement; values?: readonly unknown[]; batch: number },
  signal: AbortSignal,
): Promise<void> {
  for (let done = batch; done === batch; ) {
    signal.throwIfAborted()
    done = (await db.query<{ done: number }>(statement, values))[0]?.done ?? 0
  }
}
