/** JSON Patch (RFC 6902) of a document whose members are known. */
import { applyPatch, type Operation as PatchOperation, Pointer } from 'rfc6902'
import { invalid, oneFault } from '../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { checkJson } from './parse.ts'

export type { PatchOperation }

const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test']
// The patch library silently ignores these names, so reject them.
const UNREACHABLE = /\/(__proto__|constructor|prototype)(\/|$)/
// RFC 6901, section 3. The library reads such a `~` as itself.
const MALFORMED = /~(?![01])/

/**
 * Applies the operations to a copy of the document, in turns of the event loop. Copy operations may add `maxBytes` in total.
 * @throws VALIDATION_ERROR; CONFLICT when a test operation fails
 */
export async function applyOperations<Document extends object>(
  document: Document,
  operations: readonly PatchOperation[],
  maxBytes: number,
): Promise<{ [Member in keyof Document]?: unknown }> {
  const patched: { [Member in keyof Document]?: unknown } = structuredClone(document)
  let copied = 0
  for (const [index, operation] of operations.entries()) {
    if (turnIsOver()) await nextTurn()
    // A small patch can double the document with each copy operation.
    if (operation.op === 'copy') copied += sizeAt(patched, operation.from)
    if (copied > maxBytes) throw copiesTooMuch(index, maxBytes)
    if (operation.op === 'test') {
      if (!isEqual(valueAt(patched, operation.path), operation.value)) throw testFailed(index)
      continue
    }
    const error = apply(patched, operation)
    if (error) throw missingPath(index, operation, error)
  }
  for (const [name, value] of Object.entries(patched)) checkJson(value, `/${name}`)
  return patched
}

/** Applies one operation. Returns the error, if there is one. */
function apply(document: object, operation: PatchOperation): unknown {
  try {
    return applyPatch(document, [operation])[0]
  } catch (thrown) {
    // The library throws on paths into strings and numbers.
    return thrown
  }
}

const valueAt = (document: object, pointer: string): unknown => Pointer.fromJSON(pointer).get(document)

/** Whether two JSON values are equal. The library finds the shortest difference of arrays, in time and memory of their product. */
function isEqual(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function sizeAt(document: object, pointer: string): number {
  const value = valueAt(document, pointer)
  if (value === undefined) return 0
  checkJson(value, pointer)
  return JSON.stringify(value).length
}

/**
 * Validates the operations. They may reach the given members of the document.
 * @throws VALIDATION_ERROR
 */
export function readOperations(raw: unknown, members: readonly string[]): PatchOperation[] {
  if (!Array.isArray(raw))
    throw invalid({ path: '', code: 'type', message: 'A JSON Patch must be an array of operations.' })
  const reachable = new RegExp(`^/(${members.join('|')})(/.*)?$`, 's')
  for (const [index, each] of (raw as Record<string, unknown>[]).entries()) {
    const operation: Record<string, unknown> = typeof each === 'object' && each !== null ? each : {}
    if (!OPERATIONS.includes(operation['op'] as string))
      throw invalid({
        path: `/${index}/op`,
        code: 'enum',
        message: `op must be one of ${OPERATIONS.join(', ')}.`,
        allowed: OPERATIONS,
      })
    const pointers = operation['op'] === 'move' || operation['op'] === 'copy' ? ['path', 'from'] : ['path']
    for (const key of pointers) {
      const at = operation[key]
      if (typeof at !== 'string' || !reachable.test(at) || UNREACHABLE.test(at))
        throw invalid({
          path: `/${index}/${key}`,
          code: 'invalid_pointer',
          message: `A patch can change only ${members.map((name) => `/${name}`).join(', ')}.`,
        })
      if (MALFORMED.test(at))
        throw invalid({
          path: `/${index}/${key}`,
          code: 'invalid_pointer',
          message: 'In a JSON Pointer, write "~0" for "~" and "~1" for "/".',
          received: at.slice(0, 64),
        })
      if (at.length > LIMITS.patchPointerChars)
        throw invalid({
          path: `/${index}/${key}`,
          code: 'too_long',
          message: `A JSON Pointer of a patch can have at most ${LIMITS.patchPointerChars} characters. Replace the value above instead.`,
          expected: LIMITS.patchPointerChars,
          received: at.length,
        })
    }
    if (['add', 'replace', 'test'].includes(operation['op'] as string) && !Object.hasOwn(operation, 'value'))
      throw invalid({
        path: `/${index}/value`,
        code: 'required',
        message: `"${operation['op']}" needs a value.`,
      })
    const allowed = [
      'op',
      ...pointers,
      ...(pointers.length === 1 && operation['op'] !== 'remove' ? ['value'] : []),
    ]
    const unknown = Object.keys(operation).find((key) => !allowed.includes(key))
    if (unknown)
      throw invalid({
        path: `/${index}/${unknown}`,
        code: 'unknown_key',
        message: `A "${operation['op']}" operation has no "${unknown}". Leave it out.`,
        allowed,
      })
  }
  return raw as PatchOperation[]
}

const copiesTooMuch = (index: number, maxBytes: number) =>
  invalid({
    path: `/${index}/from`,
    code: 'too_large',
    message: `The copy operations of a patch can copy at most ${maxBytes} bytes in total.`,
    expected: maxBytes,
  })

function missingPath(index: number, { path, ...operation }: PatchOperation, error: unknown) {
  const isSource = 'from' in operation && (error as { path?: unknown }).path === operation.from
  return invalid({
    path: `/${index}/${isSource ? 'from' : 'path'}`,
    code: 'missing_path',
    message: `Operation ${index} points to a location that does not exist. Read the current state again.`,
    received: (isSource ? operation.from : path).slice(0, 256),
  })
}

const testFailed = (index: number) =>
  oneFault('CONFLICT', `The test of operation ${index} failed. Nothing was changed.`, {
    path: `/${index}/value`,
    code: 'test_failed',
    message: 'The value differs. Read the current state again.',
  })
