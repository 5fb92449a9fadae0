import type { Db } from '../db.ts'
import type { Jobs } from '../jobs/enqueue.ts'
import { TAKE_OUT } from './build-statements.ts'

/** Deletes the entries of an index that nobody reads or writes any more, some at a time. @throws when asked to stop */
export async function dropIndexEntries(
  db: Db,
  { base, index }: Jobs['drop_index_entries'],
  signal: AbortSignal,
): Promise<void> {
  for (const how of TAKE_OUT)
    for (let gone = 1; gone > 0; ) {
      signal.throwIfAborted()
      gone = (await db.query<{ gone: number }>(how, [base, index]))[0]?.gone ?? 0
    }
}
