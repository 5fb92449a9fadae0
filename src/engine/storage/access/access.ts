/** Authorization: the rights of a token as one predicate for all reads and writes. */
import { isAnyPreview, productionOf } from '../../../contract/ids.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Grant, listed, type Permission, proposes, type Rule } from './grants.ts'

/** Compiled rights of a token. All surfaces use it for each read and write. */
export type Access = {
  /**
   * Whether the token has the permission on the type. `'*'` means the base as a whole: its configuration and
   * files.
   */
  allows(permission: Permission, baseId: string, recordType: string): boolean
  /** Whether the token has the permission on the files of the type. */
  allowsFiles(permission: 'read' | 'write', baseId: string, fileType: string): boolean
  /** The types of the base that the token has the permission on: all, or the listed ones. */
  types(permission: Permission, baseId: string): '*' | ReadonlySet<string>
  /** The types of a production base that the token writes by proposals: all, or the listed ones. */
  proposed(baseId: string): '*' | ReadonlySet<string>
  /** The grants by which it does, with their rules for direct writes. */
  proposing(baseId: string): readonly Rule[]
  /** Whether the token has a grant on types of the base. */
  sees(baseId: string): boolean
  /** Whether the token has any grant on the base. With endpoint grants alone, it sees only that the base exists. */
  knows(baseId: string): boolean
  /** The permission that endpoint grants give at the endpoint; null for none. */
  atEndpoint(baseId: string, endpointId: string): Permission | null
  /** The base ids that the grants on types name, or `'*'`. `sees` also includes their previews. */
  bases(permission: Permission): '*' | ReadonlySet<string>
  /** Whether the grants include everything that the given grant has; see `cover`. */
  covers(grant: Grant): boolean
  readonly grants: readonly Grant[]
  /** The production bases in which a person paused the token: there, and in their previews, it only reads. */
  readonly paused: Paused
  /** The complete rights, when the scope is restricted to a part of them. */
  readonly whole?: Access
  /** The grants of the token itself, where these are made of them for the records of another base. */
  readonly issued?: readonly Grant[]
}

/** Who paused a token in a base, and the review request that resumes it. */
export type PausedBy = { readonly request: string; readonly by: string; readonly note: string | null }
export type Paused = ReadonlyMap<string, PausedBy>

/** Whether the token has any admin grant, and so may make tokens within it. */
export const isAdministrator = ({ grants }: Access): boolean =>
  grants.some(({ permission }) => permission === 'admin')

const named = (types: '*' | ReadonlySet<string>, recordType: string): boolean =>
  types === '*' || types.has(recordType)

const extended = new WeakMap<Access, Access>()

/** The rights with those to propose, for checks before the engine's: what is written decides where it goes. */
export function withProposals(access: Access): Access {
  const known = extended.get(access)
  if (known) return known
  const made = access.grants.some(proposes) ? extend(access) : access
  extended.set(access, made)
  return made
}

const extend = (access: Access): Access => ({
  ...access,
  allows: (permission, baseId, recordType) =>
    access.allows(permission, baseId, recordType) ||
    (permission === 'write' && named(access.proposed(baseId), recordType)),
  types: (permission, baseId) => {
    const [own, proposed] = [access.types(permission, baseId), access.proposed(baseId)]
    if (permission !== 'write' || own === '*') return own
    return proposed === '*' ? '*' : new Set([...own, ...proposed])
  },
})

/** The grants of the token itself, regardless of restrictions of the scope. */
export const wholeGrants = ({ whole, issued, grants }: Access): readonly Grant[] =>
  issued ?? (whole ? wholeGrants(whole) : grants)

/** The types of the base that the token has the permission on, as a SQL parameter; null for all. */
export function namedTypes(access: Access, permission: Permission, baseId: string): string[] | null {
  const types = access.types(permission, baseId)
  return types === '*' ? null : [...types]
}

/** Shortens a name for an error message. */
const short = (name: string) => (name.length > 200 ? `${name.slice(0, 64)}…` : name)

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
  const { whole, paused } = access
  const pausedBy = paused.get(productionOf(baseId))
  if (pausedBy && permission !== 'read') throw isPausedBy(productionOf(baseId), pausedBy)
  if (whole?.allows(permission, baseId, recordType)) throw outOfReach(baseId, recordType)
  if (hasEndpointsOnly(whole ?? access, baseId))
    throw whole ? outOfReach(baseId, recordType) : endpointsOnly(access, baseId)
  if (permission === 'write' && named(access.proposed(baseId), recordType)) throw notProposable(baseId)
  // A preview that has no name yet has the id of any.
  const isOfAny = isAnyPreview(baseId)
  const [base, type] = [short(isOfAny ? productionOf(baseId) : baseId), short(recordType)]
  const place = `${isOfAny ? 'previews of ' : ''}base "${base}"`
  const all = base === '*' ? 'all bases' : `the whole of ${place}`
  const what = type === '*' ? all : `type "${type}" in ${place}`
  throw oneFault('FORBIDDEN', `The token lacks "${permission}" on ${what}.`, {
    path: '',
    code: 'missing_permission',
    message: `Use a token with a grant that holds "${permission}" on ${what}.`,
    expected: { base, record_type: type, permission, ...(isOfAny && { environment: 'preview' }) },
  })
}

