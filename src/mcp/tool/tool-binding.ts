import { z } from 'zod'
import type { Context } from '../../graphql/context.ts'
import type { Caller } from '../protocol/provider.ts'
import type { ToolResult } from '../protocol/result.ts'
import { takeEchoes } from './read-only-fields.ts'
import { readArguments } from './tool-arguments.ts'
import { type Asked, type Given, runTool, type Spec } from './tool-call.ts'
import { definition, publish, type ToolDefinition } from './tool-definition.ts'

/** What a tool of a base is bound to. */
export type Binding = {
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
export type BoundTool = {
  definition: ToolDefinition
  /** @throws DomainError with paths relative to the arguments */
  call(args: Record<string, unknown>, place: Place, caller: Caller): Promise<ToolResult>
}

/** A tool of an endpoint; it is called in a context that reaches no more than the tool may. */
export type EndpointTool = BoundTool & {
  /** What it is of, for those who look at an endpoint; null for tools of no one type. */
  recordType: string | null
  operation: string
}

/** A tool with some of its arguments given; the engine says what the token may not do. */
export function bound<In extends z.ZodObject>(spec: Spec<In>, as: Binding): BoundTool {
  const { name, title, description, given, without = [], only = {} } = as
  const gone = [...Object.keys(given), ...without].filter((key) => Object.hasOwn(spec.input.shape, key))
  const chosen = Object.entries(only).map(([key, values]) => [key, z.enum(values)])
  const shape = spec.input
    .omit(Object.fromEntries(gone.map((key) => [key, true])) as never)
    .extend(Object.fromEntries(chosen)) as z.ZodObject
  const published = publish(shape)
  return {
    definition: definition(name, { ...spec, title, description }, published),
    async call(args, { base, at, context, hasResources }, caller) {
      const { args: own, stated } = spec.takesEchoes ? takeEchoes(args) : { args }
      const plain = readArguments(own, shape, published)
      const whole = { base_id: base, ...plain, ...given, ...(stated && { stated }) } as unknown as Given<In>
      return runTool(spec, whole, [at, name, args], plain as Asked, context, caller, { hasResources })
    },
  }
}
