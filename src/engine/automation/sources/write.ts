/** Writes records of a source. The other system has the record: nothing of it is stored or logged as a change. */
import type { Source } from '../../../contract/source-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { checkJson } from '../../../json/parse.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { checkExternal, dataText } from '../../data/ledger/record.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { namesIn } from '../../schema/templates/url-template.ts'
import { callSource } from './call-source.ts'
import { type SourceUse, useOf } from './find-source.ts'
import { recordOf } from './map-answer.ts'
import { requireOwnTarget } from './production-urls.ts'
import { sentFields } from './send-fields.ts'
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
