import { isObject } from '../../../foundation/is-object.ts'
import { parseJson } from '../../../json/parse.ts'
import type { OpenedTool, ProviderCodec, ToolDraft } from './codec.ts'
import { refuseForeignCall, refuseForeignTool, serverTool } from './foreign-tools.ts'
import {
  type Json,
  onlyKeys,
  pointer,
  readCallId,
  readObject,
  readString,
  readType,
  wrongType,
} from './input.ts'
import { fitsStrict, flattenRoot, itemsEverywhere } from './schema-out.ts'

const FUNCTION_KEYS = ['name', 'description', 'parameters', 'strict']
/** Keys of a Responses tool that Chat Completions does not have. */
const RESPONSES_ONLY = ['defer_loading', 'allowed_callers', 'output_schema']

/** Codec for both OpenAI formats: Chat Completions nests the function, Responses does not. */
export const openai: ProviderCodec = {
  id: 'openai',
  label: 'OpenAI',
  namePattern: /^[a-zA-Z0-9_-]{1,64}$/,

  open(native, at) {
    const tool = readObject(
      native,
      at,
      'A tool must be an object such as {"type":"function","function":{"name":"…"}}.',
    )
    refuseForeignTool(tool, 'openai', at)
    const type = readString(tool['type'], pointer(at, 'type'))
    if (type !== 'function') throw serverTool(type, pointer(at, 'type'), ['function'])
    if (tool['function'] === undefined && tool['name'] !== undefined) {
      onlyKeys(tool, at, ['type', ...FUNCTION_KEYS, ...RESPONSES_ONLY], 'An OpenAI Responses tool')
      return [opened(tool, tool, at)]
    }
    const place = pointer(at, 'function')
    const body = readObject(tool['function'], place)
    onlyKeys(tool, at, ['type', 'function'], 'An OpenAI tool')
    onlyKeys(body, place, FUNCTION_KEYS, 'An OpenAI function')
    return [opened(tool, body, place)]
  },

  project(schema, note) {
    return itemsEverywhere(flattenRoot(schema, 'OpenAI', note))
  },

  write(draft, note) {
    const was = draft.native && parts(draft.native)
    const same = was?.shape === draft.shape
    const body: Json = { name: draft.alias }
    if (draft.description !== null) body['description'] = draft.description
    const parameters = draft.schema ?? was?.body['parameters'] ?? undefined
    if (parameters !== undefined) body['parameters'] = parameters
    for (const key of Object.keys(was?.body ?? {}).filter(
      (each) => !['type', ...FUNCTION_KEYS].includes(each),
    )) {
      if (draft.shape === 'responses') body[key] = was?.body[key]
      else note(`Chat Completions has no "${key}"`)
    }
    const strict = writeStrict(draft, was?.body['strict'], note)
    if (same && was) return rewrap(was, body, strict, draft)
    if (draft.shape === 'chat')
      return { type: 'function', function: { ...body, ...(strict === null ? {} : { strict }) } }
    // Responses defaults `strict` to true, so a non-strict tool sets it to false.
    return {
      type: 'function',
      ...body,
      parameters: parameters ?? { type: 'object', properties: {} },
      strict: strict ?? false,
    }
  },

  wrap: (tools) => [...tools],

  readCall(native, at = '') {
    const call = readObject(native, at)
    refuseForeignCall(call, 'openai', at)
    if (call['type'] === 'function_call') {
      const known = ['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace', 'caller']
      onlyKeys(call, at, known, 'An OpenAI function_call')
      return {
        provider: 'openai',
        form: 'responses',
        ...callParts(call, at, call['call_id'], pointer(at, 'call_id')),
      }
    }
    readType(call['type'], pointer(at, 'type'), ['function', 'function_call'])
    const place = pointer(at, 'function')
    // Accumulated stream deltas keep the `index` of the call.
    onlyKeys(call, at, ['type', 'id', 'function', 'index'], 'An OpenAI tool call')
    const body = readObject(call['function'], place)
    onlyKeys(body, place, ['name', 'arguments'], 'An OpenAI function call')
    return { provider: 'openai', form: 'chat', ...callParts(body, place, call['id'], pointer(at, 'id')) }
  },

  toolResult(call, outcome) {
    const text = JSON.stringify(outcome)
    if (call.form === 'responses') return { type: 'function_call_output', call_id: call.callId, output: text }
    return { role: 'tool', tool_call_id: call.callId, content: text }
  },
}

function opened(definition: Json, body: Json, place: string): OpenedTool {
  const { strict } = body
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean') {
    throw wrongType(strict, pointer(place, 'strict'), 'true or false')
  }
  return {
    definition,
    name: body['name'],
    nameAt: pointer(place, 'name'),
    title: undefined,
    titleAt: '',
    description: body['description'],
    descriptionAt: pointer(place, 'description'),
    schema: body['parameters'] ?? undefined,
    schemaAt: pointer(place, 'parameters'),
    dialect: 'json',
  }
}

type Parts = { shape: 'chat' | 'responses'; definition: Json; body: Json }

function parts({ definition }: OpenedTool): Parts {
  const body = definition['function']
  return isObject(body)
    ? { shape: 'chat', definition, body }
    : { shape: 'responses', definition, body: definition }
}

/** The `strict` flag: set only if the tool had it and the schema still satisfies OpenAI's strict mode. */
function writeStrict(draft: ToolDraft, was: unknown, note: (message: string) => void): boolean | null {
  if (was !== true || draft.schema === undefined || fitsStrict(draft.schema, true)) {
    return typeof was === 'boolean' ? was : null
  }
  note('"strict" is off: the schema has changed, and strict wants objects closed and every property required')
  return false
}

/** The imported definition with its changed parts replaced. */
function rewrap(was: Parts, body: Json, strict: boolean | null, draft: ToolDraft): Json {
  const now: Json = { ...was.body, ...body }
  if (draft.description === null && typeof was.body['description'] === 'string') delete now['description']
  if (strict !== null) now['strict'] = strict
  return was.shape === 'chat' ? { ...was.definition, function: now } : now
}

function callParts(body: Json, place: string, id: unknown, idAt: string) {
  const argumentsAt = pointer(place, 'arguments')
  const text = readString(
    body['arguments'],
    argumentsAt,
    'OpenAI sends the arguments as a string of JSON: pass it as it came.',
  )
  return {
    name: readString(body['name'], pointer(place, 'name')),
    nameAt: pointer(place, 'name'),
    callId: readCallId(id, idAt),
    arguments: text.trim() === '' ? {} : readObject(parseJson(text, argumentsAt), argumentsAt),
    argumentsAt,
  }
}
