/** Grants that are a part of a token's own, for a token that it lets somebody else have. */
import { type Grant, isOnBase, level, listed, type Permission, proposes, toRule } from './grants.ts'

/** The part: of one base or all, on some types, at one endpoint or on everything, with at most this permission. */
export type Reach = {
  base: string
  types: readonly string[] | null
  endpoint: string | null
  permission: Permission
  /** Whether its writes to production are proposed. */
  proposes: boolean
}

/** The part of the grants that lies within the reach: never more than either. */
export const narrowGrants = (own: readonly Grant[], reach: Reach): Grant[] =>
  own.flatMap((grant): Grant[] => {
    const isHere = reach.base === '*' || isOnBase(toRule(grant), reach.base)
    const on = isHere ? namesWithin(grant, reach) : undefined
    if (!on) return []
    const least = level(reach.permission) < level(grant.permission) ? reach.permission : grant.permission
    // Only records of production and previews together can be proposed; of the rest, reading is left.
    const canPropose = on.record_type !== undefined && grant.environment === '*'
    const permission = (reach.proposes || proposes(grant)) && !canPropose ? 'read' : least
    const writes = reach.proposes ? ('propose' as const) : grant.writes
    return [
      {
        base: reach.base === '*' ? grant.base : reach.base,
        ...on,
        environment: grant.environment,
        permission,
        ...(permission !== 'read' && writes !== undefined && { writes }),
      },
    ]
  })

/** The types or endpoints of a grant that the reach has; undefined for none. A grant on all types has the endpoints of its bases. */
function namesWithin(
  { record_type: types, endpoint: endpoints }: Grant,
  reach: Reach,
): Pick<Grant, 'record_type' | 'endpoint'> | undefined {
  if (reach.endpoint !== null) {
    const has = listed(types).includes('*') || listed(endpoints).includes(reach.endpoint)
    return has ? { endpoint: reach.endpoint } : undefined
  }
  if (reach.types === null) return types === undefined ? { endpoint: endpoints } : { record_type: types }
  const left = reach.types.filter((type) => listed(types).includes('*') || listed(types).includes(type))
  return left.length > 0 ? { record_type: left } : undefined
}