/**
 * Authorization check of files: of the base as a whole, or of the file types that an S3 credential reaches.
 * @throws FORBIDDEN
 */
export function requireFiles(
  access: Access,
  permission: 'read' | 'write',
  baseId: string,
  fileType: string,
): void {
  if (!access.allowsFiles(permission, baseId, fileType)) requirePermission(access, permission, baseId, '*')
}

/** Error for a write of a token that a person paused. */
export function isPausedBy(baseId: string, { request, by, note }: PausedBy): DomainError {
  const why = note === null ? '' : ` and says: "${note}"`
  return oneFault('FORBIDDEN', `The token is paused in base "${short(baseId)}": ${by} paused it.`, {
    path: '',
    code: 'paused',
    message: `Stop writing. ${by} paused the token${why}. A person resumes it with review request "${request}"; it can read.`,
  })
}

/** Error for a write that no change-set holds, with a token that proposes. */
const notProposable = (baseId: string) =>
  oneFault(
    'FORBIDDEN',
    `The token proposes what it writes to base "${short(baseId)}", and this cannot be proposed.`,
    {
      path: '',
      code: 'proposes_only',
      message: 'Propose changes of records and relationships, or use a token whose grant writes directly.',
    },
  )

/** Error for a resource that the token may access, but not through this endpoint. */
const outOfReach = (baseId: string, recordType: string) =>
  oneFault(
    'FORBIDDEN',
    recordType === '*'
      ? `This endpoint gives access to a part of base "${short(baseId)}" only.`
      : `This endpoint does not allow this operation on type "${short(recordType)}".`,
    {
      path: '',
      code: 'out_of_reach',
      message: 'Use a tool that tools/list names, or an address with access to the whole base.',
    },
  )

const hasEndpointsOnly = (access: Access, baseId: string): boolean =>
  access.knows(baseId) && !access.sees(baseId)

/** Error for a token that reaches only endpoints of the base. They are no secret: its own grants name them. */
function endpointsOnly({ grants, atEndpoint }: Access, baseId: string): DomainError {
  const named = [...new Set(grants.flatMap(({ endpoint }) => listed(endpoint)))]
  const allowed = named
    .filter((id) => atEndpoint(baseId, id) !== null)
    .slice(0, LIMITS.errorDetails)
    .map((id) => `/mcp/${baseId}/e/${id}`)
  return oneFault('FORBIDDEN', `The token reaches only endpoints of base "${short(baseId)}".`, {
    path: '',
    code: 'endpoint_only',
    message: `Connect an MCP client to ${allowed[0]}, or use a token with a grant on record types.`,
    allowed,
  })
}

/**
 * Rejects a base that the token has no grant on, whether or not it exists.
 * @throws FORBIDDEN
 */
export function requireBaseAccess(access: Access, baseId: string): void {
  if (access.sees(baseId)) return
  if (access.whole?.knows(baseId)) throw outOfReach(baseId, '*')
  if (access.knows(baseId)) throw endpointsOnly(access, baseId)
  throw oneFault('FORBIDDEN', `The token has no grant on base "${short(baseId)}".`, {
    path: '',
    code: 'missing_permission',
    message: 'Use a token with a grant on this base.',
  })
}

/**
 * Rejects a base whose existence the token may not know. An endpoint grant is enough.
 * @throws FORBIDDEN
 */
export function requireKnownBase(access: Access, baseId: string): void {
  if (!access.knows(baseId)) requireBaseAccess(access, baseId)
}

/**
 * Rejects a token that has nothing but endpoint grants, for addresses of all bases.
 * @throws FORBIDDEN
 */
export function requireTypeGrants({ grants }: Access): void {
  if (grants.length === 0 || grants.some(({ record_type }) => record_type !== undefined)) return
  throw oneFault('FORBIDDEN', 'The token reaches only endpoints.', {
    path: '',
    code: 'endpoint_only',
    message:
      'Connect an MCP client to /mcp/{base_id}/e/{endpoint_id}, with a base and an endpoint of its grants.',
  })
}
