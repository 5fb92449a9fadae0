/** Parameters of the path, the query and the headers. */
import type { z } from 'zod'
import { writeQuery } from '../route/query.ts'
import type { Route } from '../route/route.ts'
import { type Example, PARAMS } from './examples.ts'
import { type Json, parameterSchema } from './json-schema.ts'

export const LAST_EVENT_ID: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event received. The stream continues after it.',
  schema: { type: 'integer', minimum: 0 },
}

/** A path has one template: an attachment is read by its filename, and deleted by its id. */
const NAMES: Readonly<Record<string, string>> = { filename: 'attachment', attachment_id: 'attachment' }

/** The name of a path parameter in the description. */
export const parameterName = (name: string): string => NAMES[name] ?? name

/** The members of a shape as parameters, with the values of the example. */
export function parameters(
  shape: z.ZodType | undefined,
  place: 'path' | 'query',
  { params, query }: Example,
): Json[] {
  const fields = (shape as z.ZodObject | undefined)?.shape ?? {}
  const values: Readonly<Record<string, unknown>> =
    place === 'path' ? { ...PARAMS, ...params } : (query ?? {})
  return Object.entries(fields).map(([name, field]) => {
    const { description, schema } = ((field as z.ZodType).meta() ?? {}) as {
      description?: string
      schema?: Json
    }
    const example = values[name]
    return {
      name: place === 'path' ? parameterName(name) : name,
      in: place,
      required: place === 'path',
      ...(description && { description }),
      schema: schema ?? parameterSchema(field as z.ZodType),
      ...(example !== undefined && { example }),
    }
  })
}

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

const IF_NONE_MATCH = 'If-None-Match'

/** Whether a read answers 304 to a client that has its state. */
export const canBeFresh = ({ method, spec: { versioned, headers = [] } }: Route) =>
  method === 'GET' && (versioned !== undefined || headers.some(([name]) => name === IF_NONE_MATCH))

/** `dry_run`, the idempotency key and the preconditions of writes; the condition of reads; other headers. */
export function preconditions({ method, writes, spec }: Route): Json[] {
  const { versioned, headers = [] } = spec
  const own = headers.map(([name, description]) => header(name, description))
  if (!writes)
    return versioned && method === 'GET'
      ? [header(IF_NONE_MATCH, 'ETags that the client has. 304 if the state is one of them.'), ...own]
      : own
  return [
    ...parameters(writeQuery, 'query', {}),
    header(
      'Idempotency-Key',
      '1 to 255 visible ASCII characters. A request repeated with the same key within 24 hours takes effect once.',
    ),
    ...(versioned ? [header('If-Match', IF_MATCH[versioned === true ? 'version' : versioned])] : []),
    ...(versioned && versioned !== 'hash' ? [header(IF_NONE_MATCH, '`*`: create only.')] : []),
    ...own,
  ]
}

const IF_MATCH = {
  version: 'Precondition: write only if the current version matches: `"3"`, or `*` for any.',
  hash: 'Precondition: write only if the current hash matches: `"<hash>"`.',
  content:
    'Precondition: write only if the SHA-256 of the current content matches: `"<sha256>"`, or `*` for any.',
}
