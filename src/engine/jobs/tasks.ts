import type { Db } from '../database/client.ts'
import type { JobName, Jobs } from '../database/enqueue-job.ts'
import { purgeHistories, purgeHistory } from '../history/purge.ts'
import { buildIndex, dropIndexEntries } from './index-jobs.ts'
import { renewStatistics } from './statistics.ts'

/** Does a job. It may be done more than once; told to stop it throws, and the job is done again later. */
type Task<Name extends JobName> = (db: Db, payload: Jobs[Name], signal: AbortSignal) => Promise<void>

/** What does each kind of job. */
export const TASKS: { [Name in JobName]: Task<Name> } = {
  build_index: buildIndex,
  drop_index_entries: dropIndexEntries,
  purge_history: purgeHistory,
  purge_histories: purgeHistories,
  renew_statistics: renewStatistics,
}
