import { DomainError } from '../errors.ts'
import { productionOf } from '../ids.ts'

/** Permission levels, each holding those before it. */
export const PERMISSIONS = ['read', 'write', 'manage', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type Grant = {
  base: string | readonly string[]
  record_type: string | readonly string[]
  environment: 'production' | 'preview' | '*'
  permission: Permission
}

/** What a token may do. Compiled once from its grants; every read and write asks it, whatever the surface. */
export type Access = {
  /** May it do this to the type in the base? `'*'` asks for the base as a whole: its configuration and files. */
  allows(permission: Permission, baseId: string, recordType: string): boolean
  /** The types of the base it may do this to: all of them, or those named. */
  types(permission: Permission, baseId: string): '*' | ReadonlySet<string>
  /** Has it any grant on the base? */
  sees(baseId: string): boolean
  /** The base ids its grants name, or `'*'`; previews of them included by `sees`. */
  bases(permission: Permission): '*' | ReadonlySet<string>
  /** Does one of its grants hold all that the given grant holds? */
  covers(grant: Grant): boolean
  readonly grants: readonly Grant[]
}

const listed = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value
const level = (permission: Permission): number => PERMISSIONS.indexOf(permission)
const within = (
  inner: string | readonly string[],
  outer: string | readonly string[],
  same: (i: string, o: string) => boolean,
) => listed(outer).includes('*') || listed(inner).every((i) => listed(outer).some((o) => same(i, o)))

/** Answers a predicate remembers; callers choose the names that are asked for. */
const MAX_DECIDED = 1000

export function compileAccess(grants: readonly Grant[]): Access {
  const rules = grants.map((grant) => ({
    grant,
    bases: new Set(listed(grant.base)),
    types: new Set(listed(grant.record_type)),
    level: level(grant.permission),
  }))
  const reaching = (permission: Permission, baseId: string) => {
    const production = productionOf(baseId)
    const environment = production === baseId ? 'production' : 'preview'
    return rules.filter(
      (rule) =>
        rule.level >= level(permission) &&
        (rule.grant.environment === '*' || rule.grant.environment === environment) &&
        (rule.bases.has('*') || rule.bases.has(baseId) || rule.bases.has(production)),
    )
  }
  const decide = (permission: Permission, baseId: string, recordType: string): boolean =>
    reaching(permission, baseId).some((rule) => rule.types.has('*') || rule.types.has(recordType))
  // Grants never change under a compiled predicate, so what was decided stays decided.
  const decided = new Map<string, boolean>()
  return {
    grants,
    allows: (permission, baseId, recordType) => {
      const question = `${permission} ${baseId} ${recordType}`
      const known = decided.get(question)
      if (known !== undefined) return known
      if (decided.size >= MAX_DECIDED) decided.clear()
      const answer = decide(permission, baseId, recordType)
      decided.set(question, answer)
      return answer
    },
    types: (permission, baseId) => {
      const found = reaching(permission, baseId)
      if (found.some((rule) => rule.types.has('*'))) return '*'
      return new Set(found.flatMap((rule) => [...rule.types]))
    },
    sees: (baseId) => reaching('read', baseId).length > 0,
    bases: (permission) => {
      const found = rules.filter((rule) => rule.level >= level(permission))
      if (found.some((rule) => rule.bases.has('*'))) return '*'
      return new Set(found.flatMap((rule) => [...rule.bases]))
    },
    covers: (wanted) =>
      grants.some(
        (own) =>
          level(own.permission) >= level(wanted.permission) &&
          (own.environment === '*' || own.environment === wanted.environment) &&
          within(wanted.base, own.base, (i, o) => i === o || (productionOf(i) === o && i !== o)) &&
          within(wanted.record_type, own.record_type, (i, o) => i === o),
      ),
  }
}

/** The one refusal: the same words whether or not what was asked for exists. */
export function demand(access: Access, permission: Permission, baseId: string, recordType: string): void {
  if (access.allows(permission, baseId, recordType)) return
  const what =
    recordType === '*' ? `the whole of base "${baseId}"` : `type "${recordType}" in base "${baseId}"`
  throw new DomainError('FORBIDDEN', `The token lacks "${permission}" on ${what}.`, {
    details: [
      {
        path: '',
        code: 'missing_permission',
        message: `Use a token with a grant that holds "${permission}" on ${what}.`,
        expected: { base: baseId, record_type: recordType, permission },
      },
    ],
  })
}

/** Refuses a base the token has no grant on at all, whether or not it exists. */
export function demandSight(access: Access, baseId: string): void {
  if (access.sees(baseId)) return
  throw new DomainError('FORBIDDEN', `The token has no grant on base "${baseId}".`, {
    details: [{ path: '', code: 'missing_permission', message: 'Use a token with a grant on this base.' }],
  })
}
