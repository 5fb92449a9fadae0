import pg from 'pg'
import { advised } from '../../../foundation/advised-requests.ts'
import { DomainError } from '../../../foundation/errors.ts'

/** SQLSTATE of an error from the driver or from Prisma. */
export function sqlState(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  const { code, meta } = thrown as { code?: unknown; meta?: Record<string, unknown> }
  // Prisma passes on an error of its adapter as it is where COMMIT fails.
  const { cause } = (meta?.['driverAdapterError'] ?? thrown) as { cause?: { originalCode?: unknown } }
  if (typeof cause?.originalCode === 'string') return cause.originalCode
  if (code === 'P2002') return '23505'
  if (code === 'P2003') return '23503'
  if (code === 'P2034') return SERIALIZATION_FAILURE
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

export const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const CANCELED = '57014'
export const LOCK_TIMEOUT = '55P03'
export const DEADLOCK = '40P01'
export const SERIALIZATION_FAILURE = '40001'

export const isCancelled = (thrown: unknown): boolean => sqlState(thrown) === CANCELED

/** Name of the unique constraint or foreign key that an error from the driver or from Prisma reports. */
export function violatedConstraint(thrown: unknown): string | undefined {
  if (![UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION].includes(sqlState(thrown) ?? '')) return undefined
  const { constraint, meta } = thrown as { constraint?: unknown; meta?: Record<string, unknown> }
  const cause = (meta?.['driverAdapterError'] as { cause?: { constraint?: { index?: unknown } } } | undefined)
    ?.cause
  const name = constraint ?? cause?.constraint?.index
  return typeof name === 'string' ? name : undefined
}

/** Translates a statement timeout into an error for the caller. Returns other errors unchanged. */
export function queryTooExpensive(thrown: unknown, timeoutMs: number): unknown {
  if (!isCancelled(thrown)) return thrown
  return new DomainError('VALIDATION_ERROR', 'The request exceeded its time limit.', {
    cause: thrown,
    details: [
      {
        path: '',
        code: 'timeout',
        message: `It was stopped after ${timeoutMs} ms. Send a narrower filter, fewer words or patterns, a smaller limit or no include_total, or declare an index for it.`,
      },
    ],
  })
}

const OUT_OF_MEMORY = '53200'

/** Error for a statement that exceeds the memory limit of a database process. */
const neededTooMuch = (cause: unknown) =>
  new DomainError('VALIDATION_ERROR', 'The request exceeded its memory limit.', {
    cause,
    details: [
      {
        path: '',
        code: 'too_complex',
        message:
          'The database reached the memory limit of one request. Send less data, or read less at a time.',
      },
    ],
  })

/** Error for a read that was cancelled because the client disconnected. No client receives it. */
export const abandoned = (cause?: unknown) =>
  new DomainError('VALIDATION_ERROR', 'The caller closed the connection, or cancelled the request.', {
    cause,
    details: [{ path: '', code: 'abandoned', message: 'It was stopped because the client was gone.' }],
  })

const RETRY_SECONDS = 2
const DISK_FULL = '53100'
const READ_ONLY = '25006'
const TOO_MANY_CONNECTIONS = '53300'

class Away extends DomainError {}
/** The connection was lost during a statement. It is unknown whether the statement took effect. */
export class LostAnswer extends Away {}

/** Whether an error says that a connection to the database was lost or not made. */
export const isAway = (thrown: unknown): boolean =>
  (thrown instanceof DomainError ? thrown : unreachable(thrown)) instanceof Away

type Passing = { readonly words: string; readonly code?: string; readonly advice?: string }

/** Transient database failures by SQLSTATE, not caused by the caller. In all of them nothing was written. */
const PASSING: Readonly<Record<string, Passing>> = {
  [DISK_FULL]: {
    words: 'The disk of the database is full. Writes fail until there is space; reads work.',
    code: 'disk_full',
    advice: 'The operator of the server has to free space on the disk of the database.',
  },
  [READ_ONLY]: {
    words: 'The database is read-only. Writes fail until it accepts them again; reads work.',
    code: 'read_only',
    advice: 'The operator of the server has to connect it to a database that accepts writes.',
  },
  [TOO_MANY_CONNECTIONS]: { words: 'The database has no free connection. Try again shortly.' },
  [CANCELED]: { words: 'The request exceeded its time limit and was rolled back. Try again shortly.' },
}
/** The database cannot read or write its files (class 58), or detected corruption (class XX). */
const FAILING: Passing = {
  words: 'The database cannot read or write its files.',
  code: 'database_failing',
  advice: 'The log of the database says why.',
}
const isFailing = (state = ''): boolean => /^(58|XX00[12])/.test(state)

/** What the database supports at the moment: reads and writes, only reads, or nothing. */
export type Readiness = 'reachable' | 'disk_full' | 'read_only' | 'failing' | 'unreachable'

/** Derives the readiness from the error of a failed write. */
export function readinessAfter(thrown: unknown): Readiness {
  const state = sqlState(thrown)
  if (state === DISK_FULL) return 'disk_full'
  if (state === READ_ONLY) return 'read_only'
  if (isFailing(state)) return 'failing'
  // A missing privilege or setting of the probe does not affect requests.
  const isOwn =
    thrown instanceof pg.DatabaseError && thrown.severity === 'ERROR' && !/^(53|57)/.test(state ?? '')
  return isOwn ? 'reachable' : 'unreachable'
}

/** Errors raised before a connection existed. No statement was sent. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOENT', 'P1001', 'P2024'])
const NO_CONNECTION_WORDS =
  /timeout exceeded when trying to connect|due to connection timeout|Can't reach database/
/** Errors of a connection that was lost during a statement. */
const LOST = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'P1017', 'P2028'])
const LOST_WORDS = /Connection terminated|is not queryable/

