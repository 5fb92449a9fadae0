/** Writes records of a source. The other system has the record: nothing of it is stored or logged as a change. */

import { productionOf } from '../../../contract/ids.ts'
import type { SentField, Source } from '../../../contract/source-shapes.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import { notInChangeSets } from '../../core/change-set/change-set-scope.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { checkExternal, dataText } from '../../data/ledger/record.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { compileJsonPath } from '../../schema/json-path/json-path.ts'
import { fillUrl, namesIn, urlSet } from '../../schema/templates/urls.ts'
import { statement } from '../../storage/database/client.ts'
import { callSource } from './call-source.ts'
import { type SourceUse, useOf } from './find-source.ts'
import { recordOf } from './map-answer.ts'
import { type SourceRecord, sourceRecord } from './source-record.ts'

export type SourceWrite = {
  readonly type: CompiledType
  readonly source: Source
  readonly id: string | undefined
  readonly data: unknown
}

/**
 * Creates a record in the source.
 * @throws VALIDATION_ERROR for data that the type or the source does not take; CONFLICT in a preview for a url of
 * production; what `callSource` throws
 */
export async function createInSource(
  scope: WriteScope,
  { type, source, id, data: sent }: SourceWrite,
): Promise<SourceRecord> {
  const use = useOf(type, source, 'create')
  const isNamed = namesIn(use.request.url).length > 0
  if (isNamed !== (id !== undefined)) throw isNamed ? needsId(source) : givesIds(source)
  const data = whole(scope, type, sent)
  return send(scope, use, { id, data, operation: 'created' })
}

/**
 * Replaces the data of a record in the source.
 * @throws as createInSource; NOT_FOUND for a record that the source does not have
 */
export async function replaceInSource(
  scope: WriteScope,
  { type, source, id = '', data }: SourceWrite,
): Promise<SourceRecord> {
  const use = useOf(type, source, 'update')
  return send(scope, use, { id, data: whole(scope, type, data), operation: 'updated' })
}

/**
 * Sends a merge patch to a source that takes one.
 * @throws as replaceInSource
 */
export async function patchInSource(
  scope: WriteScope,
  { type, source, id = '', data = {} }: SourceWrite,
): Promise<SourceRecord> {
  const use = useOf(type, source, 'update')
  if ((use.request.method ?? 'PUT') === 'PUT')
    throw invalid({
      path: '/external_source',
      code: 'not_of_source',
      message: `The source "${source.name}" replaces records whole, because its update has the method PUT. Replace it with all of its data.`,
    })
  dataText(data, scope.limits.recordBytes)
  return send(scope, use, { id, data, operation: 'updated' })
}

/** The data with the defaults of the type, valid by its schema. */
function whole(scope: WriteScope, { schema }: CompiledType, sent: unknown): unknown {
  dataText(sent, scope.limits.recordBytes)
  const data = schema.fill ? schema.fill(sent, scope.limits.recordBytes, scope.checks) : sent
  checkJson(data, '/data')
  const [first, ...rest] = schema.validate(data, '/data', scope.checks)
  if (first) throw invalid(first, ...rest)
  return data
}

type Sending = {
  readonly id: string | undefined
  readonly data: unknown
  readonly operation: 'created' | 'updated'
}

/** Sends the data. An empty answer is that of what was sent. A dry run sends nothing. */
async function send(
  scope: WriteScope,
  use: SourceUse,
  { id, data, operation }: Sending,
): Promise<SourceRecord> {
  const { type, source } = use
  if (scope.changeSet !== undefined) throw notInChangeSets('A write to an external source', scope.changeSet)
  if (id !== undefined) checkExternal(id, '/id')
  const body = sentFields(source, isObject(data) ? data : {})
  await requireOwnTarget(scope, use)
  const asSent = { ...sourceRecord(type.id, source.name, id ?? null, data), operation }
  if (scope.isRehearsal) return asSent
  const answer = await callSource(scope, use, id === undefined ? {} : { external_id: id }, body)
  if (answer.json === undefined && id !== undefined) return asSent
  return { ...(await recordOf(use, answer, id)), operation }
}

