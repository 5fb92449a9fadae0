import { isDeepStrictEqual } from 'node:util'
import {
  type EndpointBatch,
  EndpointBody,
  type EndpointRelationship,
  type EndpointTool,
} from '../../contract/endpoint-shapes.ts'
import { isTypeId } from '../../contract/ids.ts'
import { unknownName } from '../../contract/suggest.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { demand } from '../access.ts'
import { lockConfiguration } from '../configuration.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import type { Endpoint as Row } from '../prisma/client.ts'
import { relationshipTypesOf } from '../relationship-types/index.ts'
import type { Scope } from '../scope.ts'
import type { WriteScope } from '../write.ts'
import { repeated, selectionFaults } from './bounds.ts'
import { portableIdsOf, typesOf } from './context-of.ts'
import { type Endpoint, toEndpoint } from './endpoint.ts'
import { finishEndpoint } from './finish.ts'
import { type FormerName, formerNames } from './former-names.ts'
import { toolsOfEndpoint } from './members.ts'
import { type NamedTool, nameFaults } from './named-tools.ts'
import { badId } from './put-toolset.ts'

/** An endpoint as it is put. What is left out takes its default. */
export type EndpointInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  instructions?: string | null | undefined
  toolsets?: readonly string[] | null | undefined
  tools?: unknown
  relationships?: unknown
  batch?: unknown
  sqlQuery?: boolean | null | undefined
  resources?: boolean | null | undefined
  enabled?: boolean | null | undefined
}
type Fields = Pick<
  Endpoint,
  'name' | 'description' | 'instructions' | 'sqlQuery' | 'resources' | 'enabled'
> & {
  toolsets: string[]
  tools: EndpointTool[]
  relationships: EndpointRelationship[]
  batch: EndpointBatch
}

/** Creates the endpoint or replaces it whole. A tool that is renamed is still found by its old name. */
export async function putEndpoint(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: EndpointInput,
  expected: Expectation,
): Promise<Endpoint> {
  demand(scope.access, 'manage', baseId, '*')
  const fields = readInput(id, input)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.endpoint.findUnique({ where })
    const portableIds = await portableIdsOf(within, baseId)
    const named = await toolsOfEndpoint(within, { baseId, ...fields }, portableIds)
    const types = await typesOf(within, baseId, portableIds, fields.tools)
    const [fault, ...more] = [
      ...selectionFaults(fields.tools, types),
      ...(await memberFaults(within, baseId, fields)),
      ...nameFaults(named),
    ]
    if (fault) throw invalid(fault, ...more)
    checkVersion(expected, held?.version, `endpoint "${id}"`)
    if (held && isDeepStrictEqual(fields, fieldsOf(held)))
      return { ...toEndpoint(held), operation: 'unchanged' }
    const before = held ? await toolsOfEndpoint(within, held, portableIds) : []
    const former = formerNames((held?.formerNames ?? []) as FormerName[], ofTypes(before), ofTypes(named))
    const columns = { ...fields, ...asJson(fields), formerNames: former as object[] }
    const row = held
      ? await tx.orm.endpoint.update({
          where,
          data: { ...columns, version: { increment: 1 }, updatedAt: new Date() },
        })
      : await tx.orm.endpoint.create({ data: { baseId, id, ...columns } })
    await finishEndpoint(within, row, held ? 'update' : 'create')
    return { ...toEndpoint(row), operation: held ? 'updated' : 'created' }
  })
}

/** Its JSON columns, as the ORM takes them. */
const asJson = ({ tools, relationships, batch }: Fields) => ({
  tools: tools as object[],
  relationships: relationships as object[],
  batch: batch as object,
})

/** Names of other tools cannot be overridden, so they are never changed. */
const ofTypes = (tools: readonly object[]): NamedTool[] =>
  tools.filter((tool): tool is NamedTool => 'selection' in tool)

/** @throws VALIDATION_ERROR with every fault of the shape */
function readInput(id: string, input: EndpointInput): Fields {
  const body = check(EndpointBody, bodyOf(input), inBody())
  if (!isTypeId(id)) throw invalid(badId('endpoint', id))
  return {
    name: body.name ?? id,
    description: body.description ?? null,
    instructions: body.instructions ?? null,
    toolsets: body.toolsets ?? [],
    tools: body.tools ?? [],
    relationships: body.relationships ?? [],
    batch: body.batch ?? { enabled: false },
    sqlQuery: body.sql_query ?? false,
    resources: body.resources ?? false,
    enabled: body.enabled ?? true,
  }
}

/** As REST writes it; GraphQL sends null for what is left out. */
const bodyOf = (input: EndpointInput) => ({
  name: input.name ?? undefined,
  description: input.description,
  instructions: input.instructions,
  toolsets: input.toolsets ?? undefined,
  tools: input.tools ?? undefined,
  relationships: input.relationships ?? undefined,
  batch: input.batch ?? undefined,
  sql_query: input.sqlQuery ?? undefined,
  resources: input.resources ?? undefined,
  enabled: input.enabled ?? undefined,
})

function fieldsOf(row: Row): Fields {
  const {
    name,
    description,
    instructions,
    toolsets,
    tools,
    relationships,
    batch,
    sqlQuery,
    resources,
    enabled,
  } = toEndpoint(row)
  return {
    ...{ name, description, instructions, sqlQuery, resources, enabled, batch },
    toolsets: [...toolsets],
    tools: [...tools],
    relationships: [...relationships],
  }
}

/** What is wrong with the toolsets and relationship types that are named. */
async function memberFaults(scope: Scope, baseId: string, fields: Fields): Promise<Detail[]> {
  const toolsets = (await scope.db.orm.toolset.findMany({ where: { baseId }, select: { id: true } })).map(
    ({ id }) => id,
  )
  const relTypes = [...(await relationshipTypesOf(scope, baseId)).keys()]
  const named = fields.relationships.map(({ rel_type }) => rel_type)
  return [
    ...repeated(fields.toolsets, '/toolsets'),
    ...fields.toolsets.flatMap((id, i) => (toolsets.includes(id) ? [] : [unknownToolset(id, i, toolsets)])),
    ...named.flatMap((id, i) => (relTypes.includes(id) ? [] : [unknownRelType(id, i, relTypes)])),
    ...fields.relationships.flatMap(({ operations }, i) =>
      repeated(operations, `/relationships/${i}/operations`),
    ),
  ]
}

const unknownToolset = (id: string, i: number, known: readonly string[]): Detail => ({
  path: `/toolsets/${i}`,
  code: 'unknown_toolset',
  message: `There is no toolset "${id.slice(0, 64)}". PUT it first.`,
  ...unknownName(id, known),
})

const unknownRelType = (id: string, i: number, known: readonly string[]): Detail => ({
  path: `/relationships/${i}/rel_type`,
  code: 'unknown_relationship_type',
  message: `There is no relationship type "${id.slice(0, 64)}". PUT it first.`,
  ...unknownName(id, known),
})
