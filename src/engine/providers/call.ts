import { hasControlCharacters } from '../../contract/ids.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Json, readObject, readString } from './input.ts'

/** Reads a call id, which becomes the record's external id and follows its rules. */
export function readCallId(value: unknown, at: string): string {
  const id = readString(value, at)
  if (id !== '' && [...id].length <= LIMITS.externalIdChars && !hasControlCharacters(id)) return id
  throw invalid({
    path: at,
    code: 'invalid_external_id',
    message: `A call id has 1 to ${LIMITS.externalIdChars} characters and no control characters.`,
    expected: `1 to ${LIMITS.externalIdChars} characters, none of them control characters`,
    received: id.slice(0, 100),
  })
}

/** Reads an arguments object; empty by default. */
export function readArguments(value: unknown, at: string): Json {
  return value === undefined ? {} : readObject(value, at)
}

/** Rejects a `type` that the provider does not document. */
export function readType(value: unknown, at: string, allowed: readonly string[]): string {
  const type = readString(value, at)
  if (allowed.includes(type)) return type
  throw invalid({
    path: at,
    code: 'enum',
    message: `"${type}" is not a function call. Send one of type ${allowed.join(' or ')}.`,
    received: type,
    allowed,
  })
}
