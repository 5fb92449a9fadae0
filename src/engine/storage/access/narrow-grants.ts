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
  own.flatMap((grant) => {
    const on =
      reach.base === '*' || isOnBase(toRule(grant), reach.base) ? namesWithin(grant, reach) : undefined
    if (!on) return []
    const least = level(reach.permission) < level(grant.permission) ? reach.permission : grant.permission
    // Only records of production and previews together can be proposed; of the rest, reading is left.
    const canPropose = on.record_type !== undefined && grant.environment === '*'
    const permission = (reach.proposes || proposes(grant)) && !canPropose ? 'read' : least
    const writes = reach.proposes ? 'propose' : grant.writes
    return {
      ...on,
      base: reach.base === '*' ? grant.base : reach.base,
      environment: grant.environment,
      permission,
      ...(permission !== 'read' && writes !== undefined && { writes }),
    }
  })

type Names = Pick<Grant, 'record_type' | 'endpoint'>

/** The types or endpoints of a grant that the reach has; undefined for none. A grant on all types has the endpoints of its bases. */
function namesWithin({ record_type: types, endpoint }: Grant, reach: Reach): Names | undefined {
  if (reach.endpoint !== null)
    return listed(types).includes('*') || listed(endpoint).includes(reach.endpoint)
      ? { endpoint: reach.endpoint }
      : undefined
  if (reach.types === null) return types === undefined ? { endpoint } : { record_type: types }
  const left = reach.types.filter((type) => listed(types).includes('*') || listed(types).includes(type))
  return left.length > 0 ? { record_type: left } : undefined
}
