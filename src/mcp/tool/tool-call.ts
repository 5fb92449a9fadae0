import type { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context, Permission } from '../../graphql/context.ts'
import { fitted } from '../budget/fit.ts'
import { Reading } from '../budget/read-result.ts'
import type { Caller } from '../protocol/provider.ts'
import { type ShowsRecords, success, type ToolResult } from '../protocol/result.ts'
import { withApproval } from './deletion-approval.ts'
import type { Described } from './tool-definition.ts'

/** What a tool is made of. */
export type Spec<In extends z.ZodObject> = Described & {
  /** What a call must hold, where some take less than others. */
  permissionOf?: (args: Record<string, unknown>) => Permission
  input: In
  /** Is the answer content of records, which a reader must not take for instructions? */
  showsRecords?: ShowsRecords
  /** Is it only at addresses that name it? */
  onlyNamed?: boolean
  /** Has the server what the tool stands on? Always, when left out. */
  available?: (context: Context) => boolean
  /** Does it tolerate what a record says of itself, sent back with it? That comes as `stated`. */
  takesEchoes?: boolean
  /** What it answers; a `Reading` where it takes `max_tokens`. */
  run: (args: Given<In>, context: Context, caller: Caller, where: CalledAt) => Promise<object>
}

/** What the address of a call has: resources to link to, a name on the network, and tools, where it has not all. */
type Where = {
  hasResources?: boolean
  publicUrl?: string | undefined
  tools?: readonly string[] | null
}
/** The same, and which it is. */
type CalledAt = Where & { at: string }

/** The arguments of a call as its tool takes them. */
export type Given<In extends z.ZodObject> = z.output<In> & { base_id: string; stated?: object }

/** How a call is to be run, as its arguments say. */
export type Asked = {
  idempotency_key?: string | undefined
  dry_run?: boolean | undefined
  plan_token?: string | undefined
  max_tokens?: number | undefined
}

/** Where a call was made, of what tool, and with what arguments. */
type Request = readonly [at: string, name: string, args: Record<string, unknown>]

/** Runs a call; one that deletes many things once it is approved of. */
export async function runTool<In extends z.ZodObject>(
  { showsRecords = false, run }: Spec<In>,
  given: Given<In>,
  request: Request,
  how: Asked,
  context: Context,
  caller: Caller,
  where: Where = {},
): Promise<ToolResult> {
  const done = await withApproval((token) => {
    const { plan_token = token, ...rest } = how
    return run(given, asked(context, request, { ...rest, plan_token }), caller, { ...where, at: request[0] })
  }, caller)
  return done instanceof Reading
    ? fitted(
        where.hasResources === false ? done.unlinked() : done,
        how.max_tokens ?? LIMITS.answerTokens,
        showsRecords,
      )
    : success(done, showsRecords)
}

/** Copied only when it is asked for: arguments may have thousands of members. */
const withoutPlan = ({ plan_token: _, ...args }: Request[2]): object => args

/** The context of one call: its writes carry the call's key and the plan it approves of, and are named after the call. */
export function asked(
  context: Context,
  [at, name, args]: Request,
  { idempotency_key, dry_run, plan_token }: Asked,
): Context {
  return {
    ...context,
    write: {
      idempotencyKey: idempotency_key ?? null,
      dryRun: dry_run ?? false,
      request: () => ['mcp', at, name, withoutPlan(args)],
      plan: { token: plan_token ?? null },
      replayed: false,
    },
  }
}
