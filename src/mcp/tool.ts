import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { check, inBody } from '../check.ts'
import { digest } from '../digest.ts'
import { type Context, demandNeed, type Permission } from '../graphql/context.ts'
import { LIMITS } from '../limits.ts'
import { fitted } from './budget.ts'
import { decodeStringified } from './decode.ts'
import { takeEchoes } from './echoes.ts'
import { withApproval } from './plan.ts'
import { projectSchema } from './projection/index.ts'
import type { PortableSchema } from './projection/publish.ts'
import type { Caller } from './provider.ts'
import { Reading } from './reading.ts'
import { success, type ToolResult } from './result.ts'
import { addressOf, type Session } from './session.ts'

/** A tool as clients see it. All hints that mean something are written out: clients approve calls by them. */
export type ToolDefinition = {
  name: string
  description: string
  inputSchema: PortableSchema
  outputSchema: object
  annotations: {
    /** Here and not beside the name: here clients of every protocol version look for it. */
    title: string
    readOnlyHint: boolean
    /** Of a tool that writes, like the next. */
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint: boolean
  }
}

type Spec<In extends z.ZodObject> = {
  title: string
  description: string
  /** What the token must hold somewhere in the base for the tool to be listed. */
  permission: Permission
  /** What a call must hold, where some take less than others. */
  permissionOf?: (args: Record<string, unknown>) => Permission
  hints: { destructive?: boolean; idempotent?: boolean }
  input: In
  output: object
  /** Is the answer content of records, which a reader must not take for instructions? */
  showsRecords?: boolean
  /** Has the server what the tool stands on? Always, when left out. */
  available?: (context: Context) => boolean
  /** Does it tolerate what a record says of itself, sent back with it? That comes as `stated`. */
  takesEchoes?: boolean
  /** What it answers; a `Reading` where it takes `max_tokens`. */
  run: (args: Given<In>, context: Context, caller: Caller) => Promise<object>
}

type Given<In extends z.ZodObject> = z.output<In> & { base_id: string; stated?: object }

/** One row of the MCP contract that is not of one record type. */
export type Tool = {
  name: string
  permission: Permission
  /** A tool that the server has switched off is not listed; its call says so. */
  available(context: Context): boolean
  /** As listed on `/mcp/{base}`, or, with `base_id` among its arguments, on `/mcp`. */
  define(withBase: boolean): ToolDefinition
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, session: Session, caller: Caller): Promise<ToolResult>
  /** The tool of a base with some of its arguments given, under a name of its own. */
  bind(as: Binding): BoundTool
}

type Binding = {
  name: string
  title: string
  description: string
  /** Arguments that are given. */
  given: Readonly<Record<string, unknown>>
  /** Arguments that it does not have. */
  without?: readonly string[]
  /** The values that an argument may have. */
  only?: Readonly<Record<string, readonly string[]>>
}

/** Where a tool of one base is called: by whom, at which address, and whether that has resources to link to. */
export type Place = { base: string; at: string; context: Context; hasResources: boolean }

/** A tool whose every argument that is not the caller's is given. */
type BoundTool = {
  definition: ToolDefinition
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, place: Place, caller: Caller): Promise<ToolResult>
}

const baseId = { base_id: z.string() }

const always = () => true

/** A tool of a base. */
export function tool<In extends z.ZodObject>(name: string, spec: Spec<In>): Tool {
  const inBase = publish(spec.input)
  // Made once: zod compiles each new shape at its first use.
  const withBaseId = z.strictObject({ ...baseId, ...spec.input.shape })
  const anywhere = publish(withBaseId)
  return {
    name,
    permission: spec.permission,
    available: spec.available ?? always,
    define: (withBase) => definition(name, spec, withBase ? anywhere : inBase),
    async call(args, session, caller) {
      const { base, context } = session
      demandFirst(args, base, spec.permissionOf?.(args) ?? spec.permission, context)
      const shape = base === null ? withBaseId : spec.input
      const { args: own, stated } = spec.takesEchoes ? takeEchoes(args) : { args }
      const meant = withoutFiller(own, shape)
      const plain = check(shape, decodeStringified(meant, base === null ? anywhere : inBase), inBody())
      const given = { base_id: base ?? '', ...plain, ...(stated && { stated }) } as Given<In>
      return run(spec, given, [addressOf(session), name, args], plain as Asked, context, caller)
    },
    bind: (as) => bound(spec, as),
  }
}

/** A tool with some of its arguments given; the engine says what the token may not do. */
function bound<In extends z.ZodObject>(spec: Spec<In>, as: Binding): BoundTool {
  const { name, title, description, given, without = [], only = {} } = as
  const gone = [...Object.keys(given), ...without].filter((key) => Object.hasOwn(spec.input.shape, key))
  const chosen = Object.entries(only).map(([key, values]) => [key, z.enum(values)])
  const shape = spec.input
    .omit(Object.fromEntries(gone.map((key) => [key, true])) as never)
    .extend(Object.fromEntries(chosen)) as z.ZodObject
  const published = publish(shape)
  return {
    definition: definition(name, { ...spec, title, description } as unknown as Spec<z.ZodObject>, published),
    async call(args, { base, at, context, hasResources }, caller) {
      const { args: own, stated } = spec.takesEchoes ? takeEchoes(args) : { args }
      const plain = check(shape, decodeStringified(withoutFiller(own, shape), published), inBody())
      const whole = { base_id: base, ...plain, ...given, ...(stated && { stated }) } as unknown as Given<In>
      return run(spec, whole, [at, name, args], plain as Asked, context, caller, hasResources)
    },
  }
}

