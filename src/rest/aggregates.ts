import { z } from 'zod'
import { Aggregations, GroupBy, Over } from '../contract/aggregate-shapes.ts'
import { Filter, sortBody } from '../contract/query-shapes.ts'
import { rowsBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { listOf } from './route/page.ts'
import { asOf, pageBody } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, onType, typeId } from './route/shapes.ts'

const condition = (description: string) => Filter.optional().meta({ description })

/** The body of an aggregation. */
export const AggregateBody = pageBody.omit({ cursor: true }).extend({
  filter: condition('The records to aggregate. Defaults to all.'),
  aggregations: Aggregations,
  group_by: GroupBy.optional().meta({
    description:
      '`"data.status"`, or `{"field":"created_at","interval":"day"}`. Without it, the result is one row.',
  }),
  having: condition('Filters the groups. Its fields are group keys and aliases.'),
  sort: sortBody(
    '-count,data.status',
    'Group keys and aliases to sort by, such as `-count`. Defaults to the group keys.',
  ),
})

/** A group: its keys and aggregations by name. */
export const Group = z
  .record(z.string(), z.unknown())
  .meta({ id: 'Group', description: 'Group keys and aggregations, by alias or default name.' })

export const aggregates = tagged('Records', [
  route('POST /:base_id/records/:record_type/aggregate', {
    summary: 'Aggregate records: count, sum, average, minimum and maximum, by group',
    need: onType('read'),
    params: z.strictObject({ base_id: baseId(), record_type: typeId }),
    body: AggregateBody.extend({
      as_of: asOf,
      over: Over.optional().meta({
        description:
          'The groups as they were at the end of each interval, at most 400. Rows have it as `at`.',
      }),
    }),
    operation: graphql(
      `query Aggregate($base: String!, $recordType: String!, $filter: JSON, $aggregations: JSON, $groupBy: JSON, $having: JSON,
        $sort: JSON, $asOf: String, $over: JSON, $limit: Int, $offset: Int, $includeTotal: Boolean) {
        aggregate(base: $base, recordType: $recordType, filter: $filter, aggregations: $aggregations, groupBy: $groupBy,
          having: $having, sort: $sort, asOf: $asOf, over: $over, limit: $limit, offset: $offset, includeTotal: $includeTotal) {
          rows hasMore truncated limit offset total hint
        }
      }`,
    ),
    reply: ({ aggregate }) => ({ body: rowsBody(aggregate) }),
    answers: listOf(Group),
  }),
])
