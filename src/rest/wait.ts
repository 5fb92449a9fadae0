/** REST route for long polling: waits until a record matches a filter. */

import { z } from 'zod'
import { rowsBody } from '../contract/response-bodies.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { FoundRecord } from './records/shapes.ts'
import { byName } from './route/by-name.ts'
import { listOf } from './route/page.ts'
import { askedIn, json, names, pageQuery, whole } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, onType, typeId } from './route/shapes.ts'

export const wait = tagged('Claims', [
  route('GET /:base_id/wait/:record_type', {
    summary:
      'Long-poll for a matching record: returns the first page that has one, or an empty page after the timeout',
    need: onType('read'),
    params: z.strictObject({ base_id: baseId(), record_type: typeId }),
    query: pageQuery.pick({ limit: true }).extend({
      filter: json(
        'A filter: `{"field","op","value"}`, or groups of them with `and`, `or`, `not`, `some`, `none`.',
      ),
      sort: json('`-created_at,id`, or `[{"field","direction"}]`.'),
      fields: names('Fields to return: `id`, `data.name`.'),
      timeout: whole(0, LIMITS.waitSecondsMax, LIMITS.waitSeconds, 'Maximum seconds to wait.'),
    }),
    cuts: true,
    operation: graphql(
      `query WaitForRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $fields: [String!], $limit: Int, $timeout: Int) {
        waitForRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields, limit: $limit, timeout: $timeout) {
          rows hasMore truncated limit offset total nextCursor hint
        }
      }`,
    ),
    variables: (parts) => ({ ...byName(parts), ...askedIn(parts.query) }),
    reply: ({ waitForRecords }) => ({ body: rowsBody(waitForRecords) }),
    answers: listOf(FoundRecord),
  }),
])
