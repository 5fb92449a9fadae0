/** Grants of a token, and whether one grant covers another. */
import { productionOf } from '../../../contract/ids.ts'

/** Permission levels. Each includes those before it. */
export const PERMISSIONS = ['read', 'write', 'manage', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

type Names = string | readonly string[]

/** A permission on record types, or on endpoints: exactly one of `record_type` and `endpoint` is set. */
export type Grant = {
  base: Names
  record_type?: Names | undefined
  endpoint?: Names | undefined
  environment: 'production' | 'preview' | '*'
  permission: Permission
  /**
   * How it writes to production: "propose" puts it into a change-set, rules do so with what they do not allow. Absent
   * for "direct".
   */
  writes?: 'direct' | 'propose' | { readonly auto: readonly AutoRule[] } | undefined
}

/** Changes of records that a token makes directly: at most so many in each hour, day or request. */
export type AutoRule = {
  readonly record_type: string
  readonly operations: readonly ('create' | 'update' | 'cancel' | 'restore' | 'delete')[]
  /** Paths of what an update may change, such as `data.stage`; absent for all. */
  readonly fields?: readonly string[] | undefined
  /** What holds for the record and, under `previous.`, for the one before. */
  readonly filter?: unknown
  readonly max: number
  readonly per: 'hour' | 'day' | 'request'
}

/** A grant, prepared for look-ups. One of `types` and `endpoints` is empty. */
export type Rule = {
  grant: Grant
  bases: ReadonlySet<string>
  types: ReadonlySet<string>
  endpoints: ReadonlySet<string>
  level: number
  /** In production, where a grant that proposes only reads. */
  levelInProduction: number
}

export const level = (permission: Permission): number => PERMISSIONS.indexOf(permission)
export const listed = (names: Names | undefined): readonly string[] =>
  typeof names === 'string' ? [names] : (names ?? [])

export const toRule = (grant: Grant): Rule => ({
  grant,
  bases: new Set(listed(grant.base)),
  types: new Set(listed(grant.record_type)),
  endpoints: new Set(listed(grant.endpoint)),
  level: level(grant.permission),
  levelInProduction: level(proposes(grant) ? 'read' : grant.permission),
})

/** Whether what the grant writes to production is proposed, but for what its rules allow. */
export const proposes = ({ writes, permission }: Grant): boolean =>
  writes !== undefined && writes !== 'direct' && permission !== 'read'

export const rulesOf = ({ writes }: Grant): readonly AutoRule[] =>
  typeof writes === 'object' ? writes.auto : []

/** Whether the rule is on the base. A rule on a base is also on its previews. */
export const isOnBase = ({ bases }: Rule, baseId: string): boolean =>
  bases.has('*') || bases.has(baseId) || bases.has(productionOf(baseId))

/**
 * Whether each entry of the wanted grant, which is one base with one record type or endpoint, lies within one
 * of the rules. A rule on all record types holds the endpoints of its bases. A rule on some does not, because
 * an endpoint can get other types later.
 */
export function cover(rules: readonly Rule[], wanted: Grant): boolean {
  const isDirect = wanted.environment !== 'preview' && !proposes(wanted)
  const able = rules.filter(
    ({ level: own, levelInProduction, grant: { environment } }) =>
      (isDirect ? levelInProduction : own) >= level(wanted.permission) &&
      (environment === '*' || environment === wanted.environment),
  )
  const onBases = masksOf(able, listed(wanted.base), isOnBase)
  const rest = [
    ...masksOf(able, listed(wanted.record_type), ({ types }, id) => types.has('*') || types.has(id)),
    ...masksOf(
      able,
      listed(wanted.endpoint),
      ({ types, endpoints }, id) => types.has('*') || endpoints.has(id),
    ),
  ]
  return rest.length > 0 && onBases.every((base) => rest.every((each) => meet(base, each)))
}

/**
 * For each name, the rules that hold it, as a bit mask; equal masks once. Lists have up to 1,000 names and a
 * token up to 100 grants, so a base and a type are compared as numbers.
 */
function masksOf(
  rules: readonly Rule[],
  names: readonly string[],
  holds: (rule: Rule, name: string) => boolean,
): Uint32Array[] {
  const masks = new Map<string, Uint32Array>()
  for (const name of names) {
    const mask = new Uint32Array(Math.ceil(rules.length / 32))
    rules.forEach((rule, i) => {
      if (holds(rule, name)) mask[i >> 5] = (mask[i >> 5] ?? 0) | (1 << (i & 31))
    })
    masks.set(mask.join(), mask)
  }
  return [...masks.values()]
}

function meet(one: Uint32Array, other: Uint32Array): boolean {
  for (let i = 0; i < one.length; i++) if (((one[i] ?? 0) & (other[i] ?? 0)) !== 0) return true
  return false
}
