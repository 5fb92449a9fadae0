/** Adds up what tokens use, and stores it once a minute. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import type { Db } from '../../storage/database/client.ts'
import type { MadeCall } from './made-call.ts'
import { addUsage, countChanges } from './store-usage.ts'
import { UsageCounts } from './usage-counts.ts'

export type UsageRecorder = {
  count(call: MadeCall): void
  /** Stores what was counted, and counts the changes of the log, for a reader. It does not fail. */
  settle(): Promise<void>
}

export function openUsage(db: Db, settledSeq: () => Promise<number>, log: Log): UsageRecorder {
  const counts = new UsageCounts()
  let counted = 0
  let storing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const store = async (): Promise<void> => {
    const taken = counts.take()
    try {
      if (taken.length > 0)
        await addUsage(
          db,
          taken.map(([, row]) => row),
        )
    } catch (err) {
      counts.putBack(taken)
      throw err
    }
    const settled = await settledSeq()
    if (settled > counted) await countChanges(db, settled)
    counted = settled
  }
  const settle = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    storing ??= store()
      .catch((err: unknown) => {
        log.warn({ err }, 'usage was not stored; it is tried again')
        wait()
      })
      .finally(() => {
        storing = undefined
      })
    await storing
    if (counts.dropped > 0)
      log.warn({ calls: counts.dropped }, 'usage was not counted: of too many kinds of calls')
    counts.dropped = 0
  }
  const wait = () => {
    timer ??= setTimeout(() => void settle(), LIMITS.usageStoreMs).unref()
  }
  return {
    count(call) {
      counts.add(call)
      wait()
    },
    settle: async () => {
      // What was counted may have come after what is being stored.
      await storing
      await settle()
    },
  }
}
