import { LIMITS } from '../../../foundation/limits.ts'
import { type Readiness, readinessAfter } from './errors.ts'
import type { QueryCanceller } from './query-cancellation.ts'

/** The result of a readiness probe, with the error behind it. */
export type Found = { readonly database: Readiness; readonly cause?: unknown }

/** Readiness probe. Concurrent callers share one probe. The write probe runs at most once per interval. */
export function openReadiness({ ping, probe }: Pick<QueryCanceller, 'ping' | 'probe'>): () => Promise<Found> {
  let pending: Promise<Found> | undefined
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
  const runProbe = async (): Promise<Found> => {
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
    pending ??= runProbe().finally(() => {
      pending = undefined
    })
    return pending
  }
}
