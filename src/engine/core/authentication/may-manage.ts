import { oneFault } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { type Access, isAdministrator } from '../../storage/access/access.ts'
import { type Grant, PERMISSIONS } from '../../storage/access/grants.ts'
import type { Scope } from '../scope.ts'
import type { Token } from './authenticate.ts'

export const ADMIN_OF_ALL: Grant = { base: '*', record_type: '*', environment: '*', permission: 'admin' }
export const administersAll = (access: Access) => access.covers(ADMIN_OF_ALL)
/** Whether the caller has all of the grant with `admin`, and so may give it. */
export const administers = (access: Access, grant: Grant) => access.covers({ ...grant, permission: 'admin' })
/**
 * Whether the caller may list and revoke the token. Only an administrator of all bases manages a token
 * without grants, such as one whose base was deleted.
 */
export async function manages(access: Access, { grants }: Token): Promise<boolean> {
  if (grants.length === 0) return administersAll(access)
  for (const grant of grants) {
    if (turnIsOver()) await nextTurn()
    if (!administers(access, grant)) return false
  }
  return true
}

/** @throws FORBIDDEN without an admin grant on any base or endpoint */
export function requireAnyAdmin({ access }: Scope, what: 'tokens' | 'secrets' = 'tokens'): void {
  if (isAdministrator(access)) return
  throw oneFault('FORBIDDEN', `Managing ${what} needs "admin" on their bases.`, {
    path: '',
    code: 'missing_permission',
    message: 'Use a token with an admin grant.',
    expected: { permission: PERMISSIONS.at(-1) },
  })
}

/** @throws FORBIDDEN unless the caller administers everything */
export function requireAllAdmin({ access }: Scope, what: string): void {
  if (administersAll(access)) return
  throw oneFault('FORBIDDEN', `${what} needs "admin" on all bases.`, {
    path: '',
    code: 'missing_permission',
    message: 'Use the administrator token.',
  })
}

/** @throws FORBIDDEN if the caller's own grants do not cover the grant */
export function requireGrant(access: Access, grant: Grant): void {
  if (!access.covers(grant)) throw outside('', 'The token no longer has the grants that this request needs.')
}

/** The bases that a grant names. */
export const basesOf = ({ base }: Grant): readonly string[] => (typeof base === 'string' ? [base] : base)

/** What only a token of Plinth, or one of the caller's own, does. */
export const tokenRequired = (refused: string, message: string, path = '') =>
  oneFault('FORBIDDEN', refused, { path, code: 'token_required', message })

/** Error detail for a grant outside the caller's own grants. */
export const outside = (path: string, message: string) =>
  oneFault('FORBIDDEN', message, { path, code: 'outside_own_grants' })
