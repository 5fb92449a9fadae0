import type { DomainError } from './errors.ts'

/** What the engine writes to the log of the process. */
export type Log = { warn(fields: object, message: string): void }
export type InfoLog = Log & { info(fields: object, message: string): void }
export type ErrorLog = Log & { error(fields: object, message: string): void }

/** What an error says, without its stack. A failed connection to several addresses has a code only. */
export function wordsOf(thrown: unknown): string {
  const { message, code } = (thrown instanceof Error ? thrown : {}) as { message?: string; code?: string }
  return message || code || String(thrown)
}

/** Logs a failed request, if the caller cannot correct it. The failure of another system has no stack of ours. */
export function logFailure(log: ErrorLog, error: DomainError, thrown: unknown): void {
  if (error.isUpstream)
    log.warn(
      { details: error.details, ...(error.cause !== undefined && { cause: wordsOf(error.cause) }) },
      error.message,
    )
  else if (error.code === 'INTERNAL_ERROR') log.error({ err: error.cause ?? thrown }, 'a request failed')
}
