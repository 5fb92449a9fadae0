/** Says once that the database is away, and once that it is back, in place of a line for each connection and each piece of work. */

import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type ErrorLog, type InfoLog, wordsOf } from '../../../foundation/log.ts'
import { isAway } from './errors.ts'

/**
 * The log of the server's own work. It does not write that a connection was lost: the first loss starts to look at the
 * database until it answers.
 */
export function openOutageLog(
  log: InfoLog & ErrorLog,
  ping: () => Promise<void>,
): InfoLog & { close(): void } {
  const stop = new AbortController()
  const { signal } = stop
  let isLooking = false
  const look = async (cause: string) => {
    isLooking = true
    let since: number | undefined
    for (;;) {
      const failure = await ping().then(() => undefined, wordsOf)
      if (signal.aborted) return
      if (failure === undefined) break
      if (since === undefined) log.error({ cause: failure }, 'the database is away')
      since ??= performance.now()
      await delay(LIMITS.outageLookMs, undefined, { ref: false, signal }).catch(() => {})
    }
    isLooking = false
    if (since === undefined) log.warn({ cause }, 'a database connection was lost; it is opened again')
    else log.warn({ ms: Math.round(performance.now() - since) }, 'the database is back')
  }
  return {
    warn: (fields, message) => {
      const { err } = fields as { err?: unknown }
      const cause = wordsOf(err instanceof DomainError ? err.cause : err)
      if (isAway(err)) {
        if (!isLooking) void look(cause)
      } else if (err instanceof DomainError && err.isUpstream) {
        // The state of the database is not a fault of the code that met it.
        log.warn({ ...fields, err: undefined, cause }, `${message}: ${err.message}`)
      } else log.warn(fields, message)
    },
    info: (fields, message) => log.info(fields, message),
    close: () => stop.abort(),
  }
}
