import type { Logger } from 'pino'
import { LIMITS } from './foundation/limits.ts'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** npm passes on signals that the process group has received already. Ignore duplicates within this time. */
const SAME_WISH_MS = 1000
/** How long an end waits for a slow reader of the log. */
const LAST_LINES_MS = 500

/**
 * Graceful shutdown on SIGTERM, SIGINT and SIGHUP: runs `close` for at most 25 s, then exits 0. A second
 * signal exits at once. An uncaught error also exits, after an attempt to close.
 */
export function shutdownOnSignal(close: () => Promise<void>, log: Logger): void {
  let since: number | undefined
  // Not `process.exit` at once: what is left of the log would overtake the piece that a thread is still writing.
  const exit = (code: number) => {
    setTimeout(() => process.exit(code), LAST_LINES_MS)
    log.flush(() => process.exit(code))
  }
  const end = async (code: number): Promise<void> => {
    const late = setTimeout(() => {
      log.fatal(`not closed within ${LIMITS.drainMs} ms`)
      exit(1)
    }, LIMITS.drainMs)
    try {
      await close()
    } catch (err) {
      log.fatal({ err }, 'closing failed')
      return exit(1)
    }
    clearTimeout(late)
    exit(code)
  }
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (since !== undefined && Date.now() - since > SAME_WISH_MS) exit(1)
      if (since !== undefined) return
      since = Date.now()
      log.info({ signal }, 'the server drains and stops')
      void end(0)
    })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (err: unknown) => {
      log.fatal({ err }, 'an uncaught error ends the process')
      if (since !== undefined) return exit(1)
      since = Date.now()
      void end(1)
    })
}
