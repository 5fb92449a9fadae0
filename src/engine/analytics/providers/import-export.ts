/** Converts between record types and tool definitions of LLM providers. */

import { isDeepStrictEqual } from 'node:util'
import { ID_RULES, isTypeId } from '../../../contract/ids.ts'
import { DomainError, invalid, oneFault, withPaths } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { NO_NAMES, publishPointer, restore } from '../../../schema-shape/rename-properties.ts'
import { get, list, patch, put } from '../../configuration/lifecycle/index.ts'
import { RECORD_TYPE, type RecordType, requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { createRecord, getRecord, type RecordItem } from '../../records/index.ts'
import { withDefaults } from '../../records/upsert.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import type { ProviderCodec, Shape, ToolDefinition } from './codec.ts'
import { bundle, portableForm, requireCallName, writeTool } from './export.ts'
import { readTools } from './import.ts'
import type { Json } from './input.ts'
import { provider } from './registry.ts'

const PLAIN = { expected: NO_EXPECTATION }

export type Imported = {
  data: { record_type: string; operation: string; warnings: string[] }[]
  meta: { count: number }
}

/**
 * Imports tool definitions as record types in one transaction.
 * @throws with details at `/tools/<i>`
 */
export async function importTools(
  scope: WriteScope,
  baseId: string,
  name: string,
  tools: unknown,
): Promise<Imported> {
  requireBaseAccess(scope.access, baseId)
  const definitions = readTools(provider(name), tools)
  for (const definition of definitions) requirePermission(scope.access, 'manage', baseId, definition.name)
  return scope.db.transaction(async (tx) => {
    const data = []
    const refused: DomainError[] = []
    for (const definition of definitions) {
      const type = await importOne({ ...scope, db: tx }, baseId, definition).catch(ofTool)
      if (type instanceof DomainError) refused.push(type)
      else
        data.push({
          record_type: type.id,
          operation: type.operation ?? 'unchanged',
          warnings: [...definition.warnings, ...(type.warnings ?? [])],
        })
    }
    const [first] = refused
    if (first)
      throw new DomainError(first.code, first.message, { details: refused.flatMap(({ details }) => details) })
    return { data, meta: { count: data.length } }
  })
}

/**
 * Returns an error that concerns a single tool, so that the other tools are also checked; rethrows any other.
 */
function ofTool(thrown: unknown): DomainError {
  if (!(thrown instanceof DomainError)) throw thrown
  if (thrown.code === 'VALIDATION_ERROR' || thrown.details[0]?.code === 'records_invalid') return thrown
  throw thrown
}

/** Merges the definition into an existing type: imported fields replace, other fields remain. */
async function importOne(scope: WriteScope, baseId: string, tool: ToolDefinition): Promise<RecordType> {
  const existing = await scope.db.orm.recordType.findUnique({
    where: { baseId_id: { baseId, id: tool.name } },
  })
  const display = { ...(existing?.display as object | undefined), source: tool.source }
  const said = {
    description: tool.description,
    jsonSchema: tool.jsonSchema,
    display,
    ...(tool.title && { name: tool.title }),
  }
  try {
    const target = { kind: RECORD_TYPE, scope, baseId, id: tool.name }
    return await (existing ? patch(target, { fields: said }, PLAIN) : put(target, said, PLAIN))
  } catch (thrown) {
    throw moved(thrown, {
      '/json_schema': tool.schemaAt,
      '/id': tool.nameAt,
      '': tool.nameAt.replace(/^(\/tools\/\d+).*$/s, '$1'),
    })
  }
}

/** Exports the named record types, or all that the token may read, as native tool definitions. */
export async function exportRecordTypes(
  scope: Scope,
  baseId: string,
  name: string,
  named: readonly string[] | null,
  shape: Shape | null,
) {
  const codec = provider(name)
  if (shape !== null && codec.id !== 'openai') throw shapeless(codec)
  if (named) checkNames(named)
  const written: (ReturnType<typeof writeTool> & { id: string })[] = []
  let left = scope.answer.room
  const add = async (type: RecordType) => {
    if (turnIsOver()) await nextTurn()
    const jsonSchema = type.jsonSchema as Json
    const form = await portableForm(codec, jsonSchema)
    const tool = writeTool(codec, { ...type, jsonSchema }, shape ?? 'chat', form)
    left -= JSON.stringify([tool.tool, tool.warnings]).length
    if (left < 0 && written.length > 0) throw tooLarge()
    written.push({ ...tool, id: type.id })
  }
  if (named) for (const id of named) await add(await get({ kind: RECORD_TYPE, scope, baseId, id }))
  else
    for (let more = true; more; ) {
      const page = await list(RECORD_TYPE, scope, baseId, {
        limit: LIMITS.exportedTypesPage,
        offset: written.length,
      })
      for (const type of page.data) await add(type)
      more = page.hasMore
    }
  return bundle(codec, named ? written : written.sort((a, b) => (a.id < b.id ? -1 : 1)))
}

const shapeless = ({ label }: ProviderCodec) =>
  invalid({
    path: '/shape',
    code: 'not_of_provider',
    message: `"shape" chooses between the two formats of OpenAI. ${label} has one. Leave it out.`,
  })

const tooLarge = () =>
  invalid({
    path: '/record_types',
    code: 'too_large',
    message: 'The definitions have more bytes than an answer may. Name fewer record types at a time.',
  })

/** Rejects duplicate and invalid names. An empty name, from a stray comma, is invalid rather than missing. */
function checkNames(named: readonly string[]): void {
  const wrong = named.find((id, i) => !isTypeId(id) || named.indexOf(id) !== i)
  if (wrong === undefined) return
  const twice = isTypeId(wrong)
  throw invalid({
    path: '/record_types',
    code: twice ? 'duplicate' : 'invalid_id',
    message: twice ? `"${wrong}" is named twice.` : `A record type id must be ${ID_RULES.type}.`,
    received: wrong.slice(0, 100),
  })
}

export type ToolCallRecord = RecordItem & { toolResult: unknown }

// The arguments that the record was created with, from its latest `create` entry in the change log.
const FIRST_DATA = statement(
  'first_data',
  `SELECT data FROM plinth.change WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 AND operation = 'create'
   ORDER BY version DESC LIMIT 1`,
)
const BY_PAIR = statement(
  'record_by_pair',
  `SELECT id FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND external_source = $3 AND external_id = $4`,
)

/**
 * Creates a record from a native tool call. Idempotent: the call id is the idempotency key.
 * @throws CONFLICT for a reused id with other arguments
 */
export async function recordToolCall(
  scope: WriteScope,
  baseId: string,
  name: string,
  recordType: string,
  native: unknown,
): Promise<ToolCallRecord> {
  requirePermission(scope.access, 'write', baseId, recordType)
  const codec = provider(name)
  const read = codec.readCall(native)
  requireCallName(codec, read, { id: recordType })
  const { jsonSchema } = await requireType(scope, baseId, recordType)
  const names = (await portableForm(codec, jsonSchema as Json))?.names ?? NO_NAMES
  const call = { ...read, arguments: restore(read.arguments, names, read.argumentsAt) as Json }
  const pair = call.callId === null ? {} : { externalId: call.callId, externalSource: codec.id }
  const finish = (record: RecordItem): ToolCallRecord => {
    const { id, operation = 'unchanged', ...rest } = record
    const outcome = {
      id,
      record_type: recordType,
      operation,
      record: { data: rest.data, version: rest.version, status: rest.status },
    }
    return { ...record, operation, toolResult: codec.toolResult(call, outcome) }
  }
  try {
    return finish(await createRecord(scope, baseId, recordType, { data: call.arguments, ...pair }))
  } catch (thrown) {
    const taken = thrown instanceof DomainError && thrown.code === 'CONFLICT' && call.callId !== null
    if (!taken) {
      const own = (path: string) =>
        `/data${publishPointer(path.slice('/data'.length), names, read.arguments)}`
      const named = withPaths(thrown, (path) => (path.startsWith('/data/') ? own(path) : path))
      throw moved(named, { '/data': call.argumentsAt })
    }
    const [existing] = await scope.db.query<{ id: string }>(BY_PAIR, [
      baseId,
      recordType,
      codec.id,
      call.callId,
    ])
    const [first] = existing
      ? await scope.db.query<{ data: unknown }>(FIRST_DATA, [baseId, recordType, existing.id])
      : []
    if (!existing) throw thrown
    const type = await requireType(scope, baseId, recordType)
    const { data } = withDefaults(scope, type, { data: call.arguments, text: '' })
    if (!isDeepStrictEqual(first?.data, data)) throw otherArguments(call.argumentsAt)
    return finish(await getRecord(scope, baseId, recordType, existing.id))
  }
}

const otherArguments = (path: string) =>
  oneFault('CONFLICT', 'This call id was used before with different arguments.', {
    path,
    code: 'other_arguments',
    message: 'A call id identifies one call. Send a new id for a new call.',
  })

/** Maps the paths of error details to the native object. */
const moved = (thrown: unknown, places: Record<string, string>): unknown =>
  withPaths(thrown, (path) => {
    const from = Object.keys(places).find((prefix) => path === prefix || path.startsWith(`${prefix}/`))
    return from === undefined ? path : `${places[from]}${path.slice(from.length)}`
  })
