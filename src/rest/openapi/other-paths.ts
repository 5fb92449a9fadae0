/** Paths of the server beside /v1. */
import { INGEST_ROUTE, ORG } from '../../graphql/delivery.ts'
import type { Json } from './json-schema.ts'

export const OTHER_TAG = 'Server'

type Row = {
  summary: string
  description: string
  type: string
  body?: Json
  /** Needs no token. */
  open?: true
  /** A signature takes its place. */
  isSigned?: true
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
  [INGEST_ROUTE.replace(/:id\b/, ':inbound_webhook_id').replace(/:(\w+)/g, '{$1}')]: {
    id: 'inboundWebhooks.ingest',
    method: 'post',
    summary: 'Deliver a payload to an inbound webhook',
    description:
      'Needs no token: the signature is the proof, over the exact bytes of the body, by the scheme of the webhook. JSON or a form; what it makes is up to the mapping. 401 for a wrong signature, an unknown and a disabled webhook alike.',
    type: 'application/json',
    body: { schema: {}, example: { issue: { id: 7, title: 'Help' } } },
    open: true,
    isSigned: true,
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

const PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  org_id: { description: 'The account of the installation.', example: ORG },
  base_id: { description: 'A base id.', example: 'crm' },
  inbound_webhook_id: { description: 'The id of an inbound webhook.', example: 'issues' },
}

const parametersOf = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true, ...PARAMETERS[name], schema: { type: 'string' } },
  }))

export const OTHER_PATHS: Readonly<Record<string, Json>> = Object.fromEntries(
  Object.entries(ROWS).map(([path, { id, method, summary, description, type, body, open, isSigned }]) => [
    path,
    {
      [method]: {
        operationId: id,
        tags: [OTHER_TAG],
        summary,
        description,
        ...(open && { security: [] }),
        ...(path.includes('{') && { parameters: parametersOf(path) }),
        ...(body && { requestBody: { required: true, content: { 'application/json': body } } }),
        responses: {
          200: { description: 'Done.', content: { [type]: { schema: schemaOf(type) } } },
          ...(open && { 400: { $ref: '#/components/responses/VALIDATION_ERROR' } }),
          ...((!open || isSigned) && { 401: { $ref: '#/components/responses/UNAUTHORIZED' } }),
        },
      },
    },
  ]),
)

function schemaOf(type: string): Json {
  return type === 'application/json' ? { type: 'object', additionalProperties: {} } : { type: 'string' }
}
