/** Writes of records that name an external source: to the source if the type has it, else to the records here. */
import { invalid } from '../../../foundation/errors.ts'
import { findType } from '../../core/load-type.ts'
import type { Scope } from '../../core/scope.ts'
import { withSendingSlot } from '../../core/work-slots.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import * as stored from '../../records/index.ts'
import { findSource } from './find-source.ts'
import { requireNoPolicy } from './read.ts'
import type { SourceRecord } from './source-record.ts'
import { createInSource, patchInSource, replaceInSource } from './write.ts'

type Written = stored.RecordItem | SourceRecord

/** Upserts a stored record, or replaces one of a source. */
export async function putRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  input: stored.PutInput,
  expected: Expectation,
): Promise<Written> {
  const into = await sourceOf(scope, baseId, recordType, input.externalSource)
  if (!into) return stored.putRecord(scope, baseId, recordType, id, input, expected)
  refuseStoredOnly(into.source.name, input, expected)
  if (input.externalId != null && input.externalId !== id) throw otherId()
  return replaceInSource(scope, { ...into, id, data: input.data })
}

/** Upserts a stored record by its pair, or replaces one of a source. */
export async function putRecordByPair(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: stored.PutInput,
  expected: Expectation,
): Promise<Written> {
  const into = await sourceOf(scope, baseId, recordType, input.externalSource)
  if (!into || input.externalId == null)
    return stored.putRecordByPair(scope, baseId, recordType, input, expected)
  refuseStoredOnly(into.source.name, input, expected)
  return replaceInSource(scope, { ...into, id: input.externalId, data: input.data })
}

/** Creates a record here, or in a source. */
export async function createRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: stored.PutInput & { id?: string | null | undefined },
): Promise<Written> {
  const into = await sourceOf(scope, baseId, recordType, input.externalSource)
  if (!into) return stored.createRecord(scope, baseId, recordType, input)
  const { id } = input
  refuseStoredOnly(into.source.name, input, {})
  if (id != null && input.externalId != null && input.externalId !== id) throw otherId()
  return createInSource(scope, { ...into, id: input.externalId ?? id ?? undefined, data: input.data })
}

/** Patches a stored record, or one of a source. */
export async function patchRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  patch: stored.RecordPatch,
  expected: Expectation,
  relationships: readonly stored.RecordLink[] = [],
): Promise<Written> {
  const merge = 'merge' in patch ? patch.merge : {}
  const into = await sourceOf(scope, baseId, recordType, merge.externalSource)
  if (!into) return stored.patchRecord(scope, baseId, recordType, id, patch, expected, relationships)
  const { append, remove, externalId, data } = merge
  refuseStoredOnly(into.source.name, { append, remove, relationships }, expected)
  if (externalId != null && externalId !== id) throw otherId()
  return patchInSource(scope, { ...into, id, data })
}

/**
 * Takes a slot for a write that can wait for a source, before it takes a database connection.
 * @throws RATE_LIMITED
 */
export async function reserveSource<T>(
  scope: Scope,
  { base, recordType, externalSource }: { base: string; recordType: string; externalSource: string },
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  const type = await findType(scope, base, recordType)
  return type && findSource(type, externalSource) ? withSendingSlot(scope, () => work(scope)) : work(scope)
}

/** The source that a write names. Only a caller who may write learns whether there is one. */
async function sourceOf(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  name: string | null | undefined,
) {
  if (name == null) return undefined
  const type = await findType(scope, baseId, recordType)
  const source = type && findSource(type, name)
  if (!source) return undefined
  requireNoPolicy(scope, 'write', baseId, recordType)
  return { type, source }
}

type StoredOnly = { readonly [Argument in 'relationships' | 'append' | 'remove']?: unknown }

/**
 * Refuses what only stored records have.
 * @throws VALIDATION_ERROR
 */
function refuseStoredOnly(
  source: string,
  { relationships, append, remove }: StoredOnly,
  { versions, exists, absent, claim, stated }: Partial<Expectation>,
): void {
  const links = Array.isArray(relationships) && relationships.length > 0 ? relationships : undefined
  const sent = {
    relationships: links,
    append: append ?? undefined,
    remove: remove ?? undefined,
    expected_version: versions ?? (exists || absent || undefined),
    claim_id: claim ?? undefined,
    ...stated,
  }
  const [name] = Object.entries(sent).find(([, value]) => value !== undefined && value !== null) ?? []
  if (name === undefined) return
  throw invalid({
    path: `/${name}`,
    code: 'not_of_source',
    message: `A record of the source "${source}" is not stored here, so it has no ${NAMES[name] ?? name}. Leave it out.`,
  })
}

const NAMES: Readonly<Record<string, string>> = {
  append: 'lists to append to',
  remove: 'lists to remove from',
  expected_version: 'version to compare with',
  claim_id: 'claim',
}

const otherId = () =>
  invalid({
    path: '/external_id',
    code: 'disagrees',
    message: 'In a source, the id is the external_id. Send one of them, or the same.',
  })
