/** GraphQL query for aggregations. */
import { type AggregatePage, aggregateRecords } from '../engine/analytics/aggregate/aggregate-records.ts'
import { builder } from './builder.ts'
import { windowArgs, windowFields } from './page.ts'

export const AggregatePageRef = builder.objectRef<AggregatePage>('AggregatePage').implement({
  description: 'Groups of records with their aggregations.',
  fields: (t) => ({
    rows: t.expose('data', {
      type: 'JSON',
      description: 'A list of objects with group keys and aggregations by name.',
    }),
    ...windowFields(t),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if the filter has a value that the schema excludes.',
    }),
  }),
})

/** Arguments of every aggregation. */
export const aggregateArgs = () =>
  builder.args((t) => ({
    filter: t.field({ type: 'JSON', description: 'Filters the records, as in lists.' }),
    aggregations: t.field({
      type: 'JSON',
      description: '[{"fn","field","alias"}]; fn is count, sum, avg, min, max or count_distinct.',
    }),
    groupBy: t.field({ type: 'JSON', description: '["data.status", {"field","interval","alias"}].' }),
    having: t.field({ type: 'JSON', description: 'Filters the groups, by group keys and aliases.' }),
    sort: t.field({
      type: 'JSON',
      description: 'Group keys and aliases to sort by. Defaults to the group keys.',
    }),
    ...windowArgs(),
  }))

builder.queryFields((t) => ({
  aggregate: t.field({
    type: AggregatePageRef,
    description: 'Counts, sums, averages, minima and maxima of the records of a type, by group.',
    args: {
      base: t.arg.string({ required: true }),
      recordType: t.arg.string({ required: true }),
      asOf: t.arg.string({ description: 'Point-in-time read: the state of the records at this time.' }),
      over: t.arg({
        type: 'JSON',
        description:
          '{"interval","since","until"}: the groups as they were at the end of each interval. Rows have it as `at`.',
      }),
      ...aggregateArgs(),
    },
    resolve: (_root, { base, recordType, ...args }, { scope }) =>
      aggregateRecords(scope, base, recordType, args),
  }),
}))
