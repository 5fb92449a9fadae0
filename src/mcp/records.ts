import { z } from 'zod'
import { linkOf, rowsBody, trim } from '../bodies.ts'
import { check, inBody } from '../check.ts'
import { invalid } from '../errors.ts'
import type { Context } from '../graphql/context.ts'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { OPERATOR_NAMES } from '../operators.ts'
import { RecordLinks } from '../shapes.ts'
import { deletedOr, ToolPlan } from './plan.ts'
import { Reading, recordUriIn } from './reading.ts'
import { answerOutput, pageArguments, pageOf, pageOutput, recordOutput } from './shapes.ts'
import { deleting, reading, tool, writing } from './tool.ts'

/** What of a record a tool answers. */
export const ToolRecord = graphql(`fragment ToolRecord on Record {
  id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
  external_source: externalSource version status cancelled_at: cancelledAt valid operation dry_run: dryRun
}`)

const list = compile(
  graphql(
    `query ToolQuery($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $expand: [String!],
      $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
      records(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, expand: $expand,
        limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
        rows hasMore limit offset total nextCursor cursors hint
      }
    }`,
  ),
)
const get = compile(
  graphql(
    `query ToolGet($base: String!, $recordType: String!, $id: String!, $expand: [String!]) {
      record(base: $base, recordType: $recordType, id: $id, expand: $expand) {
        ...ToolRecord _expanded: expanded _expanded_truncated: expandedTruncated
      }
    }`,
    [ToolRecord],
  ),
)
const put = compile(
  graphql(
    `mutation ToolPut($base: String!, $recordType: String!, $id: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String, $stated: JSON) {
      putRecord(base: $base, recordType: $recordType, id: $id, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships,
        expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId, stated: $stated) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
const putByPair = compile(
  graphql(
    `mutation ToolPutByPair($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!], $expectedVersions: [Int!], $mustExist: Boolean, $claimId: String, $stated: JSON) {
      putRecordByExternalId(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships,
        expectedVersions: $expectedVersions, mustExist: $mustExist, claimId: $claimId, stated: $stated) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
/** Creates a record; also what `create_<type>` runs. */
export const create = compile(
  graphql(
    `mutation ToolCreate($base: String!, $recordType: String!, $data: JSON!, $externalId: String, $externalSource: String, $relationships: [RecordLink!]) {
      createRecord(base: $base, recordType: $recordType, data: $data, externalId: $externalId, externalSource: $externalSource, relationships: $relationships) { ...ToolRecord }
    }`,
    [ToolRecord],
  ),
)
/** Merges a patch; also what `update_<type>` runs. */
export const patch = compile(
  graphql(
    `mutation ToolPatch($base: String!, $recordType: String!, $id: String!, $merge: JSON, $externalId: String, $externalSource: String, $expectedVersions: [Int!], $claimId: String, $stated: JSON) {
      patchRecord(base: $base, recordType: $recordType, id: $id, merge: $merge, externalId: $externalId, externalSource: $externalSource,
        expectedVersions: $expectedVersions, claimId: $claimId, stated: $stated) { ...ToolRecord }
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
  graphql(
    `mutation ToolDelete($base: String!, $recordType: String!, $id: String!, $expectedVersions: [Int!]) {
      deleteRecord(base: $base, recordType: $recordType, id: $id, expectedVersions: $expectedVersions) {
        id deleted dry_run: dryRun plan { ...ToolPlan }
      }
    }`,
    [ToolPlan],
  ),
)

const inType = { record_type: z.string() }
const one = { ...inType, id: z.string() }
const expected = {
  expected_version: z.int32().min(1).optional(),
}
const claim = { claim_id: z.string().optional() }
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
const claimOf = ({ claim_id }: { claim_id?: string | undefined }) =>
  claim_id === undefined ? {} : { claimId: claim_id }
const statedOf = ({ stated }: { stated?: object | undefined }) => (stated ? { stated } : {})
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

type Upsert = {
  base_id: string
  record_type: string
  data: Record<string, unknown>
  id?: string | undefined
  external_id?: string | undefined
  external_source?: string | undefined
  relationships?: Record<string, unknown>[] | undefined
  expected_version?: number | undefined
  claim_id?: string | undefined
  stated?: object
}

/** Writes a record whole: the one that is named, or a new one; also what `upsert_<type>` runs. */
export async function upsertRecord(args: Upsert, context: Context): Promise<object> {
  const links = check(RecordLinks, args.relationships ?? [], inBody('/relationships')).map(linkOf)
  const content = {
    base: args.base_id,
    recordType: args.record_type,
    data: args.data,
    ...pairOf(args),
    relationships: links,
  }
  const mustExist = args.expected_version !== undefined
  const when = { ...versions(args), ...claimOf(args), ...statedOf(args), mustExist }
  if (args.id !== undefined) return trim((await put({ ...content, ...when, id: args.id }, context)).putRecord)
  if (args.external_id !== undefined)
    return trim((await putByPair({ ...content, ...when }, context)).putRecordByExternalId)
  if (args.expected_version !== undefined) throw nothingExpected('expected_version')
  const [stated] = Object.entries(args.stated ?? {}).find(([, value]) => value !== null) ?? []
  if (stated !== undefined) throw nothingExpected(stated)
  return trim((await create(content, context)).createRecord)
}

const nothingExpected = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'not_conditional',
    message: `Without id and external_id a record is created, which has no ${argument.replace('expected_', '')} yet. Name the one you mean.`,
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
      sort: z.string().optional().meta({ description: '"-data.amount,id"' }),
      fields: names.meta({ description: 'What to show: "data.name".' }),
      expand: names.meta({ description: 'Relationship types to follow.' }),
      ...pageArguments,
      include_total: z.boolean().optional(),
      ...reading,
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
      const { records } = await list(asked, context)
      return new Reading(rowsBody(records), {
        cursors: records.cursors,
        onward: 'Go on with cursor = meta.next_cursor, or name fewer fields.',
        uriOf: recordUriIn(base_id),
      })
    },
  }),
  tool('get_record', {
    title: 'Get a record',
    description: 'Read one record by its id.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({ ...one, expand: names, ...reading }),
    output: recordOutput,
    run: async ({ expand, ...args }, context) => {
      const { record } = await get({ ...target(args), ...(expand && { expand }) }, context)
      return new Reading(trim(record), { uriOf: recordUriIn(args.base_id) })
    },
  }),
  tool('upsert_record', {
    title: 'Upsert a record',
    takesEchoes: true,
    description:
      'Write a record whole. id or external_id (its id elsewhere) names it; with neither a new one is created.',
    permission: 'write',
    // Not idempotent: without id and external_id each call makes a record.
    hints: { destructive: true },
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      id: z.string().optional(),
      data,
      ...pair,
      // Their shape is said in a line: spelt out it would cost more than all else of the tool.
      relationships: z
        .array(data)
        .optional()
        .meta({ description: 'Links to add: {rel_type, record_type, id}.' }),
      ...expected,
      ...claim,
      ...writing,
    }),
    output: recordOutput,
    run: upsertRecord,
  }),
  tool('update_record', {
    title: 'Update a record',
    takesEchoes: true,
    description: 'Change a record in part: what data names is set, null clears it, the rest stays.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, data: data.optional(), ...pair, ...expected, ...claim, ...writing }),
    output: recordOutput,
    run: async (args, context) =>
      trim(
        (
          await patch(
            {
              ...target(args),
              ...(args.data && { merge: args.data }),
              ...pairOf(args),
              ...versions(args),
              ...claimOf(args),
              ...statedOf(args),
            },
            context,
          )
        ).patchRecord,
      ),
  }),
  tool('cancel_record', {
    title: 'Cancel a record',
    description: 'Set the status to cancelled; the record stays readable.',
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
    description: 'Delete a record. Cancel keeps it readable. Where more goes, answers a plan.',
    permission: 'write',
    hints: { destructive: true },
    input: z.strictObject({ ...one, ...expected, ...deleting }),
    output: answerOutput,
    run: async (args, context) =>
      deletedOr((await remove({ ...target(args), ...versions(args) }, context)).deleteRecord),
  }),
]
