import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { check, inBody } from '../check.ts'
import { digest } from '../digest.ts'
import { type Context, demandNeed, type Permission } from '../graphql/context.ts'
import { decodeStringified } from './decode.ts'
import { projectSchema } from './projection/index.ts'
import type { PortableSchema } from './projection/publish.ts'
import type { Session } from './session.ts'

/** A tool as clients see it. All hints are written out: clients approve calls by them. */
export type ToolDefinition = {
  name: string
  description: string
  inputSchema: PortableSchema
  outputSchema: object
  annotations: {
    /** Here and not beside the name: here clients of every protocol version look for it. */
    title: string
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
}

type Spec<In extends z.ZodObject> = {
  title: string
  description: string
  /** What the token must hold somewhere in the base for the tool to be listed. */
  permission: Permission
  hints: { destructive?: boolean; idempotent?: boolean }
  input: In
  output: object
  /** Is the answer content of records, which a reader must not take for instructions? */
  showsRecords?: boolean
  /** Has the server what the tool stands on? Always, when left out. */
  available?: (context: Context) => boolean
  run: (args: z.output<In> & { base_id: string }, context: Context) => Promise<object>
}

/** One row of the MCP contract that is not of one record type. */
export type Tool = {
  name: string
  permission: Permission
  showsRecords: boolean
  /** A tool that the server has switched off is not listed; its call says so. */
  available(context: Context): boolean
  /** As listed on `/mcp/{base}`, or, with `base_id` among its arguments, on `/mcp`. */
  define(withBase: boolean): ToolDefinition
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, session: Session): Promise<object>
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
    showsRecords: spec.showsRecords ?? false,
    available: spec.available ?? always,
    define: (withBase) => definition(name, spec, withBase ? anywhere : inBase),
    async call(args, { base, context }) {
      demandFirst(args, base, spec.permission, context)
      const shape = base === null ? withBaseId : spec.input
      const plain = check(shape, decodeStringified(args, base === null ? anywhere : inBase), inBody())
      return spec.run(
        { base_id: base ?? '', ...plain } as z.output<In> & { base_id: string },
        asked(context, args, name, plain as Asked),
      )
    },
  }
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

/** A tool of the account, listed on `/mcp` only. */
export function accountTool<In extends z.ZodObject>(name: string, spec: Spec<In>): Tool {
  const input = publish(spec.input)
  return {
    name,
    permission: spec.permission,
    showsRecords: spec.showsRecords ?? false,
    available: spec.available ?? always,
    define: () => definition(name, spec, input),
    async call(args, { context }) {
      const plain = check(spec.input, decodeStringified(args, input), inBody())
      return spec.run(plain as z.output<In> & { base_id: string }, asked(context, args, name, plain as Asked))
    },
  }
}

/** The arguments of every write; the server's instructions say what they are for. */
export const writing = { idempotency_key: z.string().optional(), dry_run: z.boolean().optional() }

type Asked = { idempotency_key?: string | undefined; dry_run?: boolean | undefined }

/** The context of one call: its writes carry the call's key, and are named after the call. */
export function asked(
  context: Context,
  args: Record<string, unknown>,
  name: string,
  { idempotency_key, dry_run }: Asked,
): Context {
  return {
    ...context,
    write: {
      idempotencyKey: idempotency_key ?? null,
      dryRun: dry_run ?? false,
      fingerprint: () => digest(['mcp', name, args]),
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
  inputSchema,
  outputSchema: output,
  annotations: {
    title,
    readOnlyHint: permission === 'read',
    destructiveHint: hints.destructive ?? false,
    idempotentHint: hints.idempotent ?? false,
    openWorldHint: false,
  },
})

/** The shape as every client takes it. */
function publish(shape: z.ZodObject): PortableSchema {
  const whole = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any', override: sparing })
  return projectSchema(whole).schema
}

/** Every list of tools is paid for: what zod says of all integers and objects, and bounds no caller meets, go unsaid. */
function sparing({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { minimum = Number.NEGATIVE_INFINITY } = jsonSchema
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (minimum <= 1) delete jsonSchema.minimum
  delete jsonSchema.minLength
  delete jsonSchema.maxLength
  if (jsonSchema.propertyNames) delete jsonSchema.propertyNames
  if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) jsonSchema.additionalProperties = true
}
