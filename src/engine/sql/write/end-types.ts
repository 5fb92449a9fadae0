/** The record types that the ends of a new link can have. */
import { relationshipTypesOf } from '../../configuration/relationship-types/index.ts'
import type { WriteScope } from '../../core/write/write.ts'

const SIDES = {
  source_record_type: 'sourceRecordTypes',
  target_record_type: 'targetRecordTypes',
} as const
type Side = keyof typeof SIDES

/** The types that an end can have, among those that the token may write; undefined if any type can be. */
export type EndTypes = (relType: string, side: string) => readonly string[] | undefined

/** Loads the relationship types of the base. */
export async function endTypesOf(scope: WriteScope, baseId: string): Promise<EndTypes> {
  const types = await relationshipTypesOf(scope, baseId)
  return (relType, side) => {
    const named = isSide(side) ? types.get(relType)?.[SIDES[side]] : undefined
    if (!named || named.includes('*')) return undefined
    return named.filter((id) => scope.access.allows('write', baseId, id))
  }
}

const isSide = (name: string): name is Side => Object.hasOwn(SIDES, name)
