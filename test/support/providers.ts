/** Codecs of providers, a tool definition of each, and how to import and export them. */
import type {
  ExportedType,
  ProviderCodec,
  Shape,
  ToolDefinition,
} from '../../src/engine/analytics/providers/codec.ts'
import { bundle, portableForm, writeTool } from '../../src/engine/analytics/providers/export.ts'
import { readTools } from '../../src/engine/analytics/providers/import.ts'
import { provider } from '../../src/engine/analytics/providers/registry.ts'
import { type Detail, DomainError } from '../../src/foundation/errors.ts'

export const importInto = (codec: ProviderCodec, ...tools: unknown[]) => readTools(codec, tools)
export const stored = (tool: ToolDefinition): ExportedType => ({
  id: tool.name,
  name: tool.title ?? tool.name,
  description: tool.description,
  jsonSchema: tool.jsonSchema,
  display: { source: tool.source },
})
export async function exportFrom(codec: ProviderCodec, types: ExportedType[], shape: Shape = 'chat') {
  const written = types.map(async (type) =>
    writeTool(codec, type, shape, await portableForm(codec, type.jsonSchema)),
  )
  return bundle(codec, await Promise.all(written))
}
export const handMade = (jsonSchema: Record<string, unknown>, id = 'note'): ExportedType => ({
  id,
  name: id,
  description: null,
  jsonSchema,
  display: null,
})

export function faults(act: () => unknown): readonly Detail[] {
  try {
    act()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_ERROR') return error.details
    throw error
  }
  throw new Error('Nothing was refused')
}

export const openai = provider('openai')
export const anthropic = provider('anthropic')
export const google = provider('google')
export const mcp = provider('mcp')

export const chatTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the weather.',
    strict: true,
    parameters: {
      type: 'object',
      properties: {
        location: { type: 'string' },
        units: { type: ['string', 'null'], enum: ['c', 'f', null] },
      },
      required: ['location', 'units'],
      additionalProperties: false,
    },
  },
}
export const responsesTool = {
  type: 'function',
  name: 'place_order',
  description: null,
  strict: null,
  parameters: {
    $ref: '#/$defs/Order',
    $defs: { Order: { type: 'object', properties: { sku: { type: 'string' } } } },
  },
  defer_loading: true,
}
export const anthropicTool = {
  name: 'create_ticket',
  description: 'Open a support ticket.',
  input_schema: {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 3 },
      tags: { type: 'array', items: { type: 'array', items: { enum: ['bug', 'idea'] } } },
      phone: { type: 'string', format: 'phone', pattern: '^(?=\\d)' },
    },
    required: ['title'],
  },
  cache_control: { type: 'ephemeral', ttl: '1h' },
  input_examples: [{ title: 'It broke' }],
}
export const mcpTool = {
  name: 'crm.contact-Create',
  title: 'Create a contact',
  description: 'Adds a contact.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { email: { type: 'string', format: 'email' } },
    oneOf: [{ required: ['email'] }, { properties: { phone: { type: 'string' } }, required: ['phone'] }],
  },
  outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: false, idempotentHint: true },
  _meta: { 'example.com/owner': 'sales' },
}
export const googleDeclaration = {
  name: 'schedule_meeting',
  description: 'Schedules a meeting.',
  parameters: {
    type: 'OBJECT',
    properties: {
      attendees: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1' },
      room: { type: 'STRING', format: 'enum', enum: ['north', 'south'], nullable: true },
      floor: { type: 'INTEGER', format: 'enum', enum: ['1', '2'] },
      start: { type: 'STRING', format: 'date-time' },
      cost: { anyOf: [{ type: 'NUMBER', format: 'double' }, { type: 'STRING' }], nullable: true },
    },
    required: ['attendees'],
    propertyOrdering: ['attendees', 'room', 'floor', 'start', 'cost'],
  },
  response: { type: 'OBJECT', properties: { id: { type: 'STRING' } } },
}
