/** The tool list_types. */
import { z } from 'zod'
import { pageBody } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_CURSOR, ReadResult, typeUriIn } from '../budget/read-result.ts'
import { byName } from '../tool/by-name.ts'
import { pageArguments, pageOutput } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'

const ToolType = graphql(`fragment ToolType on RecordType {
  id name description icon color json_schema: jsonSchema indexes timezone sources display version
  created_at: createdAt updated_at: updatedAt
}`)
const listTypes = staticOperation(
  `query ToolListTypes($base: String!, $limit: Int, $offset: Int, $cursor: String) {
    recordTypes(base: $base, limit: $limit, offset: $offset, cursor: $cursor) {
      data { ...ToolType } hasMore limit offset nextCursor cursors
    }
  }`,
  [ToolType],
)
export const recordTypeTool = tool('list_types', {
  title: 'List types',
  description: 'The record types with their JSON Schemas. Start here.',
  permission: 'read',
  input: z.strictObject({ ...pageArguments, ...reading }),
  output: pageOutput,
  run: async (args, context) => {
    const { recordTypes } = await listTypes(byName(args), context)
    const { cursors } = recordTypes
    return new ReadResult(pageBody(recordTypes), { ...BY_CURSOR, cursors, uriOf: typeUriIn(args.base_id) })
  },
})
