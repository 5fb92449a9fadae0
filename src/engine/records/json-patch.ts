import { applyPatch, type Operation as PatchOperation, Pointer } from 'rfc6902'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { checkJson } from '../../json/index.ts'
import type { RecordRow, RecordState } from '../record-store/record.ts'

const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test']
const REACHABLE = /^\/(data(\/.*)?|external_id|external_source)$/s
// The patch library silently ignores these names, so reject them.
const UNREACHABLE = /\/(__proto__|constructor|prototype)(\/|$)/

/**
 * Applies JSON Patch operations (RFC 6902) to a record.
 * @throws VALIDATION_ERROR; CONFLICT when a test operation fails
 */
export function operated(
  row: RecordRow,
  operations: readonly PatchOperation[],
  maxBytes: number,
): RecordState {
  const document: Record<string, unknown> = structuredClone({
    data: row.data,
    external_id: row.external_id,
    external_source: row.external_source,
  })
  let copied = 0
  for (const [index, operation] of operations.entries()) {
    // A small patch can double the record with each copy operation.
    if (operation.op === 'copy') copied += sizeAt(document, operation.from)
    if (copied > maxBytes) throw copiesTooMuch(index, maxBytes)
    const error = apply(document, operation)
    if (error && operation.op === 'test') throw testFailed(index)
    if (error)
      throw invalid({
        path: `/${index}/path`,
        code: 'missing_path',
        message: `Operation ${index} points to a location that does not exist.`,
      })
  }
  checkJson(document['data'], '/data')
  const text = (key: string): string | null => {
    const value = document[key] ?? null
    if (value !== null && typeof value !== 'string')
      throw invalid({ path: `/${key}`, code: 'type', message: `${key} is a string.` })
    return value
  }
  return { data: document['data'], externalId: text('external_id'), externalSource: text('external_source') }
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

function sizeAt(document: object, pointer: string): number {
  const value: unknown = Pointer.fromJSON(pointer).get(document)
  if (value === undefined) return 0
  checkJson(value, '/data')
  return JSON.stringify(value).length
}

/**
 * Validates the operations.
 * @throws VALIDATION_ERROR
 */
export function readOperations(raw: unknown): PatchOperation[] {
  if (!Array.isArray(raw))
    throw invalid({ path: '', code: 'type', message: 'A JSON Patch must be an array of operations.' })
  for (const [index, each] of (raw as Record<string, unknown>[]).entries()) {
    const operation: Record<string, unknown> = typeof each === 'object' && each !== null ? each : {}
    if (!OPERATIONS.includes(operation['op'] as string))
      throw invalid({
        path: `/${index}/op`,
        code: 'enum',
        message: `op is one of ${OPERATIONS.join(', ')}.`,
        allowed: OPERATIONS,
      })
    const pointers = operation['op'] === 'move' || operation['op'] === 'copy' ? ['path', 'from'] : ['path']
    for (const key of pointers) {
      const at = operation[key]
      if (typeof at !== 'string' || !REACHABLE.test(at) || UNREACHABLE.test(at))
        throw invalid({
          path: `/${index}/${key}`,
          code: 'invalid_pointer',
          message: 'A patch can change only /data, /external_id and /external_source.',
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
        message: `"${unknown}" has no meaning here.`,
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

const testFailed = (index: number) =>
  new DomainError('CONFLICT', `The test of operation ${index} failed. Nothing was changed.`, {
    details: [
      {
        path: `/${index}/value`,
        code: 'test_failed',
        message: 'The value differs. Read the record again.',
      },
    ],
  })
