/** What an MCP tool is: definition, arguments, call. */
import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'
import { type Context, mayOnWhole, type Permission, requireNeed } from '../../graphql/context.ts'
import { type AddressSession, addressOf } from '../protocol/address-session.ts'
import type { Caller } from '../protocol/provider.ts'
import type { ToolResult } from '../protocol/result.ts'
import { readArguments, splitReadOnlyFields } from './decode-arguments.ts'
import { withPlanned } from './planned-arguments.ts'
import { type Binding, type BoundTool, bound } from './tool-binding.ts'
import { type CallOptions, type Given, runTool, type Spec } from './tool-call.ts'
import { definition, publish, type ToolDefinition } from './tool-definition.ts'

/** A generic tool: an MCP tool that is not specific to one record type. */
export type Tool = {
  name: string
  permission: Permission
  /** Listed only at addresses that name it, because tool lists cost tokens. */
  onlyNamed: boolean
  /** Listed only at addresses that name it, and callable at all. */
  isUnlisted: boolean
  /** Listed only where the token sees a file type, or at addresses that name it. */
  ofFiles: boolean
  /** Not listed in a change-set; and what writes, nor where the token proposes. A call explains why. */
  notInChangeSets: boolean
  /** The base whose grants decide. */
  decidesAt(base: string): string
  /** Whether server and token have what each call needs. If not, it is not listed, and a call explains why. */
  available(context: Context, base: string | null): boolean
  /** Definition as listed on `/mcp/{base}`, or with a `base_id` argument on `/mcp`. */
  define(withBase: boolean): ToolDefinition
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, session: AddressSession, caller: Caller): Promise<ToolResult>
  /** Binds the tool of a base to preset arguments, under its own name. */
  bind(as: Binding): BoundTool
}

/** A tool with a read-only variant for tokens without write access. */
export type TwoSided = Tool & { readonly reads?: Tool }

const baseId = { base_id: z.string() }

/** Where and to whom a tool is listed. */
const traits = <In extends z.ZodObject>(name: string, spec: Spec<In>) => ({
  name,
  permission: spec.permission,
  onlyNamed: spec.onlyNamed ?? false,
  isUnlisted: spec.isUnlisted ?? false,
  ofFiles: spec.ofFiles ?? false,
  notInChangeSets: spec.notInChangeSets ?? false,
  decidesAt: spec.decidesAt ?? ((base: string) => base),
  available: (context: Context, base: string | null) =>
    (spec.available?.(context) ?? true) &&
    (spec.ofWhole === undefined || mayOnWhole(context, spec.ofWhole, base)),
})

/** Defines a tool of a base. */
export function tool<In extends z.ZodObject>(name: string, spec: Spec<In>): Tool {
  const inBase = publish(spec.input)
  const takesPlans = Object.hasOwn(spec.input.shape, 'plan_token')
  // Created once, because zod compiles each new shape at its first use.
  const withBaseId = z.strictObject({ ...baseId, ...spec.input.shape })
  const anywhere = publish(withBaseId)
  return {
    ...traits(name, spec),
    define: (withBase) => definition(name, spec, withBase ? anywhere : inBase),
    async call(sent, session, caller) {
      const { base, context } = session
      const args = await withPlanned(sent, takesPlans, [addressOf(session), name], context)
      requireAccess(args, base, spec.permissionOf?.(args) ?? spec.permission, context)
      const shape = base === null ? withBaseId : spec.input
      const { args: own, stated } = spec.acceptsReadOnlyFields ? splitReadOnlyFields(args) : { args }
      const plain = readArguments(own, shape, base === null ? anywhere : inBase)
      const given = { base_id: base ?? '', ...plain, ...(stated && { stated }) } as Given<In>
      return runTool(
        spec,
        given,
        [addressOf(session), name, args],
        plain as CallOptions,
        context,
        caller,
        session,
      )
    },
    bind: (as) => bound(name, spec, as),
  }
}

/** A tool that a session may call. */
export type ToolCall = (args: Record<string, unknown>, caller: Caller) => Promise<ToolResult>

/** Defines an account tool, listed on `/mcp` only. */
export function accountTool<In extends z.ZodObject>(name: string, spec: Spec<In>): Tool {
  const input = publish(spec.input)
  const takesPlans = Object.hasOwn(spec.input.shape, 'plan_token')
  return {
    ...traits(name, spec),
    define: () => definition(name, spec, input),
    async call(sent, session, caller) {
      const at = addressOf(session)
      const args = await withPlanned(sent, takesPlans, [at, name], session.context)
      const plain = readArguments(args, spec.input, input)
      const given = plain as Given<In>
      const request = [at, name, args] as const
      return runTool(spec, given, request, plain as CallOptions, session.context, caller, session)
    },
    bind: (as) => bound(name, spec, as),
  }
}

/** Checks permissions before arguments, so that 403 precedes 400. The engine checks again. */
function requireAccess(
  args: Record<string, unknown>,
  base: string | null,
  permission: Permission,
  context: Context,
): void {
  const { base_id = null, record_type } = args
  const at = base ?? base_id
  if (typeof at !== 'string') return
  const ofType = typeof record_type === 'string'
  requireNeed(context, ofType ? { permission, base: at, recordType: record_type } : { baseAccess: at })
}

/** Argument of all read tools: maximum tokens of the result; 4,000 by default. */
export const reading = {
  max_tokens: z.int().min(LIMITS.answerTokensMin).max(LIMITS.answerTokensMax).optional(),
}

/** Arguments of all write tools. The server instructions explain them. */
export const writing = { idempotency_key: z.string().optional(), dry_run: z.boolean().optional() }

/** Arguments of tools that ask for approval first. A `plan_token` alone replaces the planned arguments. */
export const deleting = { ...writing, plan_token: z.string().optional() }
