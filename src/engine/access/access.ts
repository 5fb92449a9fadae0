/** Authorization: compiles the grants of a token into one predicate for all reads and writes. */
import { productionOf } from '../../contract/ids.ts'
import { DomainError } from '../../foundation/errors.ts'

/** Permission levels. Each includes those before it. */
export const PERMISSIONS = ['read', 'write', 'manage', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type Grant = {
  base: string | readonly string[]
  record_type: string | readonly string[]
  environment: 'production' | 'preview' | '*'
  permission: Permission
}

/** Compiled rights of a token. All surfaces use it for each read and write. */
export type Access = {
  /**
   * Whether the token has the permission on the type. `'*'` means the base as a whole: its configuration and
   * files.
   */
  allows(permission: Permission, baseId: string, recordType: string): boolean
  /** The types of the base that the token has the permission on: all, or the listed ones. */
  types(permission: Permission, baseId: string): '*' | ReadonlySet<string>
  /** Whether the token has any grant on the base. */
  sees(baseId: string): boolean
  /** The base ids that the grants name, or `'*'`. `sees` also includes their previews. */
  bases(permission: Permission): '*' | ReadonlySet<string>
  /** Whether one of the grants includes everything that the given grant has. */
  covers(grant: Grant): boolean
  readonly grants: readonly Grant[]
  /** The complete rights, when the scope is restricted to a part of them. */
  readonly whole?: Access
}

const listed = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value
const level = (permission: Permission): number => PERMISSIONS.indexOf(permission)
const within = (
  inner: string | readonly string[],
  outer: string | readonly string[],
  same: (i: string, o: string) => boolean,
) => listed(outer).includes('*') || listed(inner).every((i) => listed(outer).some((o) => same(i, o)))

/** Size of the decision cache. Bounded, because callers choose the names. */
const MAX_DECIDED = 1000
const LONGEST = 200
/** Shortens a name for an error message. */
const short = (name: string) => (name.length > LONGEST ? `${name.slice(0, 64)}…` : name)

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
  // Grants of a compiled predicate never change, so decisions can be cached.
  const decided = new Map<string, boolean>()
  return {
    grants,
    allows: (permission, baseId, recordType) => {
      const question = `${permission} ${baseId} ${recordType}`
      const known = decided.get(question)
      if (known !== undefined) return known
      if (decided.size >= MAX_DECIDED) decided.clear()
      const answer = decide(permission, baseId, recordType)
      // No valid name is that long, so do not cache it.
      if (question.length > LONGEST) return answer
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

/**
 * Restriction of a token's rights: to these record types, and to at most this permission; null does not
 * restrict.
 */
export type Narrowing = { types: readonly string[] | null; permission: Permission | null }

/** Intersects the rights with the restriction. Bases stay visible, even when nothing in them is. */
export function narrowAccess(access: Access, { types, permission }: Narrowing): Access {
  const narrowed = (grant: Grant): Grant => ({
    ...grant,
    record_type: types
      ? types.filter((type) => within(type, grant.record_type, (i, o) => i === o))
      : grant.record_type,
    permission: permission && level(permission) < level(grant.permission) ? permission : grant.permission,
  })
  return { ...compileAccess(access.grants.map(narrowed)), whole: access.whole ?? access }
}

/** Permissions that remain when rights are restricted to types: those on records. */
const ON_RECORDS = ['read', 'write'] as const

/**
 * The same rights on the records of some types of one base, and none on the base itself or on anything else.
 */
export function accessToTypes(access: Access, baseId: string, types: Iterable<string>): Access {
  const environment = productionOf(baseId) === baseId ? 'production' : 'preview'
  const grants = [...types].flatMap((recordType): Grant[] => {
    const permission = ON_RECORDS.findLast((each) => access.allows(each, baseId, recordType))
    return permission ? [{ base: baseId, record_type: [recordType], environment, permission }] : []
  })
  return { ...compileAccess(grants), whole: access.whole ?? access }
}

/** The grants of the token itself, regardless of restrictions of the scope. */
export const wholeGrants = (access: Access): readonly Grant[] => (access.whole ?? access).grants

/** The types of the base that the token has the permission on, as a SQL parameter; null for all. */
export function namedTypes(access: Access, permission: Permission, baseId: string): string[] | null {
  const types = access.types(permission, baseId)
  return types === '*' ? null : [...types]
}

/**
 * Authorization check. The error is the same whether or not the resource exists.
 * @throws FORBIDDEN
 */
export function requirePermission(
  access: Access,
  permission: Permission,
  baseId: string,
  recordType: string,
): void {
  if (access.allows(permission, baseId, recordType)) return
  if (access.whole?.allows(permission, baseId, recordType)) throw outOfReach(baseId, recordType)
  const [base, type] = [short(baseId), short(recordType)]
  const what = type === '*' ? `the whole of base "${base}"` : `type "${type}" in base "${base}"`
  throw new DomainError('FORBIDDEN', `The token lacks "${permission}" on ${what}.`, {
    details: [
      {
        path: '',
        code: 'missing_permission',
        message: `Use a token with a grant that holds "${permission}" on ${what}.`,
        expected: { base, record_type: type, permission },
      },
    ],
  })
}

/** Error for a resource that the token may access, but not through this endpoint. */
const outOfReach = (baseId: string, recordType: string) =>
  new DomainError(
    'FORBIDDEN',
    recordType === '*'
      ? `This endpoint gives access to a part of base "${baseId}" only.`
      : `This endpoint does not allow this operation on type "${recordType}".`,
    {
      details: [
        {
          path: '',
          code: 'out_of_reach',
          message: 'Use a tool that tools/list names, or an address with access to the whole base.',
        },
      ],
    },
  )

/**
 * Rejects a base that the token has no grant on, whether or not it exists.
 * @throws FORBIDDEN
 */
export function requireBaseAccess(access: Access, baseId: string): void {
  if (access.sees(baseId)) return
  if (access.whole?.sees(baseId)) throw outOfReach(baseId, '*')
  throw new DomainError('FORBIDDEN', `The token has no grant on base "${short(baseId)}".`, {
    details: [{ path: '', code: 'missing_permission', message: 'Use a token with a grant on this base.' }],
  })
}
