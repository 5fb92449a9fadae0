import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { applyOperations, type PatchOperation, readOperations } from '../../json/json-patch.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { checkJson } from '../../json/parse.ts'
import { requireType } from '../configuration/record-types/index.ts'
import type { TypePolicy } from '../core/policy.ts'
import { authorize } from '../core/row-policy/apply.ts'
import { checkVisible } from '../core/row-policy/project-data.ts'
import { type Expectation, NO_EXPECTATION, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { LOCK } from '../data/ledger/read-statements.ts'
import {
  dataText,
  type PairInput,
  type RecordItem,
  type RecordRow,
  type RecordState,
  readPair,
  recordNotFound,
} from '../data/ledger/record.ts'
import { refuseSourcePair } from '../data/ledger/source-pair.ts'
import { keepClaim } from './claims/claim-guard.ts'
import { addLinks, type RecordLink, readOwnLinks } from './links.ts'
import { type ListPatch, patchLists } from './list-patch.ts'
import { boundedWrite, isWithin, seenRow, wholeContent } from './policy-write.ts'
import { compareReadOnly } from './read-only-fields.ts'
import { absentRecord } from './relationships/missing-ends.ts'
import { upsert } from './upsert.ts'

/** A merge-patch (RFC 7396) of data and pair, or operations (RFC 6902) on `/data`, `/external_id`, `/external_source`. */
export type RecordPatch = { merge: Merge } | { operations: unknown }

/**
 * Patches a record: lock, check, apply the patch, write, add links, check the claim.
 * @throws NOT_FOUND when absent; VALIDATION_ERROR when the result is invalid
 */
export async function patchRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  patch: RecordPatch,
  expected: Expectation,
  relationships?: readonly RecordLink[],
): Promise<RecordItem> {
  const policy = authorize(scope, 'write', baseId, recordType)
  const operations = 'operations' in patch ? readOperations(patch.operations, MEMBERS) : null
  const type = await requireType(scope, baseId, recordType)
  const links = readOwnLinks(scope, baseId, relationships)
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const [row] = await tx.query<RecordRow>(LOCK, [baseId, recordType, id])
    if (!row) throw await absentRecord(within, baseId, recordType, id)
    if (!(await isWithin(within, policy, type, id))) throw recordNotFound(recordType, id)
    if (expected.versions && !expected.versions.includes(row.version))
      throw versionMismatch(row.version, expected.versions)
    if (expected.stated) compareReadOnly(recordType, row, expected.stated)
    const { recordBytes } = scope.limits
    const seen = seenRow(policy, row)
    const content =
      'merge' in patch
        ? mergeInto(seen, patch.merge, recordBytes, policy)
        : contentOf(seen, await operated(seen, operations ?? [], recordBytes), recordBytes)
    if (content.pair?.externalSource !== row.external_source) refuseSourcePair(type, content.pair)
    const guarded = { ...NO_EXPECTATION, exists: true }
    const whole = wholeContent(policy, row, content, recordBytes)
    const sent = policy ? undefined : namedBy(patch, operations ?? [])
    const target = { id, ...whole, sent, expected: guarded, isPatched: true }
    const write = () => upsert(within, baseId, recordType, target)
    const record = await boundedWrite(within, policy, type, write)
    const linked = links && (await addLinks(within, baseId, record, links))
    if (expected.claim !== null) await keepClaim(within, baseId, expected.claim, record)
    return linked ? { ...record, linked } : record
  })
}

/**
 * A merge-patch, or the assignment of whole properties: `undefined` removes one, `data` replaces all of them.
 * Then members of lists are removed and appended.
 */
export type Merge = PairInput &
  ListPatch & {
    readonly data?: unknown
    readonly assign?: {
      readonly data?: unknown
      readonly properties: readonly (readonly [string, unknown])[]
    }
  }

/**
 * Applies a merge-patch to the visible record. Does not validate against the schema.
 * @throws VALIDATION_ERROR
 */
export function mergeInto(row: RecordRow, merge: Merge, maxBytes: number, policy?: TypePolicy) {
  const named = [merge.assign ? assigned({}, merge.assign) : merge.data, merge.append, merge.remove]
  for (const part of named) checkVisible(policy, part)
  return contentOf(row, merged(row, merge), maxBytes)
}

/** The properties that a patch sets. */
function namedBy(patch: RecordPatch, operations: readonly PatchOperation[]): unknown {
  if ('merge' in patch) return patch.merge.data
  const set = operations.filter(({ op }) => op !== 'remove' && op !== 'test')
  const names = set.flatMap(({ path }) => /^\/data\/([^/]+)$/.exec(path)?.[1] ?? [])
  return Object.fromEntries(names.map((name) => [name.replaceAll('~1', '/').replaceAll('~0', '~'), true]))
}

function contentOf(row: RecordRow, next: RecordState, maxBytes: number) {
  const pair = readPair(next)
  if (!pair && row.external_id !== null)
    throw invalid({
      path: '/external_id',
      code: 'cannot_clear',
      message: 'external_id and external_source can be changed but not removed.',
    })
  return { pair, data: next.data, text: dataText(next.data, maxBytes) }
}

/** What a JSON Patch of a record may change. */
const MEMBERS = ['data', 'external_id', 'external_source']

async function operated(
  row: RecordRow,
  operations: readonly PatchOperation[],
  maxBytes: number,
): Promise<RecordState> {
  const { data, external_id, external_source } = row
  const patched = await applyOperations({ data, external_id, external_source }, operations, maxBytes)
  return {
    data: patched.data,
    externalId: textAt('/external_id', patched.external_id),
    externalSource: textAt('/external_source', patched.external_source),
  }
}

function textAt(path: string, value: unknown = null): string | null {
  if (value === null || typeof value === 'string') return value
  throw invalid({ path, code: 'type', message: `${path.slice(1)} is a string.` })
}

const stateOf = (row: RecordRow): RecordState => ({
  data: row.data,
  externalId: row.external_id,
  externalSource: row.external_source,
})

/** The data after an assignment. */
function assigned(before: unknown, { data = before, properties }: NonNullable<Merge['assign']>): unknown {
  if (properties.length === 0 || !isObject(data)) return data
  const after = new Map(Object.entries(data))
  for (const [name, value] of properties) {
    if (value === undefined) after.delete(name)
    else after.set(name, value)
  }
  return Object.fromEntries(after)
}

function merged(row: RecordRow, merge: Merge): RecordState {
  const state = stateOf(row)
  const whole = merge.assign
    ? assigned(state.data, merge.assign)
    : merge.data === undefined
      ? state.data
      : mergePatch(state.data, merge.data)
  const data = patchLists(whole, merge)
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

/** A new external id keeps the current source of the record. */
const sourceFor = (state: RecordState, merge: PairInput) =>
  merge.externalId === null ? null : (state.externalSource ?? null)
