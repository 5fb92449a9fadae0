import { z } from 'zod'
import { rowsBody, trim } from '../bodies.ts'
import { invalid } from '../errors.ts'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { OPERATOR_NAMES } from '../operators.ts'
import { pageArguments, pageOf, pageOutput, recordOutput } from './shapes.ts'
import { tool, writing } from './tool.ts'

const ToolRecord = graphql(`fragment ToolRecord on Record {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid operation dry_run: dryRun
}`)

const list = compile(
  graphql(
    `query ToolQuery($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!],
      $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      records(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, expand: $expand,
        limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        rows hasMore limit offset total nextCursor hint
      }
    }`,
  ),
)
const get = compile(
  graphql(
    `query ToolGet($base: String!, $recordType: String!, $id: String!) { record(base: $base, recordType: $recordType, id: $id) { ...ToolRecord } }`,
    [ToolRecord],
  ),
)
const put = compile(
  graphql(
    `mutation ToolPut($base: String!, $recordType: String!, $id: String!, $data: JSON!, $externalId: String, $externalSource: String, $expectedVersions: [Int!], $mustExist: Boolean) {
      putRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource,
        expectedVersions: $expectedVersions, mustExist: $mustExist) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
const putByPair = compile(
  graphql(
    `mutation ToolPutByPair($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String, $expectedVersions: [Int!], $mustExist: Boolean) {
      putRecordByExternalId(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource,
        expectedVersions: $expectedVersions, mustExist: $mustExist) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
/** Creates a record; also what `create_<type>` runs. */
export const create = compile(
  graphql(
    `mutation ToolCreate($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String) {
      createRecord(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
/** Merges a patch; also what `update_<type>` runs. */
export const patch = compile(
  graphql(
    `mutation ToolPatch($base: String!, $recordType: String!, $id: String!, $merge: JSON, $externalId: String, $externalSource: String, $expectedVersions: [Int!]) {
      patchRecord(base: $base, recordType: $recordType, id: $id, merge: $merge, externalId: $externalId, externalSource: $externalSource,
        expectedVersions: $expectedVersions) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
const cancel = compile(
  graphql(
    `mutation ToolCancel($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!]) {
      cancelRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
const remove = compile(
  graphql(`mutation ToolDelete($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!]) {
    deleteRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions) { id deleted dry_run: dryRun }
  }`),
)

const inType = { record_type: z.string() }
const one = { ...inType, id: z.string() }
const expected = {
  expected_version: z.int().min(1).optional(),
}
const pair = {
  external_id: z.string().optional(),
  external_source: z.string().optional(),
}
const data = z.record(z.string(), z.unknown())
const names = z.array(z.string()).optional()

type Target = { base_id: string; record_type: string; id: string }
const target = ({ base_id, record_type, id }: Target) => ({ base: base_id, recordType: record_type, id })
const versions = ({ expected_version }: { expected_version?: number | undefined }) =>
  expected_version === undefined ? {} : { expectedVersions: [expected_version] }
const pairOf = ({
  external_id,
  external_source,
}: {
  external_id?: string | undefined
  external_source?: string | undefined
}) => ({
  ...(external_id !== undefined && { externalId: external_id }),
  ...(external_source !== undefined && { externalSource: external_source }),
})

const nothingExpected = () =>
  invalid({
    path: '/expected_version',
    code: 'not_conditional',
    message:
      'Without id and external_id a record is created, which has no version yet. Name the one you mean.',
  })

export const recordTools = [
  tool('query_records', {
    title: 'Query records',
    description: `List records of a type that match. filter: {"field":"data.status","op":"eq","value":"open"}, or {"and":[…]}, {"or":[…]}, {"not":{…}}. Operators: ${OPERATOR_NAMES.join(' ')}. "data.items[].sku" is any element; search takes words and forgives typos.`,
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      filter: data.optional(),
      sort: z.string().optional().meta({ description: '"-data.amount,id": "-" is descending.' }),
      fields: names.meta({ description: 'What to show: "data.name".' }),
      expand: names.meta({ description: 'Relationship types to follow.' }),
      ...pageArguments,
      include_total: z.boolean().optional().meta({ description: 'Count all matches.' }),
    }),
    output: pageOutput,
    run: async ({ base_id, record_type, include_total, limit, offset, cursor, ...query }, context) => {
      const { filter, sort, fields, expand } = query
      const asked = {
        base: base_id,
        recordType: record_type,
        ...(filter && { filter }),
        ...(sort !== undefined && { sort }),
        ...(fields && { fields }),
        ...(expand && { expand }),
        ...pageOf({ limit, offset, cursor }),
        includeTotal: include_total ?? false,
      }
      return rowsBody((await list(asked, context)).records)
    },
  }),
  tool('get_record', {
    title: 'Get a record',
    description: 'Read one record by its id.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject(one),
    output: recordOutput,
    run: async (args, context) => trim((await get(target(args), context)).record),
  }),
  tool('upsert_record', {
    title: 'Create or replace a record',
    description:
      'Write a record whole. id, or external_id (its id elsewhere), names the one to replace or create; with neither a new one is created.',
    permission: 'write',
    // Not idempotent: without id and external_id each call makes a record.
    hints: { destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...inType, id: z.string().optional(), data, ...pair, ...expected, ...writing }),
    output: recordOutput,
    run: async (args, context) => {
      const content = { base: args.base_id, recordType: args.record_type, data: args.data, ...pairOf(args) }
      const when = { ...versions(args), mustExist: args.expected_version !== undefined }
      if (args.id !== undefined)
        return trim((await put({ ...content, ...when, id: args.id }, context)).putRecord)
      if (args.external_id !== undefined)
        return trim((await putByPair({ ...content, ...when }, context)).putRecordByExternalId)
      if (args.expected_version !== undefined) throw nothingExpected()
      return trim((await create(content, context)).createRecord)
    },
  }),
  tool('update_record', {
    title: 'Update a record',
    description: 'Change a record in part: what data names is set, null clears it, the rest stays.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, data: data.optional(), ...pair, ...expected, ...writing }),
    output: recordOutput,
    run: async (args, context) =>
      trim(
        (
          await patch(
            { ...target(args), ...(args.data && { merge: args.data }), ...pairOf(args), ...versions(args) },
            context,
          )
        ).patchRecord,
      ),
  }),
  tool('cancel_record', {
    title: 'Cancel a record',
    description: 'Set the status of a record to "cancelled"; it stays readable.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, ...expected, ...writing }),
    output: recordOutput,
    run: async (args, context) =>
      trim((await cancel({ ...target(args), ...versions(args) }, context)).cancelRecord),
  }),
  tool('delete_record', {
    title: 'Delete a record',
    description: 'Delete a record. To keep it readable, cancel it instead.',
    permission: 'write',
    hints: { destructive: true },
    input: z.strictObject({ ...one, ...expected, ...writing }),
    output: {
      type: 'object',
      properties: { id: { type: 'string' }, deleted: { type: 'boolean' } },
      required: ['id', 'deleted'],
    },
    run: async (args, context) =>
      trim((await remove({ ...target(args), ...versions(args) }, context)).deleteRecord),
  }),
]
