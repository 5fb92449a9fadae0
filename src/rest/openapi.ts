import { z } from 'zod'
import { FAILURES } from '../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../foundation/turns.ts'
import { ROUTES, STREAMS } from './plugin.ts'
import { spellings } from './route/aliases.ts'
import { writeQuery } from './route/query.ts'
import type { Versioned } from './route/request-parts.ts'
import type { Route } from './route/route.ts'

type Json = Record<string, unknown>

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

/** Generates the OpenAPI 3.1 description of /v1 from its routes. */
export async function openapi(): Promise<Json> {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const row of [...ROUTES, ...STREAMS]) {
    if (turnIsOver()) await nextTurn()
    const path = `/v1${templateOf(row.path)}`
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'A data layer for software agents: bases of typed JSON records. Every path is also served under alternative nouns, with the same responses.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(ROUTES.map((row) => row.spec.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token: `plt_…`.' } },
      responses: responses(schemas),
      schemas,
    },
  }
}

function operation({ id, path, method, writes, spec, streams }: Route, schemas: Json): Json {
  const others = spellings(path).slice(1)
  const also =
    others.length > 0
      ? `Also served as ${others.map((other) => `\`/v1${templateOf(other)}\``).join(', ')}.`
      : undefined
  return {
    operationId: operationId(id),
    tags: [spec.tag],
    summary: spec.summary,
    ...(also && { description: also }),
    parameters: [
      ...parameters(spec.params, 'path'),
      ...parameters(spec.query, 'query'),
      ...(writes ? writeParameters(spec.versioned) : readParameters(spec.versioned, method)),
      ...(spec.headers ?? []).map(([name, description]) => header(name, description)),
      ...(streams ? [LAST_EVENT_ID] : []),
    ],
    ...(spec.body && { requestBody: requestBody(spec, schemas) }),
    ...(spec.content === 'body' && { requestBody: { content: ANY_CONTENT } }),
    responses: {
      ...Object.fromEntries(
        (spec.statuses ?? [200]).map((status) => [
          status,
          success(status, toSchema(spec.answers, 'output', schemas), { streams, content: spec.content }),
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(FAILURES).map(([code, { status }]) => [
          status,
          { $ref: `#/components/responses/${code}` },
        ]),
      ),
    },
  }
}

/** The template of a path. The rest of a path, `*`, is the path of a file. */
const templateOf = (path: string) => path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')

/** `PUT /:base_id/records/:record_type/:id` → `put_base_id_records_record_type_id`. */
const operationId = (id: string) =>
  id
    .toLowerCase()
    .replace('*', 'path')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_$/, '')

type Forms = { streams: true | undefined; content: 'body' | 'answer' | undefined }

const success = (status: number, schema: Json, { streams, content }: Forms): Json => ({
  description: streams
    ? 'An endless stream of Server-Sent Events. The schema is that of the `data` of one event.'
    : status === 201
      ? 'Created.'
      : 'Done.',
  content: {
    [streams ? 'text/event-stream' : 'application/json']: { schema },
    ...(content === 'answer' && ANY_CONTENT),
  },
})

/** A content of any type. */
const ANY_CONTENT: Json = { '*/*': { schema: { type: 'string', format: 'binary' } } }

const LAST_EVENT_ID: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event received. The stream continues after it.',
  schema: { type: 'integer', minimum: 0 },
}

/** With several media types, each has a shape of its own. */
function requestBody(
  { body, bodyOf, described, accepts = ['application/json'] }: Route['spec'],
  schemas: Json,
): Json {
  const shapeOf = (type: string) =>
    described?.[type] ?? ((accepts.length > 1 && bodyOf?.(type)) || (body as z.ZodType))
  return {
    required: !(body as z.ZodType).safeParse(undefined).success,
    content: Object.fromEntries(
      accepts.map((type) => [type, { schema: toSchema(shapeOf(type), 'input', schemas) }]),
    ),
  }
}

function parameters(shape: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  const fields = (shape as z.ZodObject | undefined)?.shape ?? {}
  return Object.entries(fields).map(([name, field]) => {
    const { description, schema } = ((field as z.ZodType).meta() ?? {}) as {
      description?: string
      schema?: Json
    }
    return {
      name,
      in: place,
      required: place === 'path',
      ...(description && { description }),
      schema:
        schema ?? bare(z.toJSONSchema(field as z.ZodType, { io: 'input', unrepresentable: 'any' }) as Json),
    }
  })
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

function writeParameters(versioned: Versioned): Json[] {
  return [
    ...parameters(writeQuery, 'query'),
    header(
      'Idempotency-Key',
      '1 to 255 visible ASCII characters. A request repeated with the same key within 24 hours takes effect once.',
    ),
    ...(versioned
      ? [
          header(
            'If-Match',
            versioned === 'hash'
              ? 'Precondition: write only if the current hash matches: `"<hash>"`.'
              : versioned === 'content'
                ? 'Precondition: write only if the SHA-256 of the current content matches: `"<sha256>"`, or `*` for any.'
                : 'Precondition: write only if the current version matches: `"3"`, or `*` for any.',
          ),
          ...(versioned === 'hash' ? [] : [header('If-None-Match', '`*`: create only.')]),
        ]
      : []),
  ]
}

const readParameters = (versioned: Versioned, method: string): Json[] =>
  versioned && method === 'GET'
    ? [{ name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' } }]
    : []

function responses(schemas: Json): Json {
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

/** Converts a zod shape to JSON Schema. Shapes with an id become components. */
function toSchema(shape: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $defs = {}, ...schema } = bare(
    z.toJSONSchema(shape, {
      io,
      unrepresentable: 'any',
      reused: 'inline',
      override: ({ jsonSchema }) => void delete jsonSchema.id,
    }) as Json,
  ) as Json & { $defs?: Json }
  const name = shape.meta()?.id
  const { schema: moved, defs } = relocate(schema, $defs as Json)
  Object.assign(schemas, defs)
  if (!name) return moved
  // zod moves a root with an id to the definitions and leaves a reference.
  if (!Object.hasOwn(defs, name)) schemas[name] = moved
  return { $ref: `#/components/schemas/${name}` }
}

function relocate(schema: Json, defs: Json): { schema: Json; defs: Json } {
  const point = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
  return {
    schema: point(schema),
    defs: Object.fromEntries(Object.entries(defs).map(([name, value]) => [name, point(bare(value as Json))])),
  }
}

function bare({ $schema: _, ...schema }: Json): Json {
  return schema
}
