/** Says where in a statement a value did not fit: PostgreSQL says only what did not, and its value. */

import { type Detail, DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { sqlState } from '../storage/database/errors.ts'
import type { FindConversions, Unfit } from './guard/conversions.ts'

const READING = /^(?:invalid input syntax for type|value ".*" is out of range for type) ([a-z ]+?)(?:: |$)/s
const RANGE = /^([a-z ]+) out of range$/
const LITERAL =
  /^(?:invalid input syntax for type [a-z ]+: |value )"(.*?)"(?: is out of range for type [a-z ]+)?$/s
const STATES = new Set(['22P02', '22003', '22007', '22008', '22012'])

/** Whether the error is that of a value. Another row or column may have none. */
export function isConversionError(thrown: unknown): thrown is DomainError {
  return thrown instanceof DomainError && (sqlState(thrown.cause)?.startsWith('22') ?? false)
}

/** What PostgreSQL could not do; undefined where its error does not say. */
function unfitOf({ cause }: DomainError): Unfit | undefined {
  const state = sqlState(cause) ?? ''
  if (!STATES.has(state) || !(cause instanceof Error)) return undefined
  if (state === '22012') return { by: 'division' }
  const type = READING.exec(cause.message)?.[1] ?? RANGE.exec(cause.message)?.[1]
  if (type === undefined) return undefined
  // The text in the message is then the caller's own.
  return { by: 'type', type, literal: isConstant(cause) ? LITERAL.exec(cause.message)?.[1] : undefined }
}

/** What to write in place of a constant. */
const SAMPLES: Readonly<Record<string, string>> = {
  bigint: '5',
  integer: '5',
  numeric: '1.5',
  boolean: 'true',
  date: "'2026-01-31'",
  'timestamp with time zone': "'2026-01-31T12:00:00Z'",
}

/** The type that a value was to be, and of a constant, which is the caller's own text, what came. */
export function readingOf({ cause }: DomainError): Partial<Detail> {
  if (!(cause instanceof Error)) return {}
  const type = READING.exec(cause.message)?.[1]
  const expected = type === undefined ? {} : { expected: type }
  const literal = isConstant(cause) ? LITERAL.exec(cause.message)?.[1] : undefined
  if (literal === undefined) return expected
  const hint = SAMPLES[type ?? '']
  return {
    ...expected,
    received: literal.slice(0, LIMITS.sqlValueShownChars),
    ...(hint !== undefined && { hint }),
  }
}

/** Whether the error is that of a constant in the text: only those have a position. */
const isConstant = (cause: unknown): boolean =>
  cause instanceof Error && 'position' in cause && cause.position !== undefined

/** The error with the place of the value in the caller's text. Other errors are returned as they are. */
export function withPlace(thrown: unknown, find: FindConversions): unknown {
  if (!isConversionError(thrown)) return thrown
  const unfit = unfitOf(thrown)
  const places = unfit ? find(unfit) : []
  const [first, ...others] = places
  const [detail] = thrown.details
  if (!first || !detail) return thrown
  const { column, place } = first
  const listed = places.slice(0, LIMITS.sqlPlacesShown).map((each) => each.place)
  const more =
    places.length > LIMITS.sqlPlacesShown ? ` and ${places.length - LIMITS.sqlPlacesShown} more` : ''
  const where =
    others.length > 0
      ? `It is one of: ${listed.join(', ')}${more}.`
      : column === undefined
        ? place
        : `It is a value of "${column}" ${place}.`
  return reworded(thrown, `${detail.message} ${where}`)
}

/** The error with other words in its only detail. */
export function reworded(
  error: DomainError,
  message: string,
  path = error.details[0]?.path ?? '',
  more: Partial<Detail> = {},
): DomainError {
  const [detail] = error.details
  if (!detail) return error
  return new DomainError(error.code, message, {
    cause: error.cause,
    details: [{ ...detail, ...more, path, message }],
  })
}
