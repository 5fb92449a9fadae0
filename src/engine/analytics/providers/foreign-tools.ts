import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import type { ProviderId } from './codec.ts'
import type { Json } from './input.ts'

const LABELS: Record<ProviderId, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  mcp: 'MCP',
}

/** Rejects a tool definition in another provider's format, and names that provider. */
export function refuseForeignTool(tool: Json, own: ProviderId, at: string): void {
  const other = toolShape(tool)
  if (other && other !== own) throw foreign('tool definition', other, own, at, `providers/${other}/import`)
}

/** Rejects a tool call in another provider's format, and names that provider. */
export function refuseForeignCall(call: Json, own: ProviderId, at: string): void {
  const other = callShape(call)
  if (other && other !== own)
    throw foreign('tool call', other, own, at, `providers/${other}/records/<record type>`)
}

/** The error for a server-side tool: it has no parameters, so it cannot become a record type. */
export function serverTool(name: string, at: string, allowed: readonly string[]) {
  return invalid({
    path: at,
    code: 'unsupported',
    message: `"${name}" is not a function tool: it has no parameters to make a record type of. Leave it out.`,
    received: name,
    allowed,
  })
}

function toolShape(tool: Json): ProviderId | undefined {
  if (has(tool, 'functionDeclarations', 'function_declarations')) return 'google'
  if (tool['type'] === 'function' || isObject(tool['function'])) return 'openai'
  if (has(tool, 'input_schema')) return 'anthropic'
  if (has(tool, 'inputSchema')) return 'mcp'
  if (tool['type'] === undefined && has(tool, 'parameters', 'parametersJsonSchema', 'parameters_json_schema'))
    return 'google'
  return undefined
}

function callShape(call: Json): ProviderId | undefined {
  // A `function_call` with a JSON string of arguments is the legacy OpenAI format.
  const inner = call['functionCall'] ?? call['function_call']
  if (isObject(inner)) return typeof inner['arguments'] === 'string' ? 'openai' : 'google'
  if (call['type'] === 'tool_use') return 'anthropic'
  if (call['type'] === 'function' || call['type'] === 'function_call' || isObject(call['function']))
    return 'openai'
  if (call['type'] !== undefined) return undefined
  if (has(call, 'jsonrpc', 'params')) return 'mcp'
  if (typeof call['arguments'] === 'string') return 'openai'
  if (has(call, 'arguments')) return 'mcp'
  if (has(call, 'input')) return 'anthropic'
  return has(call, 'args') ? 'google' : undefined
}

function foreign(what: string, other: ProviderId, own: ProviderId, at: string, route: string) {
  return invalid({
    path: at,
    code: 'other_provider',
    message: `This is ${a(other)} ${what}, not ${a(own)} one. Send it to …/${route}.`,
    expected: own,
    received: other,
    hint: route,
  })
}

function a(id: ProviderId): string {
  return `${id === 'google' ? 'a' : 'an'} ${LABELS[id]}`
}

function has(object: Json, ...keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(object, key))
}

/** The first key variant that the object has, else the first variant. */
export function spelling(
  object: Json,
  ...keys: readonly [string, ...string[]]
): { key: string; value: unknown } {
  const key = keys.find((each) => Object.hasOwn(object, each)) ?? keys[0]
  return { key, value: object[key] ?? undefined }
}
