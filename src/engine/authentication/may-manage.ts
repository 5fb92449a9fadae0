import { DomainError } from '../../foundation/errors.ts'
import { type Access, type Grant, PERMISSIONS } from '../access/access.ts'
import type { Scope } from '../core/scope.ts'
import type { Token } from './authenticate.ts'

export const ADMIN_OF_ALL: Grant = { base: '*', record_type: '*', environment: '*', permission: 'admin' }
export const administersAll = (access: Access) => access.covers(ADMIN_OF_ALL)
/** Whether the caller may give this grant. Requires admin on all of its bases. */
export const mayGrant = (access: Access, grant: Grant) => access.covers(grant) && administers(access, grant)
const administers = (access: Access, grant: Grant) => {
  const bases = access.bases('admin')
  return (
    access.covers({ ...grant, permission: 'admin' }) &&
    (bases === '*' || basesOf(grant).every((id) => id !== '*'))
  )
}
/** Only an administrator of all bases manages a token without grants, such as one whose base was deleted. */
export const manages = (access: Access, { grants }: Token) =>
  grants.length > 0 ? grants.every((grant) => administers(access, grant)) : administersAll(access)

/** @throws FORBIDDEN without an admin grant on any base */
export function requireAnyAdmin(scope: Scope): void {
  const bases = scope.access.bases('admin')
  if (bases === '*' || bases.size > 0) return
  throw new DomainError('FORBIDDEN', 'Managing tokens needs "admin" on their bases.', {
    details: [
      {
        path: '',
        code: 'missing_permission',
        message: 'Use a token with an admin grant.',
        expected: { permission: PERMISSIONS.at(-1) },
      },
    ],
  })
}

/** @throws FORBIDDEN if the caller's own grants do not cover the grant */
export function requireGrant(access: Access, grant: Grant): void {
  if (!access.covers(grant)) throw outside('', 'The token no longer has the grants that this request needs.')
}

/** The bases that a grant names. */
export const basesOf = ({ base }: Grant): readonly string[] => (typeof base === 'string' ? [base] : base)

/** Error detail for a grant outside the caller's own grants. */
export const outside = (path: string, message: string) =>
  new DomainError('FORBIDDEN', message, { details: [{ path, code: 'outside_own_grants', message }] })
