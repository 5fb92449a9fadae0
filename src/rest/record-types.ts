import { z } from 'zod'
import { pageBody, trim } from '../contract/response-bodies.ts'
import { RecordTypePut } from '../contract/shapes.ts'
import { invalid } from '../foundation/errors.ts'
import { graphql } from '../graphql/document.ts'
import { listOf, without } from './route/page.ts'
import { flag, pageOf, pageQuery } from './route/query.ts'
import { route } from './route/route.ts'
import { baseId, Deleted, time, typeId } from './route/shapes.ts'

const JsonObject = z.record(z.string(), z.unknown())

const Index = z
  .object({
    fields: z.array(z.union([z.string(), z.object({ field: z.string(), direction: z.literal('desc') })])),
    unique: z.boolean(),
    type: z.enum(['btree', 'text']),
    status: z.enum(['building', 'ready', 'failed']),
    duplicates: z
      .array(z.object({ values: z.array(z.unknown()), ids: z.array(z.string()) }))
      .optional()
      .meta({ description: 'Why it failed: records that share the values, the first ten groups.' }),
  })
  .meta({ id: 'Index' })

const RecordType = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    icon: z.string().nullable(),
    color: z.string().nullable(),
    json_schema: JsonObject.meta({ description: 'JSON Schema 2020-12, or draft-07 when `$schema` says so.' }),
    indexes: z.array(Index),
    timezone: z.string(),
    sources: z.array(z.unknown()),
    display: JsonObject.meta({ description: 'Free, for user interfaces.' }),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'RecordType' })

const RecordTypeFields = graphql(`fragment RecordTypeFields on RecordType {
  id name description icon color json_schema: jsonSchema indexes timezone sources display version
  created_at: createdAt updated_at: updatedAt
}`)

type Body = z.output<typeof RecordTypePut>
const params = z.strictObject({ base_id: baseId(), id: typeId })
const changeQuery = z.strictObject({
  on_invalid: z
    .enum(['allow'])
    .optional()
    .meta({ description: '`allow`: keep records the schema refuses, flagged `valid: false`.' }),
  migrate: flag('Repair the records that exist with the steps in `migration`.'),
})
type ChangeQuery = z.output<typeof changeQuery>
const need = ({ base_id = '', id = '' }) => ({ permission: 'manage', base: base_id, recordType: id }) as const

function onInvalid({ on_invalid, migrate }: ChangeQuery) {
  if (migrate && on_invalid)
    throw invalid({
      path: 'query/on_invalid',
      code: 'disagrees',
      message: 'on_invalid=allow and migrate=true exclude each other. Send one of them.',
    })
  return migrate ? ('migrate' as const) : (on_invalid ?? ('refuse' as const))
}

/** Only what is given: to a PATCH, null is a value. */
const input = ({
  json_schema,
  id: _id,
  sources: _sources,
  migration: _migration,
  expected_version: _version,
  ...texts
}: Body) => ({
  ...texts,
  ...(json_schema !== undefined && { jsonSchema: json_schema }),
})

export const recordTypes = [
  route('GET /:base_id/record-types', {
    tag: 'Record types',
    summary: 'List record types',
    need: ({ base_id = '' }) => ({ sight: base_id }),
    params: params.pick({ base_id: true }),
    query: pageQuery,
    operation: graphql(
      `query ListRecordTypes($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        recordTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...RecordTypeFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [RecordTypeFields],
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      ...pageOf(query),
    }),
    reply: ({ recordTypes }) => ({ body: pageBody(recordTypes) }),
    answers: listOf(RecordType),
  }),
  route('PUT /:base_id/record-types/:id', {
    tag: 'Record types',
    summary: 'Create a record type or replace it',
    need,
    params,
    query: changeQuery,
    body: RecordTypePut,
    versioned: true,
    operation: graphql(
      `mutation PutRecordType($base: String!, $id: String!, $input: RecordTypeInput!, $onInvalid: OnInvalid, $migration: JSON,
        $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        putRecordType(base: $base, id: $id, input: $input, onInvalid: $onInvalid, migration: $migration,
          expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...RecordTypeFields operation dry_run: dryRun
        }
      }`,
      [RecordTypeFields],
    ),
    variables: ({ params, query, body, conditions }) => ({
      base: params.base_id,
      id: params.id,
      input: input(body),
      onInvalid: onInvalid(query),
      migration: body.migration,
      ...conditions,
    }),
    reply: ({ putRecordType }, { params }) => ({
      status: putRecordType.operation === 'created' ? 201 : 200,
      location: `/v1/${params.base_id}/record-types/${putRecordType.id}`,
      body: trim(without(putRecordType, 'operation')),
    }),
    statuses: [200, 201],
    answers: RecordType,
  }),
  route('GET /:base_id/record-types/:id', {
    tag: 'Record types',
    summary: 'Get a record type',
    need: ({ base_id = '', id = '' }) => ({ permission: 'read', base: base_id, recordType: id }),
    params,
    operation: graphql(
      `query GetRecordType($base: String!, $id: String!) { recordType(base: $base, id: $id) { ...RecordTypeFields } }`,
      [RecordTypeFields],
    ),
    variables: ({ params }) => ({ base: params.base_id, id: params.id }),
    reply: ({ recordType }) => ({ body: recordType }),
    answers: RecordType,
  }),
  route('PATCH /:base_id/record-types/:id', {
    tag: 'Record types',
    summary: 'Change the named fields of a record type',
    need,
    params,
    query: changeQuery,
    body: RecordTypePut,
    versioned: true,
    operation: graphql(
      `mutation PatchRecordType($base: String!, $id: String!, $input: RecordTypeInput!, $onInvalid: OnInvalid, $migration: JSON,
        $expectedVersions: [Int!], $mustExist: Boolean) {
        patchRecordType(base: $base, id: $id, input: $input, onInvalid: $onInvalid, migration: $migration,
          expectedVersions: $expectedVersions, mustExist: $mustExist) {
          ...RecordTypeFields dry_run: dryRun
        }
      }`,
      [RecordTypeFields],
    ),
    variables: ({ params, query, body, conditions }) => ({
      base: params.base_id,
      id: params.id,
      input: input(body),
      onInvalid: onInvalid(query),
      migration: body.migration,
      expectedVersions: conditions.expectedVersions,
      mustExist: conditions.mustExist,
    }),
    reply: ({ patchRecordType }) => ({ body: trim(patchRecordType) }),
    answers: RecordType,
  }),
  route('DELETE /:base_id/record-types/:id', {
    tag: 'Record types',
    summary: 'Delete a record type',
    need,
    params,
    query: z.strictObject({
      confirm: z.string().optional().meta({ description: "The type's id; needed when it has records." }),
    }),
    versioned: true,
    operation:
      graphql(`mutation DeleteRecordType($base: String!, $id: String!, $confirm: String, $expectedVersions: [Int!]) {
      deleteRecordType(base: $base, id: $id, confirm: $confirm, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
    }`),
    variables: ({ params, query, conditions }) => ({
      base: params.base_id,
      id: params.id,
      confirm: query.confirm,
      expectedVersions: conditions.expectedVersions,
    }),
    reply: ({ deleteRecordType }) => ({ body: trim(deleteRecordType) }),
    answers: Deleted,
  }),
]
