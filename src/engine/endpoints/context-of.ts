import type { EndpointTool } from '../../contract/endpoint-shapes.ts'
import type { FieldContext } from '../filter/operand.ts'
import type { Scope } from '../scope.ts'
import type { Types } from './bounds.ts'
import type { PortableIds } from './named-tools.ts'

/** What tools are called after: the portable ids of all types of the base. */
export async function portableIdsOf({ db }: Scope, baseId: string): Promise<PortableIds> {
  const rows = await db.orm.recordType.findMany({ where: { baseId }, select: { id: true, portableId: true } })
  return new Map(rows.map(({ id, portableId }) => [id, portableId]))
}

const UNREAD: FieldContext = { jsonSchema: {}, timezone: 'UTC' }

/** All types of the base by id, with the schemas of those that the selections name. */
export async function typesOf(
  { db }: Scope,
  baseId: string,
  portableIds: PortableIds,
  selections: readonly EndpointTool[],
): Promise<Types> {
  const named = [...new Set(selections.map(({ record_type }) => record_type))]
  const rows = await db.orm.recordType.findMany({
    where: { baseId, id: { in: named } },
    select: { id: true, jsonSchema: true, timezone: true },
  })
  const read = new Map(rows.map(({ id, ...type }) => [id, type]))
  return new Map([...portableIds.keys()].sort().map((id) => [id, read.get(id) ?? UNREAD]))
}
