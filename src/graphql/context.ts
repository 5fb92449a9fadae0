import { digest } from '../contract/canonical-hash.ts'
import { anyPreviewOf, productionOf } from '../contract/ids.ts'
import type { Task, TaskChange } from '../engine/automation/tasks/tasks.ts'
import * as tasks from '../engine/automation/tasks/tasks.ts'
import { actionOfTool, endpointPolicy, enterEndpoint } from '../engine/configuration/endpoints/index.ts'
import { areRightsCurrent } from '../engine/configuration/tokens/index.ts'
import { proposesTo } from '../engine/core/change-set/change-set-scope.ts'
import { requireExistingBase } from '../engine/core/existing-base.ts'
import type { PolicyInput } from '../engine/core/policy.ts'
import { withPolicy } from '../engine/core/row-policy/narrow.ts'
import { seal, unseal } from '../engine/core/sealed-token.ts'
import * as plans from '../engine/core/write/plan-store.ts'
import type { Engine, Scope, TokenSession, Via } from '../engine/engine.ts'
import { beforeProposals } from '../engine/environments/change-sets/proposals.ts'
import type { EndedCall } from '../engine/log/calls/made-call.ts'
import type { ToolCall } from '../engine/log/tool-call.ts'
import {
  type Access,
  isAdministrator,
  isPausedBy,
  requireBaseAccess,
  requireKnownBase,
  requirePermission,
  requireTypeGrants,
  withProposals,
} from '../engine/storage/access/access.ts'
import type { Permission } from '../engine/storage/access/grants.ts'
import { type Narrowing, narrowAccess } from '../engine/storage/access/narrow-access.ts'
import { type ReserveBytes, ResponseBudget } from '../engine/storage/database/capped-query.ts'
import type { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'

export type { Task, TaskChange } from '../engine/automation/tasks/tasks.ts'
export { type SentToken, sentToken } from '../engine/configuration/tokens/index.ts'
export type { Surface } from '../engine/log/calls/made-call.ts'
export type { Permission } from '../engine/storage/access/grants.ts'
export type { ReserveBytes } from '../engine/storage/database/capped-query.ts'

/** Whether the caller is known to still have the rights that the context was opened with, without a query. */
export const isAuthorized = ({ scope }: Context): boolean => areRightsCurrent(scope)

/** The request context that every resolver gets. */
export type Context = {
  readonly scope: Scope
  /** Write options of the surface. GraphQL arguments of the same names take precedence. */
  readonly write: RequestWrite
}
type RequestWrite = {
  idempotencyKey: string | null
  dryRun: boolean
  /**
   * Identity of the request for idempotency, as the surface saw it; null derives it from mutation and
   * arguments.
   */
  request: (() => unknown) | null
  /**
   * Approval: null runs writes at once; a null token asks for a plan; otherwise the approved token.
   */
  plan: { token: string | null } | null
  /** Set when the response is replayed for a repeated Idempotency-Key. */
  replayed: boolean
  /** Set to the change-set that a write went into: others see it once it is promoted. */
  changeSet: string | null
  /** Set to the change-set that the request has read or written. */
  seenIn: string | null
  /** The entity tags of `If-Match`, each with its version in `expectedVersions`: 0 for one that is none of production. */
  tags: readonly string[] | null
}

/** The options of a request that has not said any. */
export const newWrite = (): RequestWrite => ({
  idempotencyKey: null,
  dryRun: false,
  request: null,
  plan: null,
  replayed: false,
  changeSet: null,
  seenIn: null,
  tags: null,
})

/** Opens the request context of an authenticated token. */
export const openContext = (
  engine: Engine,
  session: TokenSession,
  via: Via,
  requestId: string,
  closed?: () => AbortSignal,
  reserveBytes?: ReserveBytes,
): Context => ({
  scope: engine.scope(session, via, requestId, closed, reserveBytes),
  write: newWrite(),
})

/**
 * Narrows the access of a context, for addresses that expose less. All later checks see only the narrowed
 * access.
 */
export function narrowed(context: Context, narrowing: Narrowing): Context {
  if (narrowing.types === null && narrowing.permission === null) return context
  const access = narrowAccess(context.scope.access, narrowing)
  return { ...context, scope: { ...context.scope, access } }
}

/**
 * Applies row policies: narrows the context to some types of one base, each with the restrictions of its
 * tool. Only once per context.
 * @throws VALIDATION_ERROR for a malformed filter or field list
 */
export const narrowedToBounds = (context: Context, base: string, types: readonly PolicyInput[]): Context => ({
  ...context,
  scope: withPolicy(context.scope, base, types),
})

/**
 * The context of a caller at an endpoint, where its endpoint grants count. Only for resolving the endpoint:
 * everything else runs in a context that `throughEndpoint` narrows.
 * @throws FORBIDDEN without a grant that reaches the endpoint; NOT_FOUND if it is absent or disabled
 */
export const atEndpoint = async (context: Context, base: string, endpoint: string): Promise<Context> => ({
  ...context,
  scope: await enterEndpoint(context.scope, base, endpoint),
})

type Part = { tool: string } | 'resources' | 'records'

/** Narrows a context to a tool of an endpoint, to its resources, or to all of its records; and what it may propose there. */
export async function throughEndpoint(
  context: Context,
  base: string,
  endpoint: string,
  what: Part,
): Promise<Context> {
  const narrow = await narrowedToPart(context, base, endpoint, what)
  const { access: entered } = context.scope
  const own = (entered.whole ?? entered).atEndpoint(base, endpoint)
  // A grant of the endpoint that writes says so for itself.
  if (!mayPropose(context, base) || (own !== null && own !== 'read')) return narrow
  const proposing = { ...context, scope: beforeProposals(context.scope, base) }
  const { access, policy } = (await narrowedToPart(proposing, base, endpoint, what)).scope
  return policy
    ? { ...narrow, scope: { ...narrow.scope, proposal: { baseId: base, access, policy } } }
    : narrow
}

async function narrowedToPart(
  context: Context,
  base: string,
  endpoint: string,
  what: Part,
): Promise<Context> {
  const types = await endpointPolicy(context.scope, base, endpoint, what)
  const narrow = narrowedToBounds(context, base, types)
  const action =
    typeof what === 'string' ? null : await actionOfTool(context.scope, base, endpoint, what.tool)
  const { policy } = narrow.scope
  if (action === null || !policy) return narrow
  const listing = narrowedToBounds(context, base, action.listing).scope
  if (!listing.policy) return narrow
  const reached = {
    id: action.id,
    runAs: action.runAs,
    listing: { access: listing.access, policy: listing.policy },
  }
  return { ...narrow, scope: { ...narrow.scope, policy: { ...policy, action: reached } } }
}

/**
 * A permission check that precedes validation: a permission on a type or anywhere in a base, a grant on types
 * of a base, any grant on it, `read` on an endpoint, or none.
 */
export type Need =
  | { permission: Permission; base: string; recordType: string }
  | { permission: Permission; anyOf: string }
  /** `orPreviews`: or of the base's previews. */
  | { baseAccess: string; orPreviews?: true }
  | { all: readonly Need[] }
  | { knownBase: string }
  | { endpoint: { base: string; id: string } }
  | { admin: true }
  | null

/** @throws FORBIDDEN if the token has no grant on types of the base; NOT_FOUND if it does not exist */
export const requireBase = ({ scope }: Context, base: string): Promise<void> =>
  requireExistingBase(scope, base)

/** @throws FORBIDDEN if the token has nothing but endpoint grants */
export const requireBases = ({ scope }: Context): void => requireTypeGrants(scope.access)

/** The effective access, with and without row policies, and with what the token may propose. */
const allRights = ({ scope: { access, policy, proposal } }: Context): Access =>
  withProposals((proposal?.policy ?? policy)?.access ?? access)

/** Checks a permission early, so that 403 precedes 400. The engine checks again. */
export function requireNeed(context: Context, need: Need): void {
  if (!need) return
  const access = allRights(context)
  if ('all' in need) for (const each of need.all) requireNeed(context, each)
  else if ('baseAccess' in need) {
    const { baseAccess, orPreviews } = need
    if (!orPreviews || !access.sees(anyPreviewOf(baseAccess))) requireBaseAccess(access, baseAccess)
  } else if ('knownBase' in need) requireKnownBase(access, need.knownBase)
  else if ('endpoint' in need) {
    const { base, id } = need.endpoint
    if (access.atEndpoint(base, id) === null) requirePermission(access, 'read', base, '*')
  } else if ('admin' in need) {
    if (!isAdministrator(access)) requirePermission(access, 'admin', '*', '*')
  } else if ('anyOf' in need) {
    if (!mayAnywhere(context, need.permission, need.anyOf))
      requirePermission(access, need.permission, need.anyOf, '*')
  } else requirePermission(access, need.permission, need.base, need.recordType)
}

/** The error where a person paused the token in the base. */
export function pausedAt(context: Context, base: string | null): DomainError | undefined {
  const paused = base !== null && allRights(context).paused.get(productionOf(base))
  return paused ? isPausedBy(productionOf(base), paused) : undefined
}

/** Whether what the token writes to the base is proposed. */
export const mayPropose = ({ scope }: Context, base: string): boolean =>
  productionOf(base) === base && proposesTo(scope, base)

/** Whether the token can read records of the type, with or without a row policy. */
export const mayRead = (context: Context, base: string, recordType: string): boolean =>
  allRights(context).allows('read', base, recordType)

/** Whether the token can write records of the type. */
export const mayWrite = (context: Context, base: string, recordType: string): boolean =>
  allRights(context).allows('write', base, recordType)

/** Whether the token has the permission anywhere in the base, or in any base if `base` is null. */
export function mayAnywhere(context: Context, permission: Permission, base: string | null): boolean {
  const access = allRights(context)
  const found = base === null ? access.bases(permission) : access.types(permission, base)
  return found === '*' || found.size > 0
}

/** Whether the token has the permission on the base as a whole, or may have it on one if `base` is null. */
export const mayOnWhole = (context: Context, permission: Permission, base: string | null): boolean =>
  base === null ? mayAnywhere(context, permission, null) : context.scope.access.allows(permission, base, '*')

/** Whether the context can read any record type of the base, with or without a row policy. */
export const seesBase = ({ scope }: Context, base: string): boolean => {
  const types = (scope.policy?.access ?? scope.access).types('read', base)
  return types === '*' || types.size > 0
}

const namesOfGrants = new WeakMap<Access['grants'], string>()

/** The servers of this process, by a part that each has one of. Tests open several, with bases of the same ids. */
const servers = new WeakMap<object, number>()
let opened = 0
function serverOf({ egress }: Context['scope']): number {
  const server = servers.get(egress) ?? ++opened
  servers.set(egress, server)
  return server
}

/** Cache key for a set of grants on a server. Tokens with equal grants share it. */
export function grantsName({ scope }: Context): string {
  const { grants } = scope.access
  const name = namesOfGrants.get(grants) ?? digest(grants)
  namesOfGrants.set(grants, name)
  return `${serverOf(scope)} ${name}`
}

/** Identifies the rights of a context, with its row policies. */
export const rightsName = (context: Context): string =>
  `${grantsName(context)} ${context.scope.policy?.name ?? ''}`

/** Links the context to abort signals, made when one asks for them: `closed` ends its waits, `withdrawn` also its steps. */
export const endingWith = (
  context: Context,
  closed: () => AbortSignal,
  withdrawn?: () => AbortSignal,
): Context => ({
  ...context,
  scope: { ...context.scope, closed, ...(withdrawn && { withdrawn }) },
})

/** A context whose writes belong to an MCP tool call. */
export const duringCall = (context: Context, call: ToolCall): Context => ({
  ...context,
  scope: { ...context.scope, call },
})

/** Records one of the `calls` of a request that is over, behind its answer. */
export const recordCall = ({ scope }: Context, call: EndedCall, calls: number) =>
  scope.calls.record(call, scope.writes, calls)

/** The tasks of the caller. */
export const tasksOf = ({ scope }: Context) => ({
  open: () => tasks.openTask(scope),
  find: (id: string) => tasks.findTask(scope, id),
  change: (task: Task, change: TaskChange) => tasks.changeTask(scope, task, change),
  beat: (task: Task, message: string | null) => tasks.beatTask(scope, task, message),
  withdraw: (id: string) => tasks.withdrawTask(scope, id),
})
export type Tasks = ReturnType<typeof tasksOf>

/** A context for work that continues after the request: a client disconnect does not cancel it. */
export function outliving(context: Context): Context {
  const { closed: _, ...scope } = context.scope
  const answer = new ResponseBudget(LIMITS.mcpPageBytes, Number.POSITIVE_INFINITY)
  return { ...context, scope: { ...scope, answer } }
}

/**
 * Seals a text that the client carries. Only the same token can open it, and only with the same `boundTo`.
 */
export const sealText = ({ scope }: Context, boundTo: unknown, text: string): string =>
  seal(scope.keys.cursor, ['carried', scope.actor, boundTo], text)

/** Opens a text sealed by `sealText`; undefined if the token or `boundTo` differ, or the text is forged. */
export const unsealText = ({ scope }: Context, boundTo: unknown, sealed: string): string | undefined =>
  unseal(scope.keys.cursor, ['carried', scope.actor, boundTo], sealed)

/**
 * The identity of the request that a plan was made for, as `write.request` gave it.
 * @throws VALIDATION_ERROR when there is no such plan, or it is another caller's
 */
export const plannedRequest = ({ scope }: Context, token: string): Promise<unknown> =>
  plans.plannedRequest(scope, token)

export const { planOfAnotherCall } = plans
