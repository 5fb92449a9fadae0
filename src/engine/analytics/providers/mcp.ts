import { invalid } from '../../../foundation/errors.ts'
import { type ProviderCodec, rewrite } from './codec.ts'
import { refuseForeignCall, refuseForeignTool } from './foreign-tools.ts'
import { onlyKeys, pointer, readArguments, readObject, readString } from './input.ts'
import { followRef } from './schema-out.ts'

const TOOL_KEYS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
  'execution',
  '_meta',
]

/** Codec for the Model Context Protocol: an entry of `tools/list`, and the params of `tools/call`. */
export const mcp: ProviderCodec = {
  id: 'mcp',
  label: 'MCP',
  namePattern: /^[A-Za-z0-9_./-]{1,128}$/,

  open(native, at) {
    const tool = readObject(
      native,
      at,
      'A tool must be an object such as {"name":"…","inputSchema":{"type":"object"}}.',
    )
    refuseForeignTool(tool, 'mcp', at)
    onlyKeys(tool, at, TOOL_KEYS, 'An MCP tool')
    return [
      {
        definition: tool,
        name: tool['name'],
        nameAt: pointer(at, 'name'),
        title: tool['title'],
        titleAt: pointer(at, 'title'),
        description: tool['description'],
        descriptionAt: pointer(at, 'description'),
        schema: tool['inputSchema'],
        schemaAt: pointer(at, 'inputSchema'),
        dialect: 'json',
      },
    ]
  },

  // MCP accepts any JSON Schema with root type object.
  project: (schema) => ({ ...followRef(schema, schema), type: 'object' }),

  write(draft) {
    const tool = rewrite(draft, 'inputSchema')
    if (draft.title !== null) tool['title'] = draft.title
    return draft.native
      ? tool
      : { ...tool, inputSchema: tool['inputSchema'] ?? { type: 'object', properties: {} } }
  },

  wrap: (tools) => [...tools],

  readCall(native, at = '') {
    const call = readObject(native, at)
    refuseForeignCall(call, 'mcp', at)
    if (call['jsonrpc'] !== undefined || call['params'] !== undefined) throw envelope(at)
    onlyKeys(call, at, ['name', 'arguments', '_meta'], 'An MCP tool call')
    const argumentsAt = pointer(at, 'arguments')
    return {
      provider: 'mcp',
      form: 'plain',
      name: readString(call['name'], pointer(at, 'name')),
      nameAt: pointer(at, 'name'),
      // A JSON-RPC request id restarts at one in each session, so it does not identify a call.
      callId: null,
      arguments: readArguments(call['arguments'], argumentsAt),
      argumentsAt,
    }
  },

  toolResult(_call, outcome) {
    return { content: [{ type: 'text', text: JSON.stringify(outcome) }], structuredContent: { ...outcome } }
  },
}

function envelope(at: string) {
  return invalid({
    path: pointer(at, 'params'),
    code: 'envelope',
    message: 'This is a JSON-RPC request. Send what its "params" hold: {"name":"…","arguments":{…}}.',
    expected: '{"name":"…","arguments":{…}}',
    hint: 'params',
  })
}
