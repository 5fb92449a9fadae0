/** Calls of `create_<type>`, `update_<type>` and `upsert_<type>`. */

import { z } from 'zod'
import { writtenBody } from '../../contract/response-bodies.ts'
import { unknownName } from '../../contract/suggest.ts'
import { check, inBody } from '../../contract/validate.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { restoreNames } from '../../schema-shape/portable-schema.ts'
import { publishPointer } from '../../schema-shape/rename-properties.ts'
import { byName } from '../tool/by-name.ts'
import { decodeStringified, splitReadOnlyFieldsOfType } from '../tool/decode-arguments.ts'
import type { CallSite } from '../tool/tool-binding.ts'
import { asked, inChangeSet } from '../tool/tool-call.ts'
import { splitArguments, type ToolInput } from '../tool/tool-inputs.ts'
import { clearing, create, data, patch } from './records/operations.ts'
import { linksOf, upsertRecord } from './records/writes.ts'
import type { TypedTool } from './typed-tools.ts'

const Reserved = z.strictObject({
  id: z.string().optional(),
  expected_version: z.int32().min(1).optional(),
  external_id: z.string().optional(),
  external_source: z.string().optional(),
  idempotency_key: z.string().optional(),
  dry_run: z.boolean().optional(),
  claim_id: z.string().optional(),
  clear: z.array(z.string()).optional(),
  append: data.optional(),
  remove: data.optional(),
  relationships: z.array(data).optional(),
})

const ID_STORED =
  'id is stored as data.id, and the server chose the id of the record. To choose it, use upsert_record.'
const ReservedOfUpdate = Reserved.extend({ id: z.string() })

/**
 * Runs a type tool.
 * @throws DomainError with paths relative to the arguments
 */
export async function callTyped(
  tool: TypedTool,
  { base, at, context }: CallSite,
  args: Record<string, unknown>,
): Promise<object> {
  const { input, operation, recordType, definition } = tool
  const { reserved, data: sent } = splitArguments(input, decodeStringified(args, input.schema))
  if (turnIsOver()) await nextTurn()
  const { args: data, stated } =
    operation === 'update' && isClosed(input)
      ? splitReadOnlyFieldsOfType(sent, (name) => isProperty(input, name))
      : { args: sent }
  const place = (path: string) => relative(path, input)
  try {
    const shape = operation === 'update' ? ReservedOfUpdate : Reserved
    const { id, expected_version, claim_id, clear, append, remove, relationships, ...rest } = check(
      shape,
      operation === 'update' ? { ...pairOf(stated), ...reserved } : reserved,
      inBody(),
    )
    const { external_id, external_source, ...how } = rest
    const call = asked(context, [at, definition.name, args], how)
    const target = { base_id: base, record_type: recordType }
    if (operation === 'create') {
      const content = { data, external_id, external_source, relationships: linksOf({ relationships }) }
      const { createRecord } = await create(byName({ ...target, ...content }), call)
      const isStored = data['id'] !== undefined && !isProperty(input, 'id')
      const warnings = [...(createRecord.warnings ?? []), ...(isStored ? [ID_STORED] : [])]
      return inChangeSet(writtenBody({ ...createRecord, warnings }), call)
    }
    if (operation === 'upsert') {
      const named = { id, external_id, external_source, relationships, expected_version, claim_id }
      const upserted = await upsertRecord({ ...target, data, ...named }, call)
      return inChangeSet(upserted, call)
    }
    const own = (members?: Record<string, unknown>) => members && restoreNames(members, input.projection)
    const merge = clearing(data, clear && ownNames(clear, input))
    const lists = { append: own(append), remove: own(remove) }
    const change = { ...target, id: id ?? '', merge, ...lists, expected_version, claim_id, stated }
    return inChangeSet(writtenBody((await patch(byName(change), call)).patchRecord), call)
  } catch (thrown) {
    throw advised(withPaths(thrown, place), args, tool)
  }
}

/** The external id that an update states, by which a record without an id may be meant. */
const pairOf = ({ external_id }: Record<string, unknown> = {}) =>
  typeof external_id === 'string' ? { external_id } : {}

/** Says so if the properties are in `data`, or the record has an `id`, as in the generic tools. */
function advised(thrown: unknown, args: Record<string, unknown>, { input, operation }: TypedTool): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  if (operation === 'create' && thrown.details.some(({ path }) => path === '/id')) return withoutId(thrown)
  const inner = args['data']
  if (!isObject(inner) || isProperty(input, 'data')) return thrown
  if (!Object.keys(inner).some((name) => isProperty(input, name))) return thrown
  const { data: _, ...rest } = args
  const hint = JSON.stringify({ ...rest, ...inner })
  const message = 'The properties of the type are arguments of this tool, and not in data.'
  return invalid(
    {
      path: '/data',
      code: 'unknown_key',
      message,
      ...(hint.length <= LIMITS.typedToolHintChars && { hint }),
    },
    ...thrown.details.filter(({ path }) => path !== '/data'),
  )
}

function withoutId({ details }: DomainError): DomainError {
  const others = details.filter(({ path }) => path !== '/id')
  const message = 'A new record gets its id from the server. Leave id out, or choose it with upsert_record.'
  return invalid({ path: '/id', code: 'unknown_key', message }, ...others)
}

/**
 * The names of properties as in the record.
 * @throws VALIDATION_ERROR for a name that a closed type does not have
 */
function ownNames(published: readonly string[], input: ToolInput): string[] {
  const { properties } = input.projection
  const own = new Set(properties.values())
  return published.map((name, index) => {
    const meant = properties.get(name) ?? name
    if (own.has(meant) || !isClosed(input)) return meant
    const path = `/clear/${index}`
    throw invalid({
      path,
      code: 'unknown_key',
      message: 'clear must name properties of the type.',
      ...unknownName(name, [...properties.keys()]),
    })
  })
}

/** In an open type, every unknown argument is record data. */
const isClosed = ({ projection }: ToolInput) => !projection.open
const isProperty = ({ projection }: ToolInput, name: string) => projection.properties.has(name)

/** Maps error paths to the published argument names: `/data/title` → `/title`, and reserved arguments. */
function relative(path: string, { reserved, projection }: ToolInput): string {
  if (path === '/data' || path.startsWith('/data/'))
    return publishPointer(path.slice('/data'.length), projection.names)
  const [, name = '', below = ''] = /^\/([^/]+)(.*)$/s.exec(path) ?? []
  const published = [...reserved].find(([own]) => own === name)?.[1]
  if (published === undefined) return path
  const isOfData = name === 'append' || name === 'remove'
  return `/${published}${isOfData ? publishPointer(below, projection.names) : below}`
}
