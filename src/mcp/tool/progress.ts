import type { Caller } from '../protocol/provider.ts'

const PROGRESS_MS = 1000

/** Reports progress of a run once a second to a client that asked for it. */
export async function withProgress<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  let seconds = 0
  const timer = setInterval(() => caller.progress(++seconds, undefined, 'The action runs.'), PROGRESS_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
