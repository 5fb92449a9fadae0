/** Tools for record types: list_types and put_record_type. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { pageBody, writtenBody } from '../../contract/response-bodies.ts'
import { RecordTypeTexts } from '../../contract/shapes.ts'
import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { BY_CURSOR, ReadResult, typeUriIn } from '../budget/read-result.ts'
import { answerOutput, pageArguments, pageOf, pageOutput } from '../tool/page-arguments.ts'
import { accountTool, reading, tool, writing } from '../tool/tool.ts'

const ToolType = graphql(`fragment ToolType on RecordType {
  id name description icon color json_schema: jsonSchema indexes timezone sources display version
  created_at: createdAt updated_at: updatedAt
}`)
const listTypes = compile(
  graphql(
    `query ToolListTypes($base: String!, $limit: Int, $offset: Int, $cursor: String) {
    recordTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor) {
      data { ...ToolType } hasMore limit offset nextCursor cursors
    }
  }`,
    [ToolType],
  ),
)
const putType = compile(
  graphql(
    `mutation ToolPutType($base: String!, $id: String!, $input: RecordTypeInput!, $onInvalid: OnInvalid) {
    putRecordType(base: $base, id: $id, input: $input, onInvalid: $onInvalid) {
      ...ToolType warnings dry_run: dryRun
    }
  }`,
    [ToolType],
  ),
)
const mergeType = compile(
  graphql(
    `mutation ToolMergeType($base: String!, $id: String!, $merge: JSON!, $onInvalid: OnInvalid) {
    patchRecordType(base: $base, id: $id, merge: $merge, onInvalid: $onInvalid) {
      ...ToolType warnings dry_run: dryRun
    }
  }`,
    [ToolType],
  ),
)

export const recordTypeTools = [
  tool('list_types', {
    title: 'List types',
    description: 'The record types with their JSON Schemas. Start here.',
    permission: 'read',
    hints: { idempotent: true },
    input: z.strictObject({ ...pageArguments, ...reading }),
    output: pageOutput,
    run: async ({ base_id, ...page }, context) => {
      const { recordTypes } = await listTypes({ base: base_id, ...pageOf(page) }, context)
      const { cursors } = recordTypes
      return new ReadResult(pageBody(recordTypes), { ...BY_CURSOR, cursors, uriOf: typeUriIn(base_id) })
    },
  }),
]

export const typeAdministration = [
  accountTool('put_record_type', {
    title: 'Create or update a record type',
    description:
      'Create a record type, or replace it whole; merge changes parts of it. json_schema is JSON Schema 2020-12 of an object. A schema that existing records violate is refused unless on_invalid is "allow". Relationship types: batch {type: upsert_relationship_type, id, body}.',
    permission: 'manage',
    hints: { idempotent: true, destructive: true },
    input: z.strictObject({
      base_id: z.string(),
      id: z.string(),
      ...RecordTypeTexts.pick({ name: true, description: true }).shape,
      json_schema: z.record(z.string(), z.unknown()).optional(),
      indexes: z.array(z.record(z.string(), z.unknown())).optional().meta({
        description: '[{"fields":["data.email"],"unique":true},{"fields":["data.text"],"type":"text"}].',
      }),
      timezone: z.string().optional(),
      merge: z.boolean().optional().meta({ description: 'Send only changes (RFC 7396): null removes.' }),
      on_invalid: z.enum(['allow']).optional(),
      ...writing,
    }),
    output: answerOutput,
    run: async ({ base_id: base, id, merge, on_invalid, ...args }, context) => {
      const onInvalid = on_invalid ?? 'refuse'
      const { name, description, json_schema, indexes, timezone } = args
      const sent = Object.entries({ name, description, json_schema, indexes, timezone })
      const fields = Object.fromEntries(sent.filter(([, value]) => value !== undefined))
      const written = merge
        ? (await mergeType({ base, id, merge: fields, onInvalid }, context)).patchRecordType
        : (await putType({ base, id, input: camelFields(fields), onInvalid }, context)).putRecordType
      return writtenBody(written)
    },
  }),
]
