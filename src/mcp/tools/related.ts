/** The tool get_related: graph traversal along relationships. */
import { z } from 'zod'
import { rowsBody } from '../../contract/response-bodies.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_OFFSET, ReadResult, type Row, recordUriIn } from '../budget/read-result.ts'
import { byName } from '../tool/by-name.ts'
import { pageArguments, pageOutput } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'
import { withId } from './records/operations.ts'

const related =
  staticOperation(`query ToolRelated($base: String!, $recordType: String!, $id: String!, $relType: String, $direction: RelatedDirection, $depth: Int,
    $relatedType: String, $filter: JSON, $sort: JSON, $fields: [String!], $limit: Int, $offset: Int) {
    related(base: $base, recordType: $recordType, id: $id, relType: $relType, direction: $direction, depth: $depth,
      relatedType: $relatedType, filter: $filter, sort: $sort, fields: $fields, limit: $limit, offset: $offset) { rows hasMore limit offset total hint }
  }`)

export const relatedTool = tool('get_related', {
  title: 'Get related',
  description: 'Linked records, nearest first.',
  permission: 'read',
  showsRecords: true,
  input: z.strictObject({
    record_type: z.string(),
    id: z.string(),
    rel_type: z.string().optional(),
    direction: z.enum(['outgoing', 'incoming', 'both']).optional(),
    depth: z.int32().min(1).optional(),
    related_type: z.string().optional(),
    filter: z.record(z.string(), z.unknown()).optional(),
    sort: z.string().optional(),
    fields: z.array(z.string()).optional(),
    limit: pageArguments.limit,
    offset: pageArguments.offset,
    ...reading,
  }),
  output: pageOutput,
  run: async ({ fields, ...query }, context) => {
    const asked = byName({ ...query, fields: fields && withId(fields) })
    const recordUri = recordUriIn(query.base_id)
    return new ReadResult(rowsBody((await related(asked, context)).related), {
      ...BY_OFFSET,
      uriOf: ({ record }) => recordUri(record as Row),
    })
  },
})
