/** The OpenAPI 3.1 description of a server, made of the routes of /v1. */
import { z } from 'zod'
import { FAILURES } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { ROUTES, STREAMS } from '../plugin.ts'
import { type Json, toSchema } from './json-schema.ts'
import { operation, templateOf } from './operation.ts'
import { OTHER_PATHS, OTHER_TAG } from './other-paths.ts'
import { TAGS } from './tags.ts'

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
