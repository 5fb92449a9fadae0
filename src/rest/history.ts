/** REST routes for earlier versions of records. */
import { z } from 'zod'
import { pageBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { listOf } from './route/page.ts'
import { pageOf, pageQuery } from './route/query.ts'
import { route } from './route/route.ts'
import { baseId, recordId, typeId, versionShape } from './route/shapes.ts'

const Version = versionShape(
  ['create', 'update', 'cancel', 'delete', 'restore'],
  'RFC 6902 diff of `{ data, status, external_id, external_source }` from the previous version. A creation adds the whole, a deletion removes it.',
).meta({ id: 'RecordVersion' })

export const history = [
  route('GET /:base_id/records/:record_type/:id/history', {
    tag: 'History',
    summary: 'List the versions of a record, newest first, also after its deletion',
    need: ({ base_id = '', record_type = '' }) => ({
      permission: 'read',
      base: base_id,
      recordType: record_type,
    }),
    params: z.strictObject({ base_id: baseId(), record_type: typeId, id: recordId }),
    query: pageQuery,
    operation: graphql(
      `query RecordHistory($base: String!, $recordType: String!, $id: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        recordHistory(base: $base, recordType: $recordType, id: $id, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { version operation at actor { token_id: tokenId name via } request_id: requestId seq cause diff }
          hasMore truncated limit offset total nextCursor
        }
      }`,
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      recordType: params.record_type,
      id: params.id,
      ...pageOf(query),
    }),
    reply: ({ recordHistory }) => ({ body: pageBody(recordHistory) }),
    answers: listOf(Version),
  }),
]
