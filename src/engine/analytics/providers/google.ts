import { invalid } from '../../../foundation/errors.ts'
import { type OpenedTool, type ProviderCodec, rewrite } from './codec.ts'
import { refuseForeignCall, refuseForeignTool, serverTool, spelling } from './foreign-tools.ts'
import {
  type Json,
  onlyKeys,
  pointer,
  readArguments,
  readCallId,
  readObject,
  readString,
  wrongType,
} from './input.ts'
import { followRef } from './schema-out.ts'
import { toGoogle } from './schema-to-google.ts'

const LISTS = ['functionDeclarations', 'function_declarations'] as const
const OPEN_API = 'parameters'
const JSON_SCHEMA = ['parametersJsonSchema', 'parameters_json_schema'] as const
const TOOL_KEYS = [
  'name',
  'description',
  OPEN_API,
  ...JSON_SCHEMA,
  'response',
  'responseJsonSchema',
  'response_json_schema',
  'behavior',
]

/**
 * Codec for Gemini, on the developer API and Vertex AI; keys in camel case, or in snake case from the Python
 * client.
 */
export const google: ProviderCodec = {
  id: 'google',
  label: 'Google',
  namePattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,

  open(native, at) {
    const tool = readObject(
      native,
      at,
      'A tool must be an object such as {"functionDeclarations":[{"name":"…"}]}.',
    )
    refuseForeignTool(tool, 'google', at)
    const { key, value } = spelling(tool, ...LISTS)
    if (value === undefined && tool['name'] !== undefined) return [openOne(tool, at)]
    const server = Object.keys(tool).find((each) => each !== key)
    if (server !== undefined && !TOOL_KEYS.includes(server))
      throw serverTool(server, pointer(at, server), LISTS)
    onlyKeys(tool, at, value === undefined ? TOOL_KEYS : [key], 'A Google tool')
    const place = pointer(at, key)
    if (!Array.isArray(value)) throw wrongType(value, place, 'an array')
    return value.map((each, i) => openOne(readObject(each, pointer(place, i)), pointer(place, i)))
  },

  project(schema, note, native) {
    // Google accepts JSON Schema under a newer key; a tool imported with it keeps that key.
    const acceptsJsonSchema = native !== null && native.dialect === 'json'
    return acceptsJsonSchema ? { ...followRef(schema, schema), type: 'object' } : toGoogle(schema, note)
  },

  write(draft) {
    const key = draft.native?.schemaAt.split('/').at(-1) ?? OPEN_API
    const empty = draft.schema && Object.keys(draft.schema['properties'] ?? {}).length === 0
    // Google rejects an object schema without properties, so a function without arguments has no parameters.
    if (!empty || key !== OPEN_API) return rewrite(draft, key)
    const { [OPEN_API]: _none, ...tool } = rewrite(draft, key)
    return tool
  },

  wrap: (tools) => (tools.length > 0 ? [{ functionDeclarations: [...tools] }] : []),

  readCall(native, at = '') {
    const part = readObject(native, at)
    refuseForeignCall(part, 'google', at)
    if (part['name'] !== undefined && part['args'] !== undefined) throw bareCall(at)
    const { key } = spelling(part, 'functionCall', 'function_call')
    const place = pointer(at, key)
    const call = readObject(part[key], place)
    onlyKeys(
      part,
      at,
      [key, 'thought', 'thoughtSignature', 'thought_signature'],
      'A Google functionCall part',
    )
    onlyKeys(call, place, ['id', 'name', 'args'], 'A Google functionCall')
    const argumentsAt = pointer(place, 'args')
    const { id, name, args } = call
    return {
      provider: 'google',
      form: key === 'functionCall' ? 'camel' : 'snake',
      name: readString(name, pointer(place, 'name')),
      nameAt: pointer(place, 'name'),
      callId: id === undefined || id === null ? null : readCallId(id, pointer(place, 'id')),
      arguments: readArguments(args ?? undefined, argumentsAt),
      argumentsAt,
    }
  },

  toolResult(call, outcome) {
    const id = call.callId === null ? {} : { id: call.callId }
    const answer = { ...id, name: call.name, response: { ...outcome } }
    return call.form === 'snake' ? { function_response: answer } : { functionResponse: answer }
  },
}

function openOne(tool: Json, at: string): OpenedTool {
  refuseForeignTool(tool, 'google', at)
  onlyKeys(tool, at, TOOL_KEYS, 'A Google function declaration')
  const given = [OPEN_API, ...JSON_SCHEMA].filter((key) => tool[key] !== undefined && tool[key] !== null)
  const [key, second] = [given[0] ?? OPEN_API, given[1]]
  if (second !== undefined) {
    const message = `A function declaration has "${key}" or "${second}", not both.`
    throw invalid({ path: pointer(at, second), code: 'exclusive', message, hint: `Leave out "${key}".` })
  }
  return {
    definition: tool,
    name: tool['name'],
    nameAt: pointer(at, 'name'),
    title: undefined,
    titleAt: '',
    description: tool['description'],
    descriptionAt: pointer(at, 'description'),
    schema: tool[key] ?? undefined,
    schemaAt: pointer(at, key),
    dialect: key === OPEN_API ? 'google' : 'json',
  }
}

function bareCall(at: string) {
  return invalid({
    path: pointer(at, 'functionCall'),
    code: 'required',
    message: 'Send the whole part: {"functionCall":{"name":"…","args":{…}}}.',
    expected: '{"functionCall":{"name":"…","args":{…}}}',
  })
}
