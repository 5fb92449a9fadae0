/** The tool aggregate_records. */
import { z } from 'zod'
import { rowsBody } from '../../contract/response-bodies.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_OFFSET, ReadResult } from '../budget/read-result.ts'
import { byName } from '../tool/by-name.ts'
import { pageOutput } from '../tool/page-arguments.ts'
import { reading, tool } from '../tool/tool.ts'

const aggregate =
  staticOperation(`query ToolAggregate($base: String!, $recordType: String!, $filter: JSON, $aggregations: JSON, $groupBy: JSON,
    $having: JSON, $sort: JSON, $asOf: String, $over: JSON, $limit: Int, $offset: Int) {
    aggregate(base: $base, recordType: $recordType, filter: $filter, aggregations: $aggregations, groupBy: $groupBy,
      having: $having, sort: $sort, asOf: $asOf, over: $over, limit: $limit, offset: $offset) { rows hasMore limit offset hint }
  }`)

const object = z.record(z.string(), z.unknown())

export const aggregateTool = tool('aggregate_records', {
  title: 'Aggregate records',
  description:
    'Count, sum and compare by group. aggregations: [{"fn":"sum","field":"data.n","alias":"n"}]; fn: count sum avg min max count_distinct. group_by: ["data.a",{"field":"created_at","interval":"day"}]. having (a filter) and sort name results: "-n".',
  permission: 'read',
  showsRecords: true,
  input: z.strictObject({
    record_type: z.string(),
    aggregations: z.array(object),
    group_by: z.array(z.unknown()).optional(),
    filter: object.optional(),
    having: object.optional(),
    sort: z.string().optional(),
    as_of: z.string().optional(),
    over: object.optional().meta({ listed: false }),
    limit: z.int32().optional(),
    offset: z.int32().optional(),
    ...reading,
  }),
  output: pageOutput,
  run: async (args, context) =>
    new ReadResult(rowsBody((await aggregate(byName(args), context)).aggregate), BY_OFFSET),
})
