import { isDeepStrictEqual } from 'node:util'
import { type EndpointTool, ToolsetBody } from '../../contract/endpoint-shapes.ts'
import { ID_RULES, isTypeId } from '../../contract/ids.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError, invalid } from '../../foundation/errors.ts'
import { demand } from '../access.ts'
import { lockConfiguration } from '../configuration.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import type { Toolset as Row } from '../prisma/client.ts'
import type { WriteScope } from '../write.ts'
import { selectionFaults } from './bounds.ts'
import { portableIdsOf, typesOf } from './context-of.ts'
import { finishToolset } from './finish.ts'
import { type FormerName, formerNames } from './former-names.ts'
import { toolsOfEndpoint, usersOf } from './members.ts'
import { nameFaults, nameTools, type PortableIds } from './named-tools.ts'
import { type Toolset, toolsOf, toToolset } from './toolset.ts'

/** A toolset as it is put. What is left out takes its default. */
export type ToolsetInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  tools?: unknown
}
type Fields = { name: string; description: string | null; tools: EndpointTool[] }

/**
 * Creates the toolset or replaces it whole.
 * @throws CONFLICT when an endpoint that has it would get two tools of one name
 */
export async function putToolset(
  scope: WriteScope,
  baseId: string,
  id: string,
  input: ToolsetInput,
  expected: Expectation,
): Promise<Toolset> {
  demand(scope.access, 'manage', baseId, '*')
  const fields = readInput(id, input)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.toolset.findUnique({ where })
    const portableIds = await portableIdsOf(within, baseId)
    const named = nameTools(fields.tools, portableIds, (i) => `/tools/${i}`)
    const types = await typesOf(within, baseId, portableIds, fields.tools)
    const [fault, ...more] = [...selectionFaults(fields.tools, types), ...nameFaults(named)]
    if (fault) throw invalid(fault, ...more)
    checkVersion(expected, held?.version, `toolset "${id}"`)
    if (held && isDeepStrictEqual(fields, fieldsOf(held)))
      return { ...toToolset(held), operation: 'unchanged' }
    if (held) await demandRoom(within, baseId, { id, tools: fields.tools }, portableIds)
    const before = held ? nameTools(toolsOf(held), portableIds, () => '') : []
    const former: object[] = formerNames((held?.formerNames ?? []) as FormerName[], before, named)
    const columns = { ...fields, tools: fields.tools as object[], formerNames: former }
    const row = held
      ? await tx.orm.toolset.update({
          where,
          data: { ...columns, version: { increment: 1 }, updatedAt: new Date() },
        })
      : await tx.orm.toolset.create({ data: { baseId, id, ...columns } })
    await finishToolset(within, row, held ? 'update' : 'create')
    return { ...toToolset(row), operation: held ? 'updated' : 'created' }
  })
}

/** @throws VALIDATION_ERROR with every fault of the shape */
function readInput(id: string, input: ToolsetInput): Fields {
  const body = check(ToolsetBody, dropNulls(input), inBody())
  if (!isTypeId(id)) throw invalid(badId('toolset', id))
  return { name: body.name ?? id, description: body.description ?? null, tools: body.tools ?? [] }
}

/** GraphQL sends null for what is left out. */
const dropNulls = ({ name, description, tools }: ToolsetInput) => ({
  name: name ?? undefined,
  description,
  tools: tools ?? undefined,
})

/** The fault of an id outside its rule. */
export const badId = (noun: 'toolset' | 'endpoint', received: string): Detail => ({
  path: '/id',
  code: 'invalid_id',
  message: `The id of ${noun === 'toolset' ? 'a toolset' : 'an endpoint'} is ${ID_RULES.type}.`,
  received,
})

const fieldsOf = (row: Row): Fields => ({
  name: row.name,
  description: row.description,
  tools: [...toolsOf(row)],
})

/** @throws CONFLICT for the endpoints that have the toolset and another tool of a name it would bring */
async function demandRoom(
  scope: WriteScope,
  baseId: string,
  changed: { id: string; tools: readonly EndpointTool[] },
  portableIds: PortableIds,
): Promise<void> {
  const details: Detail[] = []
  for (const user of await usersOf(scope, baseId, changed.id)) {
    const [clash] = nameFaults(await toolsOfEndpoint(scope, user, portableIds, changed))
    if (clash)
      details.push({
        ...clash,
        path: '/tools',
        message: `Endpoint "${user.id}" has this toolset and would have two tools named "${String(clash.received)}". Change one of them first.`,
      })
  }
  if (details.length > 0) throw new DomainError('CONFLICT', details[0]?.message ?? '', { details })
}
