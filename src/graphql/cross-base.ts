/** GraphQL query over records of several bases. */
import { aggregateAcrossBases } from '../engine/analytics/cross-base/aggregate.ts'
import { listAcrossBases } from '../engine/analytics/cross-base/list.ts'
import { AggregatePageRef, aggregateArgs } from './aggregates.ts'
import { builder } from './builder.ts'
import { windowArgs, windowFields } from './page.ts'

const CrossBasePage = builder
  .objectRef<Awaited<ReturnType<typeof listAcrossBases>>>('CrossBasePage')
  .implement({
    fields: (t) => ({
      rows: t.expose('data', {
        type: 'JSON',
        description: 'The records in the form of REST with the selected `fields`, each with its `base_id`.',
      }),
      ...windowFields(t),
    }),
  })

/** Arguments that select bases and records. */
const basesArgs = () =>
  builder.args((t) => ({
    account: t.string({ defaultValue: 'default', required: true }),
    bases: t.stringList({
      required: true,
      description: 'Base ids, or ["*"]: all bases in which the token can read the type.',
    }),
    recordType: t.string({ required: true }),
  }))

const listArgs = () =>
  builder.args((t) => ({
    filter: t.field({
      type: 'JSON',
      description: '{"field","op","value"}, {"and":[…]}, {"or":[…]} or {"not":{…}}.',
    }),
    sort: t.field({ type: 'JSON', description: '[{"field","direction"}] or "-created_at,id".' }),
    fields: t.stringList({ description: 'Fields to return: "id", "data.name".' }),
    ...windowArgs(),
  }))

builder.queryFields((t) => ({
  queryBases: t.field({
    type: CrossBasePage,
    description: 'The records of a type in several bases, as one list.',
    args: { ...basesArgs(), ...listArgs() },
    resolve: (_root, args, { scope }) => listAcrossBases(scope, args),
  }),
  aggregateBases: t.field({
    type: AggregatePageRef,
    description: 'The records of a type in several bases, aggregated together. `base_id` may be a group key.',
    args: { ...basesArgs(), ...aggregateArgs() },
    resolve: (_root, args, { scope }) => aggregateAcrossBases(scope, args),
  }),
}))
