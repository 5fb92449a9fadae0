import type { EndpointTool } from '../../../contract/endpoint-shapes.ts'
import type { Scope } from '../../core/scope.ts'
import type { PortableIds } from './named-tools.ts'
import type { Types } from './validate-selections.ts'

/** Portable ids of all types of the base. Tool names contain them. */
export async function portableIdsOf({ db }: Scope, baseId: string): Promise<PortableIds> {
  const rows = await db.orm.recordType.findMany({ where: { baseId }, select: { id: true, portableId: true } })
  return new Map(rows.map(({ id, portableId }) => [id, portableId]))
}

/** Loads the existing types that the tool selections name, with their schemas. */
export async function typesOf(
  { db }: Scope,
  baseId: string,
  selections: readonly EndpointTool[],
): Promise<Types> {
  const named = [...new Set(selections.map(({ record_type }) => record_type))]
  const rows = await db.orm.recordType.findMany({
    where: { baseId, id: { in: named } },
    select: { id: true, jsonSchema: true, timezone: true },
  })
  return new Map(rows.map(({ id, ...type }) => [id, type]))
}
