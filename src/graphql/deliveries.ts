/** GraphQL query and mutation of all deliveries of a base. */
import * as deliveries from '../engine/automation/deliveries/index.ts'
import type { Titled } from '../engine/records/titles.ts'
import { builder } from './builder.ts'
import { titleField } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const DeliveryType = builder.objectRef<Titled<deliveries.BaseDelivery>>('Delivery').implement({
  description: 'A delivery of a trigger, or to an inbound webhook.',
  fields: (t) => ({
    direction: t.exposeString('direction', { description: '`out` or `in`.' }),
    of: t.expose('of', {
      type: 'JSON',
      description: '`{ kind, id, name }` of the trigger or inbound webhook.',
    }),
    id: t.exposeString('id'),
    status: t.exposeString('status', { description: '`pending`, `succeeded`, `failed` or `dead`.' }),
    attempts: t.exposeInt('attempts'),
    recordType: t.exposeString('recordType', { nullable: true }),
    recordId: t.exposeString('recordId', {
      nullable: true,
      description: 'The record that was changed; of `in`, the first one that it wrote.',
    }),
    title: titleField(t),
    event: t.exposeString('event', { nullable: true }),
    changeSeq: t.exposeFloat('changeSeq', { nullable: true }),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true }),
    lastAttemptAt: t.expose('lastAttemptAt', { type: 'DateTime', nullable: true }),
    webhookId: t.exposeString('webhookId', { nullable: true, description: 'The same on each attempt.' }),
    responseStatus: t.exposeInt('responseStatus', { nullable: true }),
    response: t.expose('response', {
      type: 'JSON',
      nullable: true,
      description: '`{ status, body, duration_ms }` of the last attempt.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const filters = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    direction: t.string({ description: '`out`: of triggers. `in`: to inbound webhooks.' }),
    of: t.string({ description: 'The id of a trigger or inbound webhook.' }),
    since: t.field({ type: 'DateTime', description: 'From this time or age on.' }),
  }))

builder.queryField('deliveries', (t) =>
  t.field({
    type: pageType('DeliveryPage', DeliveryType),
    description: 'The deliveries of all triggers and inbound webhooks of a base, newest first.',
    args: {
      ...filters(),
      status: t.arg.string(),
      until: t.arg({ type: 'DateTime', description: 'Before this time or age.' }),
      recordType: t.arg.string(),
      id: t.arg.string({ description: 'The id of a record, with its `recordType`.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => deliveries.listBaseDeliveries(scope, base, args),
  }),
)

const ReplayedType = builder.objectRef<deliveries.Replayed>('Replayed').implement({
  description: 'What a replay of many deliveries did.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many are sent or were taken again.' }),
    failed: t.exposeInt('failed', { description: 'How many inbound ones failed again.' }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether more match than were replayed.' }),
  }),
})

mutation('replayDeliveries', {
  description: 'Sends or takes again up to 1,000 deliveries, the newest first. A dry run only counts.',
  type: ReplayedType,
  args: builder.args((t) => ({
    ...filters(),
    status: t.string({ required: true, description: '`failed`, `dead` or `succeeded`.' }),
  })),
  resolve: (scope, { base, ...filter }) => deliveries.replayDeliveries(scope, base, filter),
})
