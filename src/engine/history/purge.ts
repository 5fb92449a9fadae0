import { KINDS } from '../change-log/entry.ts'
import type { Db } from '../database/client.ts'
import type { Jobs } from '../database/enqueue-job.ts'
import { BATCH, BEGIN_PURGE, EMPTY_DELETIONS, ENQUEUE_PURGES, PURGE_BATCH } from './purge-statements.ts'

type Begun = { history_from: Date; trash_from: Date; purged_to: string }
const OTHERS = KINDS.filter((kind) => kind !== 'record')

/**
 * Job: purges expired history in batches. Resumable: completed batches stay done. Keeps the last entry of
 * each resource: it is the current state, or holds the version number for a later re-creation.
 * @throws when the job is stopped
 */
export async function purgeHistory(
  db: Db,
  { base }: Jobs['purge_history'],
  signal: AbortSignal,
): Promise<void> {
  const [begun] = await db.query<Begun>(BEGIN_PURGE, [base])
  if (!begun) return
  let after = begun.purged_to
  for (let more = true; more; ) {
    signal.throwIfAborted()
    const values = [base, after, begun.history_from]
    const [done] = await db.query<{ reached: string | null; more: boolean }>(PURGE_BATCH, values)
    after = done?.reached ?? after
    more = done?.more ?? false
  }
  await emptyDeletions(db, base, ['record'], begun.trash_from, signal)
  await emptyDeletions(db, base, OTHERS, begun.history_from, signal)
}

async function emptyDeletions(
  db: Db,
  base: string,
  kinds: readonly string[],
  before: Date,
  signal: AbortSignal,
): Promise<void> {
  for (let emptied: number = BATCH; emptied === BATCH; ) {
    signal.throwIfAborted()
    emptied = (await db.query<{ emptied: number }>(EMPTY_DELETIONS, [base, kinds, before]))[0]?.emptied ?? 0
  }
}

/** Enqueues a purge for every base with expired history. Duplicate jobs are merged. */
export const purgeHistories = async (db: Db): Promise<void> => void (await db.query(ENQUEUE_PURGES, []))
