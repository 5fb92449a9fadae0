/** Authorization: compiles the grants of a token into one predicate that every read and write asks. */
import { productionOf } from '../../contract/ids.ts'
import { DomainError } from '../../foundation/errors.ts'

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
  /** The rights that these are a part of, where a scope is narrowed. */
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

/** Answers a predicate remembers; callers choose the names that are asked for. */
const MAX_DECIDED = 1000
const LONGEST = 200
/** A name as a refusal repeats it: of what cannot be one, the start. */
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
      // No name of ours is that long: what a caller makes up is not kept.
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

/** What one way in leaves of a token's rights: these record types only, at most this permission; null leaves all. */
export type Narrowing = { types: readonly string[] | null; permission: Permission | null }

/** The rights of both: those of the access, within the narrowing. What it sees stays in sight, if with nothing in it. */
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

/** What is left of rights that are narrowed to types: those on records. */
const ON_RECORDS = ['read', 'write'] as const

/** The same rights on the records of some types of one base, and none on that base as a whole or on anything else. */
export function accessToTypes(access: Access, baseId: string, types: Iterable<string>): Access {
  const environment = productionOf(baseId) === baseId ? 'production' : 'preview'
  const grants = [...types].flatMap((recordType): Grant[] => {
    const permission = ON_RECORDS.findLast((each) => access.allows(each, baseId, recordType))
    return permission ? [{ base: baseId, record_type: [recordType], environment, permission }] : []
  })
  return { ...compileAccess(grants), whole: access.whole ?? access }
}

/** The grants of the token itself, whatever part of them a scope has. */
export const wholeGrants = (access: Access): readonly Grant[] => (access.whole ?? access).grants

/** The types of the base the token may do this to, for a statement; null for all of them. */
export function namedTypes(access: Access, permission: Permission, baseId: string): string[] | null {
  const types = access.types(permission, baseId)
  return types === '*' ? null : [...types]
}

/** The one refusal: the same words whether or not what was asked for exists. */
export function demand(access: Access, permission: Permission, baseId: string, recordType: string): void {
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

/** The token may, but not here. */
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

/** Refuses a base the token has no grant on at all, whether or not it exists. */
export function demandSight(access: Access, baseId: string): void {
  if (access.sees(baseId)) return
  if (access.whole?.sees(baseId)) throw outOfReach(baseId, '*')
  throw new DomainError('FORBIDDEN', `The token has no grant on base "${short(baseId)}".`, {
    details: [{ path: '', code: 'missing_permission', message: 'Use a token with a grant on this base.' }],
  })
}
