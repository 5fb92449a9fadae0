import { z } from 'zod'
import { rowsBody } from '../bodies.ts'
import { graphql } from '../graphql/document.ts'
import { compile } from '../graphql/execute.ts'
import { LIMITS } from '../limits.ts'
import { BY_OFFSET, Reading, type Row, recordUriIn } from './reading.ts'
import { PAGE, pageOutput } from './shapes.ts'
import { reading, tool } from './tool.ts'

const related = compile(
  graphql(
    `query ToolRelated($base: String!, $recordType: String!, $id: String!, $relType: String, $direction: RelatedDirection, $depth: Int,
      $limit: Int, $offset: Int) {
      related(base: $base, recordType: $recordType, id: $id, relType: $relType, direction: $direction, depth: $depth,
        limit: $limit, offset: $offset) { rows hasMore limit offset total }
    }`,
  ),
)

export const relatedTools = [
  tool('get_related', {
    title: 'Get related',
    description: 'Linked records, nearest first.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      record_type: z.string(),
      id: z.string(),
      rel_type: z.string().optional(),
      direction: z.enum(['outgoing', 'incoming', 'both']).optional(),
      depth: z.int32().min(1).max(LIMITS.relatedDepth).optional(),
      offset: z.int32().min(0).optional(),
      ...reading,
    }),
    output: pageOutput,
    run: async ({ base_id, record_type, id, rel_type, direction, depth, offset }, context) => {
      const asked = {
        ...{ base: base_id, recordType: record_type, id, limit: PAGE },
        ...(rel_type !== undefined && { relType: rel_type }),
        ...(direction && { direction }),
        ...(depth !== undefined && { depth }),
        ...(offset !== undefined && { offset }),
      }
      const recordUri = recordUriIn(base_id)
      return new Reading(rowsBody((await related(asked, context)).related), {
        ...BY_OFFSET,
        uriOf: ({ record }) => recordUri(record as Row),
      })
    },
  }),
]