const needsId = ({ name }: Source) =>
  invalid({
    path: '/external_id',
    code: 'required',
    message: `external_id is required: the url of create of the source "${name}" has it.`,
  })

const givesIds = ({ name }: Source) =>
  invalid({
    path: '/external_id',
    code: 'not_of_source',
    message: `The source "${name}" names a new record itself. Leave external_id out, or replace the record that has it.`,
  })

// Keeps previews from writing to the systems that production writes to. They may read from them.

// What production declares now, and what it declared at the fork.
const TARGETS = statement(
  'targets_of_production',
  `SELECT DISTINCT s -> o ->> 'url' AS url FROM (
     SELECT json_array_elements(sources) AS s FROM plinth.record_type WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'sources') FROM plinth.fork WHERE base_id = $2 AND kind = 'record_type') t,
     unnest(ARRAY['create', 'update']) AS o WHERE s -> o ->> 'url' IS NOT NULL`,
)

/** @throws CONFLICT for a write of a preview to a url of production */
async function requireOwnTarget({ db }: Scope, { type, source, request }: SourceUse): Promise<void> {
  const production = productionOf(type.baseId)
  if (production === type.baseId) return
  const rows = await db.query<{ url: string }>(TARGETS, [production, type.baseId])
  if (!urlSet(rows.map(({ url }) => url))(fillUrl(request.url, { external_id: 'a' }))) return
  const message = `The source "${source.name}" has the url of a source of production, which a preview does not write to. Give it another url to try it here.`
  throw oneFault('CONFLICT', message, { path: '/external_source', code: 'url_of_production' })
}

// Makes what a source is sent of the data of a record, by its mapping.

type Tree = Map<string, unknown>

/**
 * The body of a request.
 * @throws VALIDATION_ERROR for a property or a value that the mapping does not have
 */
function sentFields({ name: source, field_mapping: mapping }: Source, data: object): object {
  const fields = mapping?.to_external
  if (!fields) return data
  const body: Tree = new Map()
  for (const [name, value] of Object.entries(data)) {
    const field = own(fields, name)
    if (field === undefined) throw unmapped(source, name, Object.keys(fields))
    put(body, namesOf(field), translated(field, name, value))
  }
  return objectOf(body)
}

const pathOf = (field: SentField): string => (typeof field === 'string' ? field : field.path)

/** The names that lead to the field in the body. */
const namesOf = (field: SentField): readonly string[] => {
  const path = pathOf(field)
  return (path.startsWith('$') ? compileJsonPath(path).names : null) ?? [path]
}

function put(tree: Tree, [name = '', ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) return void tree.set(name, value)
  const known = tree.get(name)
  const next = known instanceof Map ? (known as Tree) : new Map<string, unknown>()
  tree.set(name, next)
  put(next, below, value)
}

const objectOf = (tree: Tree): object =>
  Object.fromEntries([...tree].map(([name, value]) => [name, value instanceof Map ? objectOf(value) : value]))

function translated(field: SentField, name: string, value: unknown): unknown {
  const values = isObject(field)
    ? (field['values'] as Readonly<Record<string, unknown>> | undefined)
    : undefined
  if (values === undefined || value === null) return value
  const key = typeof value === 'string' ? value : JSON.stringify(value)
  if (Object.hasOwn(values, key)) return values[key]
  throw invalid({
    path: `/data${pointer(name)}`,
    code: 'unknown_value',
    message:
      'The value is not one of those that the mapping translates. Send one of them, or add it to the source.',
    received: key.slice(0, 200),
    allowed: Object.keys(values),
  })
}

const unmapped = (source: string, name: string, allowed: readonly string[]) =>
  invalid({
    path: `/data${pointer(name)}`,
    code: 'not_of_source',
    message: `The source "${source}" does not take the property "${name.slice(0, 64)}". Leave it out, or add it to to_external.`,
    allowed,
  })
