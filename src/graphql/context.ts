import { digest } from '../contract/canonical-hash.ts'
import {
  type Access,
  demand,
  demandSight,
  type Narrowing,
  narrowAccess,
  type Permission,
} from '../engine/access/access.ts'
import { demandKnownBase } from '../engine/configuration/bases/index.ts'
import { endpointReach } from '../engine/configuration/endpoints/index.ts'
import { isStanding } from '../engine/configuration/tokens/index.ts'
import type { LensInput } from '../engine/core/policy.ts'
import { seal, unseal } from '../engine/core/sealed-token.ts'
import { AnswerBudget, type Hold } from '../engine/database/answer-budget.ts'
import type { Engine, Scope, Session, Via } from '../engine/engine.ts'
import { withLens } from '../engine/row-policy/narrow.ts'
import { LIMITS } from '../foundation/limits.ts'

export type { Permission } from '../engine/access/access.ts'
export type { Hold } from '../engine/database/answer-budget.ts'

/** Is it known at once that the caller still has the rights that the context was opened with? */
export const stands = ({ scope }: Context): boolean => isStanding(scope)

/** What one request carries into every resolver. */
export type Context = {
  readonly scope: Scope
  /** How the surface wants its writes run; GraphQL arguments of the same names come first. */
  readonly write: RequestWrite
}
type RequestWrite = {
  idempotencyKey: string | null
  dryRun: boolean
  /** The request as the surface saw it; null leaves it to the mutation and its arguments. */
  request: (() => unknown) | null
  /** Ask before many things are deleted, and the token of the plan that was approved; null runs what is sent. */
  plan: { token: string | null } | null
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
  hold?: Hold,
): Context => ({
  scope: engine.scope(session, via, requestId, closed, hold),
  write: { idempotencyKey: null, dryRun: false, request: null, plan: null, replayed: false },
})

/** The same caller with fewer rights, for a way in that leaves out some: all that follows knows only these. */
export function narrowed(context: Context, narrowing: Narrowing): Context {
  if (narrowing.types === null && narrowing.permission === null) return context
  const access = narrowAccess(context.scope.access, narrowing)
  return { ...context, scope: { ...context.scope, access } }
}

/**
 * The context narrowed to some types of one base, each within the bounds of its tool: nothing else of the token's grants is
 * in reach. Once a context. @throws VALIDATION_ERROR for a filter or fields that are not well formed
 */
export const narrowedToBounds = (context: Context, base: string, types: readonly LensInput[]): Context => ({
  ...context,
  scope: withLens(context.scope, base, types),
})

/** The context of a tool of an endpoint, or of its resources: no more of the base than these reach. */
export const throughEndpoint = async (
  context: Context,
  base: string,
  endpoint: string,
  what: { tool: string } | 'resources',
): Promise<Context> =>
  narrowedToBounds(context, base, await endpointReach(context.scope, base, endpoint, what))

/** What a request needs before its shape is looked at: a permission on a type or on any of a base, sight of a base, or nothing. */
export type Need =
  | { permission: Permission; base: string; recordType: string }
  | { permission: Permission; anyOf: string }
  | { sight: string }
  | { admin: true }
  | null

/** @throws FORBIDDEN without sight of the base; NOT_FOUND when it is not there */
export const demandBase = ({ scope }: Context, base: string): Promise<void> => demandKnownBase(scope, base)

/** What the context reaches at all, bounded or whole. */
const reachOf = ({ scope }: Context): Access => scope.lens?.access ?? scope.access

/** Asks the engine's own predicate early, so that 403 comes before 400; the engine asks it again. */
export function demandNeed(context: Context, need: Need): void {
  if (!need) return
  const access = reachOf(context)
  if ('sight' in need) demandSight(access, need.sight)
  else if ('admin' in need) {
    const bases = access.bases('admin')
    if (bases !== '*' && bases.size === 0) demand(access, 'admin', '*', '*')
  } else if ('anyOf' in need) {
    if (!mayAnywhere(context, need.permission, need.anyOf)) demand(access, need.permission, need.anyOf, '*')
  } else demand(access, need.permission, need.base, need.recordType)
}

/** May the token read records of the type, whole or within the bounds of an address? */
export const mayRead = (context: Context, base: string, recordType: string): boolean =>
  reachOf(context).allows('read', base, recordType)

/** May the token write records of the type? */
export const mayWrite = (context: Context, base: string, recordType: string): boolean =>
  reachOf(context).allows('write', base, recordType)

/** Has the token the permission on anything in the base, or, without one, on anything at all? */
export function mayAnywhere(context: Context, permission: Permission, base: string | null): boolean {
  const access = reachOf(context)
  const found = base === null ? access.bases(permission) : access.types(permission, base)
  return found === '*' || found.size > 0
}

/** Can any record of the base be read in the context, of types that are whole or bounded? */
export const reaches = ({ scope }: Context, base: string): boolean => {
  const types = (scope.lens?.access ?? scope.access).types('read', base)
  return types === '*' || types.size > 0
}

const namesOfGrants = new WeakMap<Access['grants'], string>()

/** A name for what the token may do: tokens of equal grants share one. */
export function grantsName({ scope }: Context): string {
  const { grants } = scope.access
  const name = namesOfGrants.get(grants) ?? digest(grants)
  namesOfGrants.set(grants, name)
  return name
}

/** The context whose waits end when the signal aborts. */
export const endingWith = (context: Context, signal: AbortSignal): Context => ({
  ...context,
  scope: { ...context.scope, closed: () => signal },
})

/** The same caller for what goes on when the request is over: its connection closes, and that ends nothing. */
export function outliving(context: Context): Context {
  const { closed: _, ...scope } = context.scope
  const answer = new AnswerBudget(LIMITS.mcpPageBytes, Number.POSITIVE_INFINITY)
  return { ...context, scope: { ...scope, answer } }
}

/** Seals a text that the one who asks carries for us: it opens for the same token only, with what it is bound to. */
export const sealText = ({ scope }: Context, boundTo: unknown, text: string): string =>
  seal(scope.keys.cursor, ['carried', scope.actor, boundTo], text)

/** The text that `sealText` sealed; undefined for any other. */
export const unsealText = ({ scope }: Context, boundTo: unknown, sealed: string): string | undefined =>
  unseal(scope.keys.cursor, ['carried', scope.actor, boundTo], sealed)
