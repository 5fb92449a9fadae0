import { digest } from '../digest.ts'
import { demand, demandSight, type Permission } from '../engine/access.ts'
import type { Engine, Scope, Session, Via } from '../engine/engine.ts'

export type { Permission } from '../engine/access.ts'

/** What one request carries into every resolver. */
export type Context = {
  readonly scope: Scope
  /** How the surface wants its writes run; GraphQL arguments of the same names come first. */
  readonly write: RequestWrite
}
type RequestWrite = {
  idempotencyKey: string | null
  dryRun: boolean
  /** Names the request as the surface saw it; null leaves it to the mutation and its arguments. */
  fingerprint: (() => string) | null
  /** Set when the answer is that of an earlier request under the same key. */
  replayed: boolean
}

/** Opens the context of one request of an authenticated token. */
export const openContext = (
  engine: Engine,
  session: Session,
  via: Via,
  requestId: string,
  closed?: () => AbortSignal,
): Context => ({
  scope: engine.scope(session, via, requestId, closed),
  write: { idempotencyKey: null, dryRun: false, fingerprint: null, replayed: false },
})

/** What a request needs before its shape is looked at: a permission on a type, sight of a base, or nothing. */
export type Need =
  | { permission: Permission; base: string; recordType: string }
  | { sight: string }
  | { admin: true }
  | null

/** Asks the engine's own predicate early, so that 403 comes before 400; the engine asks it again. */
export function demandNeed({ scope }: Context, need: Need): void {
  if (!need) return
  if ('sight' in need) demandSight(scope.access, need.sight)
  else if ('admin' in need) {
    const bases = scope.access.bases('admin')
    if (bases !== '*' && bases.size === 0) demand(scope.access, 'admin', '*', '*')
  } else demand(scope.access, need.permission, need.base, need.recordType)
}

/** May the token write records of the type? */
export const mayWrite = ({ scope }: Context, base: string, recordType: string): boolean =>
  scope.access.allows('write', base, recordType)

/** Has the token the permission on anything in the base, or, without one, on anything at all? */
export function mayAnywhere({ scope }: Context, permission: Permission, base: string | null): boolean {
  const found = base === null ? scope.access.bases(permission) : scope.access.types(permission, base)
  return found === '*' || found.size > 0
}

/** A name for what the token may do: tokens of equal grants share one. */
export const grantsName = ({ scope }: Context): string => digest(scope.access.grants)
