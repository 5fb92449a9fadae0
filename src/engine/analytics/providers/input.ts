import { hasControlCharacters } from '../../../contract/ids.ts'
import { nearest } from '../../../contract/suggest.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { pointer as rootedPointer } from '../../../json/parse.ts'

/** A JSON object with unvalidated keys. */
export type Json = Record<string, unknown>

/** Appends segments to a JSON Pointer, with escaping. */
export function pointer(at: string, ...segments: readonly (string | number)[]): string {
  return at + rootedPointer(...segments)
}

/** The JSON type name of a value, for messages. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The 400 for a missing value or a wrong type. */
export function wrongType(value: unknown, at: string, expected: string, hint?: string) {
  const detail: Detail = {
    path: at,
    code: value === undefined ? 'required' : 'type',
    message:
      value === undefined ? `${at || 'The body'} is required.` : `${at || 'The body'} must be ${expected}.`,
    expected,
    received: typeName(value),
  }
  return invalid(hint === undefined ? detail : { ...detail, hint })
}

/**
 * Reads an object.
 * @throws VALIDATION_ERROR otherwise
 */
export function readObject(value: unknown, at: string, hint?: string): Json {
  if (!isObject(value)) throw wrongType(value, at, 'an object', hint)
  return value
}

/**
 * Reads a string.
 * @throws VALIDATION_ERROR otherwise
 */
export function readString(value: unknown, at: string, hint?: string): string {
  if (typeof value !== 'string') throw wrongType(value, at, 'a string', hint)
  return value
}

/** Rejects undocumented keys, so that a typo is not treated as an absent key. */
export function onlyKeys(object: Json, at: string, allowed: readonly string[], what: string): void {
  const details = Object.keys(object)
    .filter((key) => !allowed.includes(key))
    .slice(0, LIMITS.toolKeysShown)
    .map((key): Detail => {
      const near = nearest(key, allowed)
      return {
        path: pointer(at, key),
        code: 'unknown_key',
        message: `${what} has no "${key}".${near ? ` Did you mean "${near}"?` : ''}`,
        received: key,
        allowed,
        ...(near === undefined ? {} : { hint: near }),
      }
    })
  const [first, ...rest] = details
  if (first) throw invalid(first, ...rest)
}

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
