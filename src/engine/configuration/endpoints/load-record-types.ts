import type { EndpointTool } from '../../../contract/endpoint-shapes.ts'
import type { Scope } from '../../core/scope.ts'
import { ANY_TYPE } from '../../data/filter/change-condition.ts'
import type { Loaded, PutOptions } from '../lifecycle/kind.ts'
import { RECORD_TYPE, type TypeRow } from '../record-types/index.ts'
import type { PortableIds } from './named-tools.ts'
import type { Types } from './validate-selections.ts'

/** Portable ids of all types of the base. Tool names contain them. */
export async function portableIdsOf({ db }: Scope, baseId: string): Promise<PortableIds> {
  const rows = await db.orm.recordType.findMany({ where: { baseId }, select: { id: true, portableId: true } })
  return new Map(rows.map(({ id, portableId }) => [id, portableId]))
}

/** The same, of the types as the changes leave them. */
export async function portableIdsIn(loaded: Loaded): Promise<PortableIds> {
  const ids = new Map(await loaded.once(portableIdsOf))
  for (const [id, row] of loaded.written(RECORD_TYPE))
    if (row) ids.set(id, (row as Partial<TypeRow>).portableId ?? id)
    else ids.delete(id)
  return ids
}

/** Loads the existing types that tool selections name, with their schemas; those of an export without, as it need not fit them. */
export async function typesOf(
  loaded: Loaded,
  selections: readonly EndpointTool[],
  { leavesReferences }: Partial<PutOptions> = {},
): Promise<Types> {
  const types = await loaded.rows(RECORD_TYPE, [...new Set(selections.map(({ record_type }) => record_type))])
  return leavesReferences ? new Map([...types.keys()].map((id) => [id, ANY_TYPE])) : types
}
