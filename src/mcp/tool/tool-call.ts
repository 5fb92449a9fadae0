import type { z } from 'zod'
import type { PlanKind } from '../../contract/plan-messages.ts'
import { type Context, newWrite, type Permission } from '../../graphql/context.ts'
import { fitted } from '../budget/fit.ts'
import { lean } from '../budget/lean.ts'
import { ReadResult } from '../budget/read-result.ts'
import type { Caller } from '../protocol/provider.ts'
import { type Shape, type ShowsRecords, success, type ToolResult } from '../protocol/result.ts'
import { decisionMeta, IN_VIEW } from '../views/decisions.ts'
import { decidesInView, detailsFor } from '../views/views.ts'
import { type DeletionPlanBody, isPlan, withApproval } from './approval.ts'
import type { Described } from './tool-definition.ts'

/** The specification of a generic tool. */
export type Spec<In extends z.ZodObject> = Described & {
  /** The required permission of a call, if it depends on the arguments. */
  permissionOf?: (args: Record<string, unknown>) => Permission
  input: In
  /** Whether the result contains record content and needs the prompt injection warning. */
  showsRecords?: ShowsRecords
  /** Listed only at addresses that name the tool. */
  onlyNamed?: boolean
  /** Listed only at addresses that name the tool; others can call it too. */
  isUnlisted?: boolean
  /** The base whose grants decide, if it is another than that of the address. */
  decidesAt?: (base: string) => string
  /** The permission on the whole of a base without which each call fails, if there is one. */
  ofWhole?: Permission
  /** Whether the tool is of files: listed only where the token sees a file type, or the address names it. */
  ofFiles?: boolean
  /** Whether the server has the feature that the tool needs; always, by default. */
  available?: (context: Context) => boolean
  /** Whether change-sets lack what the tool does: writes that no change-set holds, or reads that none has. */
  notInChangeSets?: boolean
  /** Whether the tool accepts read-only record fields sent back with a write. `run` gets them as `stated`. */
  acceptsReadOnlyFields?: boolean
  /** The answer at `?profile=lean`, where it is shorter than others become. */
  lean?: Shape
  /** The kind of plan that a call may answer first; by default a deletion. */
  plans?: PlanKind
  /** Runs the tool. Returns a body, or a `Reading` if the tool takes `max_tokens`. */
  run: (args: Given<In>, context: Context, caller: Caller, where: CalledAt) => Promise<object>
}

/**
 * Properties of the called address: resources to link to, public URL, and the listed tools if they are
 * restricted.
 */
type Where = {
  hasResources?: boolean
  publicUrl?: string | undefined
  tools?: readonly string[] | null
  profile?: 'lean' | null
  hasViews?: boolean
  /** The tool that is bound under another name. */
  of?: string
}
/** `Where` together with the address itself. */
export type CalledAt = Where & { at: string }

/** Validated arguments of a call. */
export type Given<In extends z.ZodObject> = z.output<In> & { base_id: string; stated?: object }

/** Write options among the arguments. */
export type CallOptions = {
  idempotency_key?: string | undefined
  dry_run?: boolean | undefined
  plan_token?: string | undefined
  max_tokens?: number | undefined
}

/** Identity of a call for idempotency: address, tool and arguments. */
type Request = readonly [at: string, name: string, args: Record<string, unknown>]

/** Runs a tool call, with approval if it answers a plan. */
export async function runTool<In extends z.ZodObject>(
  { showsRecords = false, plans = 'deletion', run, lean: own }: Spec<In>,
  given: Given<In>,
  request: Request,
  how: CallOptions,
  context: Context,
  caller: Caller,
  where: Where = {},
): Promise<ToolResult> {
  const [at, name] = request
  const isInView = where.hasViews === true && decidesInView(where.of ?? name)
  let details: { 'plinth/view'?: object } = {}
  const once = async (token?: string) => {
    const { plan_token = token, ...rest } = how
    const within = asked(context, request, { ...rest, plan_token })
    const answer = await run(given, within, caller, { ...where, at })
    if (where.hasViews) details = detailsFor(answer)
    return answer instanceof ReadResult ? answer : inChangeSet(answer, within)
  }
  const done = await withApproval(once, plans, caller, isInView)
  const shape: Shape | undefined = where.profile === 'lean' ? (body) => lean(own?.(body) ?? body) : undefined
  if (isInView && isPlan(done)) {
    const decision = { of: 'plan', tool: name, base: given.base_id, token: done.plan_token } as const
    return withMeta(planInView(done), { ...details, ...decisionMeta(context, at, decision) })
  }
  const result =
    done instanceof ReadResult
      ? await fitted(
          where.hasResources === false ? done.unlinked() : done,
          how.max_tokens,
          showsRecords,
          shape,
        )
      : success(done, showsRecords, shape)
  return withMeta(result, isInView ? withUndo(details, plans, context) : details)
}

/** What the view of a write can take back: the request. A promotion is rolled back, not undone. */
const withUndo = (details: { 'plinth/view'?: object }, plans: PlanKind, { scope }: Context): object =>
  plans === 'promotion'
    ? details
    : { 'plinth/view': { ...details['plinth/view'], request_id: scope.requestId } }

const withMeta = (result: ToolResult, meta: object): ToolResult =>
  'body' in result && Object.keys(meta).length > 0 ? { ...result, meta: { ...result.meta, ...meta } } : result

/** A plan without its token: the model shows it, and the person decides. */
function planInView({ plan_token: _, ...plan }: DeletionPlanBody): ToolResult {
  return success({ ...plan, next: IN_VIEW }, false)
}

/** The answer to a write into a change-set, which it names. */
export const inChangeSet = <T extends object>(answer: T, { write: { changeSet } }: Context): T =>
  changeSet === null ? answer : { ...answer, change_set: changeSet }

/**
 * The arguments without those of plan and idempotency. Copied lazily, because they can have thousands of
 * members.
 */
const identityOf = ({ plan_token: _, idempotency_key: __, ...args }: Request[2]): object => args

/**
 * The write context of one call: idempotency key, approved plan, dry run, and the request that the key is
 * bound to.
 */
export function asked(
  context: Context,
  [at, name, args]: Request,
  { idempotency_key, dry_run, plan_token }: CallOptions,
): Context {
  return {
    ...context,
    write: {
      ...newWrite(),
      idempotencyKey: idempotency_key ?? null,
      dryRun: dry_run ?? false,
      request: () => ['mcp', at, name, identityOf(args)],
      plan: { token: plan_token ?? null },
    },
  }
}
