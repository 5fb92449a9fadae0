/** All REST routes of records. */
import { z } from 'zod'
import { splitNames } from '../../contract/field-list.ts'
import { trim } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import { asOf, names, whole } from '../route/query.ts'
import { route } from '../route/route.ts'
import { recordActs } from './actions.ts'
import { needs, one, RecordFields, target } from './fragments.ts'
import { EXPAND, recordLists } from './lists.ts'
import { recordPatch } from './patch.ts'
import { recordPuts } from './puts.ts'
import { OneRecord } from './shapes.ts'

const past = z.strictObject({
  version: whole(1, 2_147_483_647, undefined, 'The version to return.'),
  as_of: asOf,
})
export const records = [
  ...recordLists,
  ...recordPuts,
  route('GET /:base_id/records/:record_type/:id', {
    tag: 'Records',
    summary: 'Get a record: its current state, one of its versions, or its state at a time',
    need: needs('read'),
    params: one,
    query: past.extend({ expand: names(EXPAND) }),
    operation: graphql(
      `query GetRecord($base: String!, $recordType: String!, $id: String!, $version: Int, $asOf: String, $expand: [String!]) {
        record(base: $base, recordType: $recordType, id: $id, version: $version, asOf: $asOf, expand: $expand) {
          ...RecordFields _expanded: expanded _expanded_truncated: expandedTruncated
        }
      }`,
      [RecordFields],
    ),
    variables: ({ params, query }) => ({
      ...target(params),
      version: query.version,
      asOf: query.as_of,
      ...(query.expand !== undefined && { expand: splitNames(query.expand, 'query/expand') }),
    }),
    reply: ({ record }) => ({ body: trim(record) }),
    answers: OneRecord,
  }),
  ...recordPatch,
  ...recordActs,
]
