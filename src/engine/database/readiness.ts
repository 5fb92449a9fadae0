import { LIMITS } from '../../foundation/limits.ts'
import { type Readiness, readinessAfter } from './errors.ts'
import type { QueryCanceller } from './query-cancellation.ts'

/** What was found of the database, and by which error. */
export type Found = { readonly database: Readiness; readonly cause?: unknown }

/** Looks at what the database can do. All who ask at once share a look, and it writes once in some seconds. */
export function openReadiness({ ping, probe }: Pick<QueryCanceller, 'ping' | 'probe'>): () => Promise<Found> {
  let looking: Promise<Found> | undefined
  let written: Found | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  const write = async (): Promise<Found> => {
    writtenAt = performance.now()
    written = await probe().then(
      (isWritten): Found => ({ database: isWritten ? 'reachable' : 'read_only' }),
      (cause): Found => ({ database: readinessAfter(cause), cause }),
    )
    return written
  }
  const look = async (): Promise<Found> => {
    if (
      !written ||
      written.database === 'unreachable' ||
      performance.now() - writtenAt >= LIMITS.writeProbeMs
    )
      return write()
    try {
      await ping()
      return written
    } catch (cause) {
      return { database: 'unreachable', cause }
    }
  }
  return () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
}
