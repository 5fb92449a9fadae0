/** REST routes for queries across bases. */
import { z } from 'zod'
import { Aggregations, GroupBy } from '../contract/aggregate-shapes.ts'
import { rowsBody } from '../contract/response-bodies.ts'
import { invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { AggregateBody, Group } from './aggregates.ts'
import { FoundRecord } from './records/shapes.ts'
import { listOf } from './route/page.ts'
import { route, tagged } from './route/route.ts'
import { typeId } from './route/shapes.ts'

const Body = AggregateBody.extend({
  bases: z
    .array(z.string())
    .min(1, 'Name at least one base, or all that the token may read: ["*"].')
    .max(LIMITS.queriedBases, `One query can read at most ${LIMITS.queriedBases} bases.`)
    .meta({ description: 'Base ids, or `["*"]`: all bases in which the token can read the type.' }),
  record_type: typeId,
  fields: z
    .array(z.string())
    .optional()
    .meta({ description: 'Fields to return: `id`, `data.name`. Not allowed with aggregations.' }),
  aggregations: Aggregations.optional().meta({
    description: 'If present, the response has groups, as an aggregate does.',
  }),
  group_by: GroupBy.optional().meta({ description: 'As in an aggregate. Also `"base_id"`.' }),
})

/** A record of a cross-base list. With `fields`, only the selected fields and the base. */
const CrossBaseRecord = FoundRecord.extend({ base_id: z.string() }).meta({ id: 'CrossBaseRecord' })

export const crossBase = tagged('Records', [
  route('POST /accounts/:account_id/query', {
    summary: 'Query or aggregate the records of a type across bases',
    need: () => null,
    params: z.strictObject({
      account_id: z.string().meta({ description: 'The one account of an installation: `default`.' }),
    }),
    body: Body,
    cuts: true,
    operation: graphql(
      `query CrossBase($isAggregate: Boolean!, $account: String!, $bases: [String!]!, $recordType: String!, $filter: JSON, $sort: JSON,
        $fields: [String!], $aggregations: JSON, $groupBy: JSON, $having: JSON, $limit: Int, $offset: Int, $includeTotal: Boolean) {
        queryBases(account: $account, bases: $bases, recordType: $recordType, filter: $filter, sort: $sort, fields: $fields,
          limit: $limit, offset: $offset, includeTotal: $includeTotal) @skip(if: $isAggregate) { rows hasMore truncated limit offset total }
        aggregateBases(account: $account, bases: $bases, recordType: $recordType, filter: $filter, aggregations: $aggregations,
          groupBy: $groupBy, having: $having, sort: $sort, limit: $limit, offset: $offset, includeTotal: $includeTotal)
          @include(if: $isAggregate) { rows hasMore truncated limit offset total }
      }`,
    ),
    variables: ({ params, body }) => {
      const isAggregate = [body.aggregations, body.group_by, body.having].some((each) => each !== undefined)
      if (isAggregate && body.fields !== undefined) throw noFields()
      return {
        isAggregate,
        account: params.account_id,
        bases: body.bases,
        recordType: body.record_type,
        filter: body.filter,
        sort: body.sort,
        fields: body.fields,
        aggregations: body.aggregations,
        groupBy: body.group_by,
        having: body.having,
        limit: body.limit,
        offset: body.offset,
        includeTotal: body.include_total,
      }
    },
    reply: ({ queryBases, aggregateBases }) => {
      const page = aggregateBases ?? queryBases
      if (!page) throw new Error('The operation answers one of its two fields')
      return { body: rowsBody(page) }
    },
    answers: listOf(z.union([CrossBaseRecord, Group])),
  }),
])

const noFields = () =>
  invalid({
    path: '/fields',
    code: 'exclusive',
    message: 'fields and aggregations exclude each other. Leave one of them out.',
  })
