/** The OpenAPI 3.1 description of a server, made of the routes of /v1. */
import { z } from 'zod'
import { FAILURES } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { ROUTES, STREAMS } from '../plugin.ts'
import { type Json, toSchema } from './json-schema.ts'
import { operation, templateOf } from './operation.ts'
import { OTHER_PATHS, OTHER_TAG } from './other-paths.ts'

const DETAIL = z
  .object({
    path: z.string().meta({
      description: 'A JSON Pointer into the body, or `path/<name>`, `query/<name>`, `header/<name>`.',
    }),
    code: z.string().meta({ description: 'A machine-readable reason.' }),
    message: z.string(),
    expected: z.unknown().optional(),
    received: z.unknown().optional(),
    allowed: z.array(z.unknown()).optional(),
    hint: z.string().optional().meta({ description: 'The correction, ready to send.' }),
    count: z.int().optional(),
    samples: z.array(z.unknown()).optional(),
    run_id: z.string().optional().meta({ description: 'The run of an action that failed.' }),
  })
  .meta({ id: 'ErrorDetail' })
const ERROR = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(FAILURES) as [string, ...string[]]),
      message: z.string(),
      details: z.array(DETAIL),
      request_id: z.string(),
    }),
  })
  .meta({ id: 'Error' })

const ABOUT = `A data layer for software agents: bases of typed JSON records.

The guides of this server are at [/guides](/guides), the GraphQL playground is at [/graphql](/graphql). \`/v1/{base_id}/openapi.json\`
describes the records of one base with the schemas of its record types. \`/healthz\` tells
whether the process is alive, \`/readyz\` whether it takes requests. Paths are also served under alternative nouns, with
the same responses.

The examples use a base \`crm\` with deals and companies. The
[README](/guides) makes it in five minutes.`

/** The members that begin a description. */
export const headOf = (title: string, description: string): Json => ({
  openapi: '3.1.0',
  info: {
    title,
    version: '1',
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { name: 'The operator of this server' },
    description,
  },
  servers: [{ url: '/' }],
  security: [{ token: [] }],
})
export const SECURITY_SCHEMES: Json = {
  token: { type: 'http', scheme: 'bearer', description: 'An API token: `plt_…`.' },
}

/** Generates the description. */
export async function openapi(): Promise<Json> {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const row of [...ROUTES, ...STREAMS]) {
    if (turnIsOver()) await nextTurn()
    const path = `/v1${templateOf(row.path)}`
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row, schemas) }
  }
  return {
    ...headOf('Plinth', ABOUT),
    tags: [...new Set(ROUTES.map((row) => row.spec.tag)), OTHER_TAG].map(tagOf),
    paths: { ...paths, ...OTHER_PATHS },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: responses(schemas),
      schemas,
    },
  }
}

/** A tag of routes. */
export function tagOf(name: string): Json {
  const about = TAGS[name]
  if (!about) throw new Error(`The tag ${name} needs a row in TAGS`)
  return {
    name,
    description: `${about.description} [Guide](/guides/${about.guide})`,
  }
}

/** The responses of failures, which are components. */
export function responses(schemas: Json): Json {
  const schema = toSchema(ERROR, 'output', schemas)
  const headers = { 'X-Request-Id': { schema: { type: 'string' } } }
  const wait = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } }
  return Object.fromEntries(
    Object.entries(FAILURES).map(([code, { title }]) => [
      code,
      {
        description: title,
        headers: { ...headers, ...(code === 'RATE_LIMITED' && wait) },
        content: { 'application/json': { schema } },
      },
    ]),
  )
}

/** The tags of operations: what each noun is, and the guide that explains it. */
const TAGS: Readonly<Record<string, { description: string; guide: string }>> = {
  Bases: {
    description: 'A base contains record types, records and files. Grants of tokens name bases.',
    guide: 'glossary',
  },
  Environments: {
    description: 'Previews are copies of a base. A promotion applies what changed in a preview to its base.',
    guide: 'environments',
  },
  'Config as code': {
    description: 'The configuration of a base as one file: get it, compare it, apply it to a preview.',
    guide: 'environments',
  },
  'Record types': {
    description: 'A record type has a JSON Schema, which each write of a record is checked against.',
    guide: 'schemas',
  },
  Records: {
    description: 'JSON data under an id, with versions. Filter, search, sort, page and aggregate them.',
    guide: 'query',
  },
  Attachments: { description: 'Files that belong to a record.', guide: 'attachments' },
  Batch: { description: 'Many operations in one transaction.', guide: 'batch' },
  'Relationship types': {
    description: 'Which record types a relationship connects, and how many.',
    guide: 'relationships',
  },
  Relationships: { description: 'Typed links between records.', guide: 'relationships' },
  'File types': {
    description: 'What files of a type may contain, and how many versions are kept.',
    guide: 'files',
  },
  Files: { description: 'Contents at paths, with versions, labels and metadata.', guide: 'files' },
  'S3 credentials': { description: 'Temporary credentials for tools that speak S3.', guide: 's3' },
  History: {
    description: 'Versions, the change log and its stream, revert, and the trash.',
    guide: 'history',
  },
  Deliveries: {
    description: 'What triggers sent and inbound webhooks received, of a whole base.',
    guide: 'triggers',
  },
  Calls: {
    description: 'What tokens called, also in vain, and how much they used.',
    guide: 'calls',
  },
  Claims: { description: 'Leases on records, to share work between workers.', guide: 'claims' },
  SQL: { description: 'SQL that reads records, and SQL that writes them.', guide: 'sql' },
  Providers: {
    description: 'Tool definitions and tool calls of model providers, as record types and records.',
    guide: 'tools',
  },
  Endpoints: { description: 'A fixed set of MCP tools at an address of its own.', guide: 'endpoints' },
  Toolsets: { description: 'Tools that several endpoints share.', guide: 'endpoints' },
  Seeds: { description: 'Records and relationships that a preview starts with.', guide: 'environments' },
  Actions: { description: 'Run named steps in one transaction.', guide: 'actions' },
  Triggers: { description: 'Send changes of records to a URL, as signed requests.', guide: 'triggers' },
  'Inbound webhooks': {
    description: 'Turn signed payloads of other systems into records.',
    guide: 'inbound-webhooks',
  },
  Vault: {
    description: 'Secrets that the server sends to others. No answer shows their values.',
    guide: 'vault',
  },
  MCP: { description: 'What an MCP address offers.', guide: 'mcp' },
  Diagnostics: { description: 'What is wrong with the server, and what to do.', guide: 'operations' },
  Server: { description: 'The other addresses of a server.', guide: 'operations' },
  Tokens: {
    description: 'API tokens, with grants by base, record type, environment and permission.',
    guide: 'operations',
  },
}
