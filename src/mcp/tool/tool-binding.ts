import { z } from 'zod'
import type { Context } from '../../graphql/context.ts'
import type { Caller } from '../protocol/provider.ts'
import type { ToolResult } from '../protocol/result.ts'
import { readArguments, splitReadOnlyFields } from './decode-arguments.ts'
import { withPlanned } from './planned-arguments.ts'
import { type CallOptions, type Given, runTool, type Spec } from './tool-call.ts'
import { definition, publish, type ToolDefinition } from './tool-definition.ts'

/** A binding: a tool of a base with preset, removed and restricted arguments. */
export type Binding = {
  name: string
  title: string
  description: string
  /** Preset arguments. */
  given: Readonly<Record<string, unknown>>
  /** Removed arguments. */
  without?: readonly string[]
  /** Allowed values by argument. */
  only?: Readonly<Record<string, readonly string[]>>
}

/**
 * Where a bound tool is called: base, address, caller, and whether the address serves resources to link to.
 */
export type CallSite = {
  base: string
  at: string
  context: Context
  hasResources: boolean
  /** Whether the client shows views, and the address has what they call. */
  hasViews?: boolean
}

/** A tool with preset arguments. The caller supplies the rest. */
export type BoundTool = {
  definition: ToolDefinition
  /** The name of the tool that is bound. */
  of: string
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, place: CallSite, caller: Caller): Promise<ToolResult>
}

/** A tool of an endpoint. It runs in a context that is narrowed to what the tool may access. */
export type EndpointTool = Omit<BoundTool, 'of'> & {
  of?: string
  /** The record type, for previews of an endpoint; null for tools that are not of one type. */
  recordType: string | null
  operation: string
}

/** Binds a tool to preset arguments. The engine enforces the permissions. */
export function bound<In extends z.ZodObject>(of: string, spec: Spec<In>, as: Binding): BoundTool {
  const { name, title, description, given, without = [], only = {} } = as
  const gone = [...Object.keys(given), ...without].filter((key) => Object.hasOwn(spec.input.shape, key))
  const chosen = Object.entries(only).map(([key, values]) => [key, z.enum(values)])
  const shape = spec.input
    .omit(Object.fromEntries(gone.map((key) => [key, true])) as never)
    .extend(Object.fromEntries(chosen)) as z.ZodObject
  const published = publish(shape)
  const takesPlans = Object.hasOwn(shape.shape, 'plan_token')
  return {
    of,
    definition: definition(name, { ...spec, title, description }, published),
    async call(sent, { base, at, context, hasResources, hasViews = false }, caller) {
      const args = await withPlanned(sent, takesPlans, [at, name], context)
      const { args: own, stated } = spec.acceptsReadOnlyFields ? splitReadOnlyFields(args) : { args }
      const plain = readArguments(own, shape, published)
      const whole = { base_id: base, ...plain, ...given, ...(stated && { stated }) } as unknown as Given<In>
      const where = { hasResources, hasViews, of }
      return runTool(spec, whole, [at, name, args], plain as CallOptions, context, caller, where)
    },
  }
}
