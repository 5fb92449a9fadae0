/** One operation of the description. */
import type { z } from 'zod'
import { FAILURES } from '../../foundation/errors.ts'
import type { Need } from '../../graphql/context.ts'
import { spellings } from '../route/aliases.ts'
import type { Route } from '../route/route.ts'
import { ROW_TYPES } from '../route/rows.ts'
import { EXAMPLES, type Example } from './examples.ts'
import { type Json, toSchema } from './json-schema.ts'
import { canBeFresh, LAST_EVENT_ID, parameterName, parameters, preconditions } from './parameters.ts'

/** Describes a route. Components that it needs are added to `schemas`. */
export function operation(row: Route, schemas: Json): Json {
  const { path, method, spec, streams, rows } = row
  const name = operationId(method, path)
  const example = EXAMPLES[name] ?? {}
  const answers = toSchema(spec.answers, 'output', schemas)
  return {
    operationId: name,
    tags: [spec.tag],
    summary: spec.summary,
    description: descriptionOf(row),
    parameters: [
      ...parameters(spec.params, 'path', example),
      ...parameters(spec.query, 'query', example),
      ...preconditions(row),
      ...(streams ? [LAST_EVENT_ID] : []),
    ],
    ...(spec.body && { requestBody: requestBody(spec, schemas, example) }),
    ...(spec.content === 'body' && {
      requestBody: { required: true, content: anyContent(example) },
    }),
    responses: {
      ...Object.fromEntries(
        (spec.statuses ?? [200]).map((status) => [
          status,
          success(status, answers, {
            content: spec.content,
            rows,
            streams,
            headers: headersOf(row, status, answers, schemas),
          }),
        ]),
      ),
      ...(canBeFresh(row) && { 304: { description: 'The client has this state. No body.' } }),
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
export const templateOf = (path: string) =>
  path.replace(/:(\w+)/g, (_, name: string) => `{${parameterName(name)}}`).replace('*', '{path}')

function descriptionOf({ path, spec }: Route): string {
  const others = spellings(path)
    .slice(1)
    .map((other) => `\`/v1${templateOf(other)}\``)
  return [
    ...(spec.description ? [spec.description] : []),
    `${needed(spec.need(Object.fromEntries(NAMES.map((name) => [name, `{${name}}`]))))}.`,
    ...(others.length > 0 ? [`Also served as ${others.join(', ')}.`] : []),
  ].join(' ')
}

/** The parameters that permissions depend on. */
const NAMES = ['base_id', 'record_type', 'id', 'file_type', 'name'] as const

function needed(need: Need): string {
  if (need === null) return 'Needs any valid token'
  if ('admin' in need) return 'Needs `admin`'
  if ('all' in need) return need.all.map(needed).join('. ')
  if ('endpoint' in need) return 'Needs a grant on the base or on this endpoint'
  if ('baseAccess' in need || 'knownBase' in need) return 'Needs a grant on the base'
  if ('anyOf' in need) return `Needs \`${need.permission}\` on a record type of the base`
  const { permission, recordType } = need
  return `Needs \`${permission}\` on ${recordType === '*' ? 'the base' : 'the record type'}`
}

type Forms = {
  streams: true | undefined
  rows: true | undefined
  content: Route['spec']['content'] | undefined
  headers: Json
}

/** The headers that clients read, beside those of rows. */
function headersOf(row: Route, status: number, answers: Json, schemas: Json): Json {
  const name = String(answers['$ref']).split('/').at(-1) ?? ''
  const { properties = {} } = (schemas[name] ?? answers) as { properties?: Json }
  const isTagged = canBeFresh(row) || 'version' in properties || row.spec.content !== undefined
  return described([
    ...(isTagged ? [['ETag', 'What `If-Match` and `If-None-Match` take.', 'string'] as const] : []),
    ...(status === 201 ? [['Location', 'The path of what was created.', 'string'] as const] : []),
    ...(status === 206 ? [['Content-Range', 'The bytes of this part.', 'string'] as const] : []),
    ...(row.writes
      ? [['Idempotency-Replayed', '`true`: the first answer to this key.', 'boolean'] as const]
      : []),
  ])
}

const success = (status: number, schema: Json, { streams, content, rows, headers }: Forms): Json => ({
  description: streams
    ? 'An endless stream of Server-Sent Events. The schema is that of the `data` of one event.'
    : status === 201
      ? 'Created.'
      : 'Done.',
  content: {
    [streams ? 'text/event-stream' : 'application/json']: { schema },
    ...(content === 'answer' && anyContent({})),
    ...(rows && Object.fromEntries(ROW_TYPES.map((type) => [type, { schema: { type: 'string' } }]))),
  },
  headers: { ...headers, ...(rows && ROW_HEADERS) },
})

const described = (headers: readonly (readonly [name: string, description: string, type: string])[]): Json =>
  Object.fromEntries(headers.map(([name, description, type]) => [name, { description, schema: { type } }]))

/** What `meta` says, as headers of CSV and NDJSON. */
const ROW_HEADERS: Json = described([
  ['X-Has-More', 'CSV and NDJSON: whether there is more after this page.', 'boolean'],
  ['X-Next-Cursor', 'CSV and NDJSON: the `cursor` of the next page.', 'string'],
  ['X-Total-Count', 'CSV and NDJSON: the exact match count, with `include_total`.', 'integer'],
])

/** A content of any type. */
const anyContent = ({ body }: Example): Json => ({
  '*/*': {
    schema: { type: 'string', format: 'binary' },
    ...(typeof body === 'string' && { example: body }),
  },
})

/** With several media types, each has a shape of its own. The example is that of the first. */
function requestBody(
  { body, bodyOf, described, accepts = ['application/json'] }: Route['spec'],
  schemas: Json,
  example: Example,
): Json {
  const shapeOf = (type: string) =>
    described?.[type] ?? ((accepts.length > 1 && bodyOf?.(type)) || (body as z.ZodType))
  return {
    required: !(body as z.ZodType).safeParse(undefined).success,
    content: Object.fromEntries(
      accepts.map((type, at) => [
        type,
        {
          schema: toSchema(shapeOf(type), 'input', schemas),
          ...(at === 0 && example.body !== undefined && { example: example.body }),
        },
      ]),
    ),
  }
}

// Names of operations, which generators of clients use for methods.

/** Parameters that belong to the collection before them: `/records/:record_type` is a list. */
const SCOPES = new Set([':base_id', ':record_type', ':file_type', ':account_id'])

const OF_LIST: Readonly<Record<string, string>> = { GET: 'list', POST: 'create', PUT: 'upsert' }
const OF_ONE: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'upsert',
  PATCH: 'update',
  DELETE: 'delete',
}

/** Operations that the rule does not name well. */
const NAMED: Readonly<Record<string, string>> = {
  'GET /:base_id/openapi.json': 'bases.openapi',
  'POST /:base_id/preview': 'previews.create',
  'POST /:base_id/promote': 'promotions.create',
  'POST /:base_id/promote/proposal': 'promotions.propose',
  'POST /:base_id/promote/rollback': 'promotions.rollBack',
  'POST /:base_id/discard': 'previews.discard',
  'POST /:base_id/submit': 'previews.submit',
  'POST /:base_id/reviews': 'previews.review',
  'GET /:base_id/reviews': 'previews.reviews',
  'POST /:base_id/reopen': 'previews.reopen',
  'GET /:base_id/config': 'config.get',
  'PUT /:base_id/config': 'config.apply',
  'PUT /:base_id/records/:record_type': 'records.upsertByExternalId',
  'POST /:base_id/records/:record_type/:id/attachments': 'attachments.create',
  'GET /:base_id/records/:record_type/:id/attachments': 'attachments.list',
  'GET /:base_id/records/:record_type/:id/attachments/:filename': 'attachments.get',
  'DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id': 'attachments.delete',
  'POST /:base_id/batch': 'batch.run',
  'PUT /:base_id/relationships': 'relationships.upsertByEnds',
  'DELETE /:base_id/relationships': 'relationships.deleteByEnds',
  'GET /:base_id/files': 'files.search',
  'PUT /:base_id/files/:file_type/*': 'files.upload',
  'GET /:base_id/files/:file_type/*': 'files.download',
  'POST /:base_id/revert': 'changes.revertAll',
  'GET /:base_id/trash': 'trash.list',
  'GET /:base_id/calls': 'calls.list',
  'GET /:base_id/usage': 'calls.usage',
  'POST /:base_id/records/:record_type/claim': 'claims.create',
  'POST /:base_id/claims/heartbeat': 'claims.heartbeatAll',
  'POST /:base_id/claims/release': 'claims.releaseAll',
  'POST /:base_id/claims/complete': 'claims.completeAll',
  'GET /:base_id/wait/:record_type': 'records.wait',
  'POST /accounts/:account_id/query': 'records.queryAcrossBases',
  'POST /:base_id/sql': 'sql.query',
  'POST /:base_id/providers/:provider/import': 'providers.import',
  'GET /:base_id/providers/:provider/export': 'providers.export',
  'POST /:base_id/providers/:provider/records/:record_type': 'providers.call',
  'GET /:base_id/mcp/tools': 'mcp.listTools',
  'GET /tokens/self': 'tokens.self',
  'POST /tokens/self/sign-in-codes': 'tokens.createSignInCode',
  'GET /vault/secrets': 'secrets.list',
  'GET /vault/secrets/:name': 'secrets.get',
  'PUT /vault/secrets/:name': 'secrets.upsert',
  'DELETE /vault/secrets/:name': 'secrets.delete',
  'GET /:base_id/export': 'bases.export',
  'GET /:base_id/actions/:id/runs': 'actionRuns.list',
  'GET /:base_id/actions/:id/runs/:run_id': 'actionRuns.get',
  'GET /:base_id/triggers/:id/deliveries': 'triggerDeliveries.list',
  'POST /:base_id/triggers/:id/deliveries/:delivery_id/replay': 'triggerDeliveries.replay',
  'GET /:base_id/inbound-webhooks/:id/deliveries': 'inboundDeliveries.list',
  'POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay': 'inboundDeliveries.replay',
}

/** The name of a route, such as `records.query` for `POST /:base_id/records/:record_type/query`. */
function operationId(method: string, path: string): string {
  const named = NAMED[`${method} ${path}`]
  if (named) return named
  const [noun = '', ...rest] = path.split('/').filter((part) => part !== '' && !SCOPES.has(part))
  const verb = rest.at(-1) ?? ''
  const isOne = verb.startsWith(':') || verb === '*'
  const name = rest.length === 0 ? OF_LIST[method] : isOne ? OF_ONE[method] : camel(verb)
  if (!name) throw new Error(`${method} ${path} needs a name in NAMED`)
  return `${camel(noun)}.${name}`
}

const camel = (text: string) => text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