/**
 * Translates errors about the state of the database: out of memory, connection lost, shutting down, too many
 * connections.
 */
export function unreachable(thrown: unknown): DomainError | undefined {
  const state = sqlState(thrown)
  if (state === OUT_OF_MEMORY) return neededTooMuch(thrown)
  const code = String((thrown as { code?: unknown } | null)?.code)
  const message = thrown instanceof Error ? thrown.message : ''
  const extra = { cause: thrown, retryAfterSeconds: RETRY_SECONDS, isUpstream: true }
  const passing = isFailing(state) ? FAILING : PASSING[state ?? '']
  if (passing) return passingError(passing, extra)
  const isUnmade = /^53/.test(state ?? '') || NO_CONNECTION.has(code) || NO_CONNECTION_WORDS.test(message)
  if (isUnmade) return new Away('INTERNAL_ERROR', AWAY, extra)
  const isLost = /^(08(?!P01)|57P)/.test(state ?? '') || LOST.has(code) || LOST_WORDS.test(message)
  return isLost ? new LostAnswer('INTERNAL_ERROR', AWAY, extra) : undefined
}

function passingError(
  { words, code, advice }: Passing,
  extra: { cause: unknown; retryAfterSeconds: number; isUpstream: boolean },
): DomainError {
  const details = code && advice ? [{ path: '', code, message: advice }] : []
  return new DomainError('INTERNAL_ERROR', words, { ...extra, details })
}

const AWAY = 'The database is not reachable. Try again shortly.'

/** Runs database work and translates its transient failures. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw unreachable(thrown) ?? thrown
  }
}

/** Error for a write with an unknown outcome. It says how to check. `Retry-After` is for failures that wrote nothing. */
export const outcomeUnknown = (cause: LostAnswer, hasKey: boolean): DomainError =>
  new DomainError('INTERNAL_ERROR', 'The database did not answer. The write may have been applied.', {
    cause: cause.cause,
    isUpstream: true,
    details: [
      {
        path: '',
        code: 'outcome_unknown',
        message: hasKey
          ? `Send the same request again with the same ${advised('idempotency_key')}: it is applied once.`
          : `Read the record before you send the request again. With ${advised('idempotency_key')} a retry is safe at once.`,
      },
    ],
  })