/** Clients that cannot call without arguments make one up. */
const FILLER = 'random_string'

function withoutFiller(args: Record<string, unknown>, shape: z.ZodObject): Record<string, unknown> {
  if (
    !Object.hasOwn(args, FILLER) ||
    Object.values(shape.shape).some((each) => !each.safeParse(undefined).success)
  )
    return args
  const { [FILLER]: _, ...meant } = args
  return meant
}

/** What the token may not do is said before what the arguments lack; the engine asks again. */
function demandFirst(
  args: Record<string, unknown>,
  base: string | null,
  permission: Permission,
  context: Context,
): void {
  const { base_id = null, record_type } = args
  const at = base ?? base_id
  if (typeof at !== 'string') return
  const ofType = typeof record_type === 'string'
  demandNeed(context, ofType ? { permission, base: at, recordType: record_type } : { sight: at })
}

/** A tool of an endpoint; it is called in a context that reaches no more than the tool may. */
export type EndpointTool = BoundTool & {
  /** What it is of, for those who look at an endpoint; null for tools of no one type. */
  recordType: string | null
  operation: string
}

/** A tool of the account, listed on `/mcp` only. */
export function accountTool<In extends z.ZodObject>(name: string, spec: Spec<In>): Tool {
  const input = publish(spec.input)
  return {
    name,
    permission: spec.permission,
    available: spec.available ?? always,
    define: () => definition(name, spec, input),
    async call(args, session, caller) {
      const meant = withoutFiller(args, spec.input)
      const plain = check(spec.input, decodeStringified(meant, input), inBody())
      const given = plain as Given<In>
      return run(spec, given, [addressOf(session), name, args], plain as Asked, session.context, caller)
    },
    bind: (as) => bound(spec, as),
  }
}

/** The argument of every read: how long its answer may be, in tokens; 4,000 when left out. */
export const reading = {
  max_tokens: z.int().min(LIMITS.answerTokensMin).max(LIMITS.answerTokensMax).optional(),
}

/** The arguments of every write; the server's instructions say what they are for. */
export const writing = { idempotency_key: z.string().optional(), dry_run: z.boolean().optional() }

/** The same of a tool that may delete many things, and then asks first. */
export const deleting = { ...writing, plan_token: z.string().optional() }

type Asked = {
  idempotency_key?: string | undefined
  dry_run?: boolean | undefined
  plan_token?: string | undefined
  max_tokens?: number | undefined
}
/** Where a call was made, of what tool, and with what arguments. */
type Request = readonly [at: string, name: string, args: Record<string, unknown>]

/** Runs a call; one that deletes many things once it is approved of. */
async function run<In extends z.ZodObject>(
  spec: Spec<In>,
  given: Given<In>,
  request: Request,
  how: Asked,
  context: Context,
  caller: Caller,
  hasResources = true,
): Promise<ToolResult> {
  const done = await withApproval((token) => {
    const { plan_token = token, ...rest } = how
    return spec.run(given, asked(context, request, { ...rest, plan_token }), caller)
  }, caller)
  const { showsRecords = false } = spec
  return done instanceof Reading
    ? fitted(hasResources ? done : done.unlinked(), how.max_tokens ?? LIMITS.answerTokens, showsRecords)
    : success(done, showsRecords)
}

/** The context of one call: its writes carry the call's key and the plan it approves of, and are named after the call. */
export function asked(
  context: Context,
  [at, name, { plan_token: _, ...args }]: Request,
  { idempotency_key, dry_run, plan_token }: Asked,
): Context {
  return {
    ...context,
    write: {
      idempotencyKey: idempotency_key ?? null,
      dryRun: dry_run ?? false,
      fingerprint: () => digest(['mcp', at, name, args]),
      plan: { token: plan_token ?? null },
      replayed: false,
    },
  }
}

const definition = (
  name: string,
  { title, description, permission, hints, output }: Spec<z.ZodObject>,
  inputSchema: PortableSchema,
): ToolDefinition => ({
  name,
  description,
  inputSchema: withoutOpen(inputSchema),
  outputSchema: output,
  annotations: {
    title,
    readOnlyHint: permission === 'read',
    ...(permission !== 'read' && {
      destructiveHint: hints.destructive ?? false,
      idempotentHint: hints.idempotent ?? false,
    }),
    openWorldHint: false,
  },
})

/** That an object may hold anything is what an object without properties says anyhow. */
function withoutOpen(schema: PortableSchema): PortableSchema {
  const { additionalProperties, properties } = schema
  if (schema.type === 'object' && additionalProperties === true && !properties) {
    const { additionalProperties: _, ...rest } = schema
    return rest
  }
  if (schema.items) return { ...schema, items: withoutOpen(schema.items) }
  if (!properties) return schema
  const lean = Object.entries(properties).map(([name, property]) => [name, withoutOpen(property)])
  return { ...schema, properties: Object.fromEntries(lean) }
}

/** The shape as every client takes it. */
function publish(shape: z.ZodObject): PortableSchema {
  const whole = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any', override: sparing })
  return projectSchema(whole).schema
}

/**
 * Every list of tools is paid for: what zod says of all integers and objects, bounds no caller meets, and defaults, which
 * the answers tell, go unsaid.
 */
function sparing({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = 0 } = jsonSchema
  delete jsonSchema.default
  if (maximum >= LIMITS.pageMax) delete jsonSchema.maximum
  if (minimum <= LIMITS.answerTokensMin) delete jsonSchema.minimum
  delete jsonSchema.minLength
  delete jsonSchema.maxLength
  if (jsonSchema.propertyNames) delete jsonSchema.propertyNames
  if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) jsonSchema.additionalProperties = true
}
