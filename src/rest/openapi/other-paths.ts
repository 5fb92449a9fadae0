/** Paths of the server beside /v1. */
import type { Json } from './json-schema.ts'

export const OTHER_TAG = 'Server'

type Row = {
  summary: string
  description: string
  type: string
  body?: Json
  /** Needs no token. */
  open?: true
}

const OPERATION: Json = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string' },
    variables: { type: 'object', additionalProperties: {} },
    operationName: { type: 'string' },
  },
}

const ROWS: Readonly<Record<string, Row & { id: string; method: 'get' | 'post' }>> = {
  '/graphql': {
    id: 'graphql.run',
    method: 'post',
    summary: 'Run a GraphQL operation',
    description: 'The same data and rules as /v1. A browser gets the playground with GET.',
    type: 'application/json',
    body: {
      schema: OPERATION,
      example: { query: '{ records(base: "crm", recordType: "deal") { data { id data } } }' },
    },
  },
  '/graphql/{base_id}': {
    id: 'graphql.runInBase',
    method: 'post',
    summary: 'Run a GraphQL operation in the schema of a base',
    description: 'Record types have types and fields of their own. A browser gets the playground with GET.',
    type: 'application/json',
    body: { schema: OPERATION, example: { query: '{ _base }' } },
  },
  '/graphql/{base_id}/schema.graphql': {
    id: 'graphql.schema',
    method: 'get',
    summary: 'The GraphQL schema of a base as text',
    description: 'As the token sees it, with an ETag.',
    type: 'text/plain',
  },
  '/mcp/{base_id}': {
    id: 'mcp.call',
    method: 'post',
    summary: 'The MCP server of a base (streamable HTTP)',
    description: 'JSON-RPC messages of the Model Context Protocol. `/mcp` is the server of all bases.',
    type: 'application/json',
    body: {
      schema: { type: 'object', additionalProperties: {} },
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
  },
  '/healthz': {
    id: 'server.health',
    method: 'get',
    summary: 'Whether the process is alive',
    description: 'Needs no token.',
    type: 'application/json',
    open: true,
  },
  '/readyz': {
    id: 'server.readiness',
    method: 'get',
    summary: 'Whether the server takes requests',
    description: 'Needs no token. 503 while it starts, drains, or has no database.',
    type: 'application/json',
    open: true,
  },
  '/metrics': {
    id: 'server.metrics',
    method: 'get',
    summary: 'Metrics for Prometheus',
    description: 'From this machine, or with an admin token.',
    type: 'text/plain',
  },
}

const BASE: Json = {
  name: 'base_id',
  in: 'path',
  required: true,
  description: 'A base id.',
  schema: { type: 'string' },
  example: 'crm',
}

export const OTHER_PATHS: Readonly<Record<string, Json>> = Object.fromEntries(
  Object.entries(ROWS).map(([path, { id, method, summary, description, type, body, open }]) => [
    path,
    {
      [method]: {
        operationId: id,
        tags: [OTHER_TAG],
        summary,
        description,
        ...(open && { security: [] }),
        ...(path.includes('{') && { parameters: [BASE] }),
        ...(body && { requestBody: { required: true, content: { 'application/json': body } } }),
        responses: {
          200: { description: 'Done.', content: { [type]: { schema: schemaOf(type) } } },
          ...(open
            ? { 400: { $ref: '#/components/responses/VALIDATION_ERROR' } }
            : { 401: { $ref: '#/components/responses/UNAUTHORIZED' } }),
        },
      },
    },
  ]),
)

function schemaOf(type: string): Json {
  return type === 'application/json' ? { type: 'object', additionalProperties: {} } : { type: 'string' }
}
