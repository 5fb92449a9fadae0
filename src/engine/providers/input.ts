import { nearest } from '../../contract/suggest.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { pointer as rootedPointer } from '../../json/index.ts'

/** A JSON object whose keys are not known yet. */
export type Json = Record<string, unknown>

/** Whether a value is a JSON object, and not an array or null. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `at` with more segments, escaped as JSON Pointer wants them. */
export function pointer(at: string, ...segments: readonly (string | number)[]): string {
  return at + rootedPointer(...segments)
}

/** The JSON name of a value's type, for messages. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The 400 for a value of the wrong type, or one that is missing. */
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

/** The value as an object, else 400. */
export function readObject(value: unknown, at: string, hint?: string): Json {
  if (!isObject(value)) throw wrongType(value, at, 'an object', hint)
  return value
}

/** The value as a string, else 400. */
export function readString(value: unknown, at: string, hint?: string): string {
  if (typeof value !== 'string') throw wrongType(value, at, 'a string', hint)
  return value
}

const KEYS_SHOWN = 20

/** Refuses every key the provider does not document: a misspelt one must never pass for an absent one. */
export function onlyKeys(object: Json, at: string, allowed: readonly string[], what: string): void {
  const details = Object.keys(object)
    .filter((key) => !allowed.includes(key))
    .slice(0, KEYS_SHOWN)
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
