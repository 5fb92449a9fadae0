import { LIMITS } from '../../foundation/limits.ts'
import type { Caller } from '../protocol/provider.ts'

/** Reports progress of a run once a second to a client that asked for it. */
export async function withProgress<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  let seconds = 0
  const timer = setInterval(
    () => caller.progress(++seconds, undefined, 'The action runs.'),
    LIMITS.progressMs,
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
