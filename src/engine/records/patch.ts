import { applyPatch, type Operation as PatchOperation, Pointer } from 'rfc6902'
import { DomainError, invalid } from '../../errors.ts'
import { checkJson } from '../../json/index.ts'
import { underClaim } from '../claims/hold.ts'
import { type Expectation, NO_EXPECTATION, versionMismatch } from '../expectation.ts'
import { demandShown } from '../lens/data.ts'
import type { TypeLens } from '../lens/lens.ts'
import { demandWithin } from '../lens/look.ts'
import { demandType } from '../record-types/index.ts'
import type { WriteScope } from '../write.ts'
import { boundedWrite, isWithin, seenRow, wholeContent } from './bounded-write.ts'
import { mergePatch } from './merge-patch.ts'
import { LOCK } from './read-statements.ts'
import {
  dataText,
  type PairInput,
  type RecordItem,
  type RecordRow,
  readPair,
  recordNotFound,
} from './record.ts'
import { demandStated } from './stated.ts'
import { upsert } from './upsert.ts'

/** A merge-patch (RFC 7396) of data and pair, or operations (RFC 6902) on `/data`, `/external_id`, `/external_source`. */
export type RecordPatch = { merge: { data?: unknown } & PairInput } | { operations: unknown }

/** Patches a record under its lock. @throws NOT_FOUND when absent, VALIDATION_ERROR when the result is not valid. */
export async function patchRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  patch: RecordPatch,
  expected: Expectation,
): Promise<RecordItem> {
  const lens = demandWithin(scope, 'write', baseId, recordType)
  const operations = 'operations' in patch ? readOperations(patch.operations) : null
  const type = await demandType(scope, baseId, recordType)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const [row] = await tx.query<RecordRow>(LOCK, [baseId, recordType, id])
    if (!row || !(await isWithin(within, lens, type, id))) throw recordNotFound(recordType, id)
    if (expected.versions && !expected.versions.includes(row.version))
      throw versionMismatch(row.version, expected.versions)
    if (expected.stated) demandStated(recordType, row, expected.stated)
    const { recordBytes } = scope.limits
    const seen = seenRow(lens, row)
    const content =
      'merge' in patch
        ? mergeInto(seen, patch.merge, recordBytes, lens)
        : contentOf(seen, operated(seen, operations ?? [], recordBytes), recordBytes)
    const held = { ...NO_EXPECTATION, versions: [row.version], exists: true }
    const target = { id, ...wholeContent(lens, row, content, recordBytes), expected: held }
    return underClaim(within, baseId, expected.claim, (under) =>
      boundedWrite(under, lens, type, () => upsert(under, baseId, recordType, target)),
    )
  })
}

/** What a merge-patch makes of a record as it is seen, not yet held to its schema. @throws VALIDATION_ERROR */
export function mergeInto(
  row: RecordRow,
  merge: { data?: unknown } & PairInput,
  maxBytes: number,
  lens?: TypeLens,
) {
  demandShown(lens, merge.data)
  return contentOf(row, merged(row, merge), maxBytes)
}

type State = { data: unknown } & PairInput

function contentOf(row: RecordRow, next: State, maxBytes: number) {
  const pair = readPair(next)
  if (!pair && row.external_id !== null)
    throw invalid({
      path: '/external_id',
      code: 'cannot_clear',
      message: 'A pair can be changed but not taken away.',
    })
  return { pair, data: next.data, text: dataText(next.data, maxBytes) }
}

const stateOf = (row: RecordRow): State => ({
  data: row.data,
  externalId: row.external_id,
  externalSource: row.external_source,
})

function merged(row: RecordRow, merge: { data?: unknown } & PairInput): State {
  const state = stateOf(row)
  const data = merge.data === undefined ? state.data : mergePatch(state.data, merge.data)
  checkJson(data, '/data')
  return {
    data,
    externalId: merge.externalId === undefined ? (state.externalId ?? null) : merge.externalId,
    externalSource:
      merge.externalSource === undefined
        ? merge.externalId === undefined
          ? (state.externalSource ?? null)
          : sourceFor(state, merge)
        : merge.externalSource,
  }
}

/** A new external id keeps the source the record has. */
const sourceFor = (state: State, merge: PairInput) =>
  merge.externalId === null ? null : (state.externalSource ?? null)

const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test']
const REACHABLE = /^\/(data(\/.*)?|external_id|external_source)$/s
// The patch library steps over these names without a word; better to refuse them.
const UNREACHABLE = /\/(__proto__|constructor|prototype)(\/|$)/

function operated(row: RecordRow, operations: readonly PatchOperation[], maxBytes: number): State {
  const document: Record<string, unknown> = structuredClone({
    data: row.data,
    external_id: row.external_id,
    external_source: row.external_source,
  })
  let copied = 0
  for (const [index, operation] of operations.entries()) {
    // A patch of few bytes can double the record with each copy.
    if (operation.op === 'copy') copied += sizeAt(document, operation.from)
    if (copied > maxBytes) throw copiesTooMuch(index, maxBytes)
    const error = apply(document, operation)
    if (error && operation.op === 'test') throw testFailed(index)
    if (error)
      throw invalid({
        path: `/${index}/path`,
        code: 'missing_path',
        message: `Operation ${index} points at something that is not there.`,
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

/** What keeps the operation from being done, if anything does. */
function apply(document: object, operation: PatchOperation): unknown {
  try {
    return applyPatch(document, [operation])[0]
  } catch (thrown) {
    // The library steps into strings and numbers as if they could hold something.
    return thrown
  }
}

function sizeAt(document: object, pointer: string): number {
  const value: unknown = Pointer.fromJSON(pointer).get(document)
  if (value === undefined) return 0
  checkJson(value, '/data')
  return JSON.stringify(value).length
}

function readOperations(raw: unknown): PatchOperation[] {
  if (!Array.isArray(raw))
    throw invalid({ path: '', code: 'type', message: 'A JSON Patch is an array of operations.' })
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
          message: 'A patch reaches /data, /external_id and /external_source.',
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
    message: `The copies of a patch have at most ${maxBytes} bytes together.`,
    expected: maxBytes,
  })

const testFailed = (index: number) =>
  new DomainError('CONFLICT', `The test of operation ${index} does not hold. Nothing was changed.`, {
    details: [
      {
        path: `/${index}/value`,
        code: 'test_failed',
        message: 'The value there is another one. Read the record again.',
      },
    ],
  })
