import { type ProviderCodec, rewrite } from './codec.ts'
import { refuseForeignCall, refuseForeignTool, serverTool } from './foreign-tools.ts'
import {
  onlyKeys,
  pointer,
  readArguments,
  readCallId,
  readObject,
  readString,
  readType,
  wrongType,
} from './input.ts'
import { fitsStrict, flattenRoot } from './schema-out.ts'

const TOOL_KEYS = [
  'name',
  'description',
  'input_schema',
  'type',
  'cache_control',
  'strict',
  'defer_loading',
  'allowed_callers',
  'input_examples',
  'eager_input_streaming',
]

/** Codec for the Anthropic Messages API. */
export const anthropic: ProviderCodec = {
  id: 'anthropic',
  label: 'Anthropic',
  // All models accept 64 characters; only newer ones accept 128.
  namePattern: /^[a-zA-Z0-9_-]{1,64}$/,
  propertyPattern: /^[a-zA-Z0-9_.-]{1,64}$/,

  open(native, at) {
    const tool = readObject(
      native,
      at,
      'A tool must be an object such as {"name":"…","input_schema":{"type":"object"}}.',
    )
    refuseForeignTool(tool, 'anthropic', at)
    const type = tool['type'] ?? 'custom'
    if (type !== 'custom')
      throw serverTool(readString(type, pointer(at, 'type')), pointer(at, 'type'), ['custom'])
    onlyKeys(tool, at, TOOL_KEYS, 'An Anthropic tool')
    return [
      {
        definition: tool,
        name: tool['name'],
        nameAt: pointer(at, 'name'),
        title: undefined,
        titleAt: '',
        description: tool['description'],
        descriptionAt: pointer(at, 'description'),
        schema: tool['input_schema'],
        schemaAt: pointer(at, 'input_schema'),
        dialect: 'json',
      },
    ]
  },

  project: (schema, note) => flattenRoot(schema, 'Anthropic', note),

  write(draft, note) {
    const tool = rewrite(draft, 'input_schema')
    if (!draft.native)
      return { ...tool, input_schema: tool['input_schema'] ?? { type: 'object', properties: {} } }
    if (draft.schema && tool['strict'] === true && !fitsStrict(draft.schema, false)) {
      note('"strict" is off: the schema has changed, and strict wants every object closed')
      tool['strict'] = false
    }
    if (draft.schema && tool['input_examples'] !== undefined) {
      note('"input_examples" are as imported, though the schema has changed')
    }
    return tool
  },

  wrap: (tools) => [...tools],

  readCall(native, at = '') {
    const call = readObject(native, at)
    refuseForeignCall(call, 'anthropic', at)
    readType(call['type'], pointer(at, 'type'), ['tool_use'])
    onlyKeys(
      call,
      at,
      ['type', 'id', 'name', 'input', 'caller', 'cache_control'],
      'An Anthropic tool_use block',
    )
    const argumentsAt = pointer(at, 'input')
    if (call['input'] === undefined) throw wrongType(undefined, argumentsAt, 'an object')
    return {
      provider: 'anthropic',
      form: 'plain',
      name: readString(call['name'], pointer(at, 'name')),
      nameAt: pointer(at, 'name'),
      callId: readCallId(call['id'], pointer(at, 'id')),
      arguments: readArguments(call['input'], argumentsAt),
      argumentsAt,
    }
  },

  toolResult(call, outcome) {
    const content = [{ type: 'text', text: JSON.stringify(outcome) }]
    return { type: 'tool_result', tool_use_id: call.callId, content }
  },
}
