import type { QueryCanceller } from '../../storage/database/query-cancellation.ts'
import type { Rendered } from '../guard/guard-select.ts'
import type { SqlConnection } from './connection-pool.ts'
import { toFailure } from './failures.ts'
import { type RawRows, readRaw } from './read-rows.ts'
import { withTimeout } from './timeout.ts'

/** Grace period after a statement timeout before the caller gets an error. */
export const GRACE_MS = 1000

/** Reads statements of one request on one connection, within one budget of time. */
export type SqlReader = {
  /**
   * Runs a SELECT of the guard, with a snapshot of its own.
   * @throws VALIDATION_ERROR for a failed statement
   */
  read(statement: Rendered, limit: number): Promise<RawRows>
}

type Options = {
  limits: { readonly timeoutMs: number; readonly bytes: number }
  canceller: QueryCanceller
}

/** Opens a reader on a connection. `release` runs once, when it has ended and the connection is free. */
export function openReader(
  connection: SqlConnection,
  { limits, canceller }: Options,
  release: (isSound: boolean) => void,
): SqlReader & { end(): void } {
  let spentMs = 0
  // All reads together may give twice what one may: new values, and then the rows that RETURNING names.
  let bytesLeft = 2 * limits.bytes
  let isBusy = false
  let isSound = true
  let hasEnded = false
  return {
    async read({ text, values, slots }, limit) {
      const begun = performance.now()
      const timeoutMs = Math.max(1, Math.ceil(limits.timeoutMs - spentMs))
      isBusy = true
      const work = readRaw(connection, {
        text,
        values,
        limit,
        bytes: Math.max(1, Math.min(limits.bytes, bytesLeft)),
        timeoutMs,
      })
      const options = { canceller, deadlineMs: timeoutMs + GRACE_MS, signal: undefined }
      try {
        const found = await withTimeout(connection, work, options, (sound) => {
          isBusy = false
          isSound &&= sound
          if (hasEnded) release(isSound)
        })
        bytesLeft -= found.bytes
        return found
      } catch (thrown) {
        throw toFailure(thrown, limits.timeoutMs, slots)
      } finally {
        spentMs += performance.now() - begun
      }
    },
    end() {
      hasEnded = true
      if (!isBusy) release(isSound)
    },
  }
}
