import { z } from 'zod'
import { pageBody, trim } from '../bodies.ts'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { RecordTypeTexts } from '../shapes.ts'
import { pageArguments, pageOutput } from './shapes.ts'
import { accountTool, tool, writing } from './tool.ts'

const ToolType = graphql(`fragment ToolType on RecordType {
  id name description icon color json_schema: jsonSchema indexes timezone sources display version
  created_at: createdAt updated_at: updatedAt
}`)
const listTypes = compile(
  graphql(
    `query ToolListTypes($base: String!, $limit: Int, $offset: Int) {
    recordTypes(base: $base, limit: $limit, offset: $offset) {
      data { ...ToolType } hasMore limit offset
    }
  }`,
    [ToolType],
  ),
)
const putType = compile(
  graphql(
    `mutation ToolPutType($base: String!, $id: String!, $input: RecordTypeInput!, $onInvalid: OnInvalid) {
    putRecordType(base: $base, id: $id, input: $input, onInvalid: $onInvalid) {
      ...ToolType dry_run: dryRun
    }
  }`,
    [ToolType],
  ),
)

export const recordTypeTools = [
  tool('list_types', {
    title: 'List record types',
    description:
      'List the record types of the base with their JSON Schemas. Read it before writing or filtering records.',
    permission: 'read',
    hints: { idempotent: true },
    input: z.strictObject(pageArguments),
    output: pageOutput,
    run: async ({ base_id, limit, offset }, context) =>
      pageBody((await listTypes({ base: base_id, limit, offset }, context)).recordTypes),
  }),
]

export const typeAdministration = [
  accountTool('put_record_type', {
    title: 'Create or update a record type',
    description:
      'Create a record type, or replace it whole. json_schema is JSON Schema 2020-12 with an object at its root. A change that existing records break is refused unless on_invalid is "allow".',
    permission: 'manage',
    hints: { idempotent: true, destructive: true },
    input: z.strictObject({
      base_id: z.string(),
      id: z.string().meta({ description: 'Letters, digits, "_", "." and "-".' }),
      ...RecordTypeTexts.pick({ name: true, description: true }).shape,
      json_schema: z.record(z.string(), z.unknown()).optional(),
      timezone: z.string().optional().meta({ description: 'IANA name; UTC when left out.' }),
      on_invalid: z.enum(['allow']).optional(),
      ...writing,
    }),
    output: {
      type: 'object',
      properties: { id: { type: 'string' }, version: { type: 'integer' } },
      required: ['id'],
    },
    run: async ({ base_id, id, name, description, json_schema, timezone, on_invalid }, context) => {
      const input = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(json_schema !== undefined && { jsonSchema: json_schema }),
        ...(timezone !== undefined && { timezone }),
      }
      const done = await putType({ base: base_id, id, input, onInvalid: on_invalid ?? 'refuse' }, context)
      return trim(done.putRecordType)
    },
  }),
]
