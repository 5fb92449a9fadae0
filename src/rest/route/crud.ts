import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { mergeShape } from '../../contract/merge-shape.ts'
import { deletedBody, trim, writtenBody } from '../../contract/response-bodies.ts'
import { MAX_INT4 } from '../../foundation/units.ts'
import { graphql } from '../../graphql/document.ts'
import { kindDocuments } from '../../graphql/kind-documents.ts'
import { DeletionParts } from '../../http/deletion-plan-fragment.ts'
import { byName } from './by-name.ts'
import type { CrudSpec } from './crud-spec.ts'
import { listOf, without } from './page.ts'
import { patchForms } from './patch-forms.ts'
import { pageQuery, whole } from './query.ts'
import { type Route, type Row, route, tagged } from './route.ts'
import { baseId, configurationId, Deleted, expectedVersion, onBase, time, versionShape } from './shapes.ts'

/** Generates the routes of a configuration kind: list, PUT, GET, history, PATCH and DELETE. */
export function crud<Q extends z.ZodObject>(path: `/:base_id/${string}`, spec: CrudSpec<Q>): Route[] {
  const { answers, writes, needs = {}, renamed = {} } = spec
  const one = `${spec.label.charAt(0).toLowerCase()}${spec.label.slice(1)}`
  const many = path.slice(path.lastIndexOf('/') + 1).replaceAll('-', ' ')
  const kind = kindAt(path)
  const confirmed = spec.confirm === undefined ? undefined : DeletionParts
  const operations = kindDocuments(kind, fieldsOf(answers), confirmed)
  const params = z.strictObject({ base_id: baseId(), id: configurationId(spec.label) })
  const body = spec.sent ?? spec.body.extend({ id: z.string().optional(), expected_version: expectedVersion })
  const targetOf = ({ base_id: base, id }: z.output<typeof params>) => ({ base, id })
  /** The fields that are present, because null is a value in a PATCH. */
  const fieldsIn = (sent: object) =>
    Object.fromEntries(Object.entries(sent).filter(([name]) => Object.hasOwn(spec.body.shape, name)))
  const read = needs.read ?? onBase('read')
  const write = needs.write ?? onBase('manage')
  const query = writes && { query: writes.query }
  return tagged(spec.tag, [
    route(`GET ${path}`, {
      summary: `List ${many}`,
      need: needs.list ?? read,
      params: params.pick({ base_id: true }),
      query: pageQuery,
      operation: operations.list,
      answers: listOf(answers),
    }),
    route(`PUT ${path}/:id`, {
      renamed,
      summary: `Create ${one} or replace it`,
      need: write,
      params,
      ...query,
      body,
      versioned: true,
      operation: operations.put,
      variables: ({ params, query, body, conditions }) => ({
        ...targetOf(params),
        input: camelFields(fieldsIn(body)),
        ...writes?.variables(query, body),
        ...conditions,
      }),
      reply: ({ written }, { params }) => ({
        status: written.operation === 'created' ? 201 : 200,
        location: `/v1${path.replace(':base_id', params.base_id)}/${params.id}`,
        body: writtenBody(without(written, 'operation')),
      }),
      statuses: [200, 201],
      answers,
    }),
    route(`GET ${path}/:id`, {
      renamed,
      summary: `Get ${one}`,
      need: read,
      params,
      query: z.strictObject({
        version: whole(1, MAX_INT4, undefined, 'The version to return; the current one by default.'),
      }),
      versioned: true,
      operation: operations.get,
      answers,
    }),
    route(`GET ${path}/:id/history`, {
      renamed,
      summary: `List the versions of ${one}, newest first, also after its deletion`,
      need: read,
      params,
      query: pageQuery,
      operation: HISTORY,
      variables: (parts) => ({ ...byName(parts), kind }),
      answers: listOf(ConfigurationVersion),
    }),
    route(`PATCH ${path}/:id`, {
      renamed,
      summary: `Update ${one}: merge into its definition`,
      need: write,
      params,
      ...query,
      ...patchForms(
        body.extend(mergeShape(spec.body).shape),
        'RFC 6902 operations on the definition, with paths such as `/description`.',
      ),
      versioned: true,
      operation: operations.patch,
      variables: ({ params, query, body, conditions }) => ({
        ...targetOf(params),
        ...(Array.isArray(body) ? { operations: body } : { merge: fieldsIn(body) }),
        ...writes?.variables(query, Array.isArray(body) ? {} : body),
        expectedVersions: conditions.expectedVersions,
        mustExist: conditions.mustExist,
      }),
      reply: ({ written }) => ({ body: writtenBody(without(written, 'operation')) }),
      answers,
    }),
    route(`DELETE ${path}/:id`, {
      renamed,
      summary: `Delete ${spec.removes ?? one}`,
      need: write,
      params,
      ...(spec.confirm !== undefined && { query: confirmation(spec.confirm) }),
      versioned: true,
      operation: operations.remove,
      reply: ({ gone }) => ({ body: deletedBody(gone) }),
      answers: Deleted,
    }),
  ])
}

/** The route that gives a resource a new secret. */
export function rotation<Q extends z.ZodObject>(
  path: `/:base_id/${string}`,
  { label, answers }: CrudSpec<Q>,
  summary: string,
): Row {
  const { rotate } = kindDocuments(kindAt(path), fieldsOf(answers))
  return route(`POST ${path}/:id/rotate-secret`, {
    summary,
    need: onBase('manage'),
    params: z.strictObject({ base_id: baseId(), id: configurationId(label) }),
    body: z.strictObject({}).optional(),
    operation: rotate(),
    reply: ({ written }) => ({ body: trim(without(written, 'operation', 'warnings')) }),
    answers,
  })
}

/** The name of the kind: `/:base_id/inbound-webhooks` has `inbound_webhook`. */
const kindAt = (path: string): string => path.slice(path.lastIndexOf('/') + 1, -1).replaceAll('-', '_')

/** The fields of a resource, and not what only a write says. */
const fieldsOf = ({ shape }: z.ZodObject): string[] => {
  const { id: _, version, created_at, updated_at, dry_run, meta, ...own } = shape
  return ['id', ...Object.keys(own), ...Object.keys({ version, created_at, updated_at })]
}

const HISTORY = graphql(
  `query ConfigurationHistory($base: String!, $kind: String!, $id: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
    page: configurationHistory(base: $base, kind: $kind, id: $id, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
      data { version operation at actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId } seq cause diff }
      hasMore truncated limit offset total nextCursor
    }
  }`,
)
const ConfigurationVersion = versionShape(
  ['create', 'update', 'delete'],
  'RFC 6902 diff from the previous version. A creation adds the whole, a deletion removes it.',
).meta({ id: 'ConfigurationVersion' })

const confirmation = (description: string) =>
  z.strictObject({ confirm: z.string().optional().meta({ description }) })

/** Warnings of a write in a response. */
export const WarningsMeta = z
  .object({
    warnings: z.array(z.string()).optional(),
    records_rewritten: z
      .int()
      .optional()
      .meta({ description: 'How many records the migration rewrote, or would rewrite in a dry run.' }),
  })
  .optional()
  .meta({ description: 'What this write removed from the schema, and what it did to the records.' })

/** The response shape of a kind: its fields, and those that every kind has. */
export const answerOf = <B extends z.ZodRawShape>(name: string, fields: z.ZodObject<B>) =>
  fields
    .required()
    .extend({
      id: z.string(),
      version: z.int(),
      created_at: time,
      updated_at: time,
      dry_run: z.literal(true).optional(),
    })
    .meta({ id: name })
