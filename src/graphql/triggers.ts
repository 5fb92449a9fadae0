/** GraphQL types, queries and mutations of triggers and their deliveries. */

import * as triggers from '../engine/automation/triggers/index.ts'
import { rotateSecret } from '../engine/configuration/lifecycle/index.ts'
import { TRIGGER, type TriggerStatus } from '../engine/configuration/triggers/index.ts'
import { builder } from './builder.ts'
import { targetArgs } from './common.ts'
import { configuration } from './configuration.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const TriggerType = configuration('Trigger', TRIGGER, {
  description: 'Changes of records that are sent to a URL, or that run an action.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    recordTypes: t.exposeStringList('recordTypes'),
    events: t.exposeStringList('events'),
    condition: t.expose('condition', { type: 'JSON', nullable: true }),
    url: t.exposeString('url', { nullable: true }),
    action: t.exposeString('action', {
      nullable: true,
      description: 'The action that changes run, in place of a url.',
    }),
    headers: t.expose('headers', { type: 'JSON' }),
    enabled: t.exposeBoolean('enabled'),
    skipInboundWrites: t.exposeBoolean('skipInboundWrites'),
    maxAttempts: t.exposeInt('maxAttempts'),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The secret that signs deliveries, in the answer that makes it; otherwise "<redacted>".',
    }),
    status: t.field({
      type: 'JSON',
      nullable: true,
      description:
        '`{ last_success_at, last_failure_at, consecutive_failures, disabled_reason }`; null for a past version.',
      resolve: (trigger) => (trigger as { status?: TriggerStatus }).status ?? null,
    }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    recordTypes: t.stringList({ description: 'Record types, or `["*"]`.' }),
    events: t.stringList({
      description:
        '`create`, `update`, `cancel`, `delete`, `restore`, steps of change-sets, such as `preview.submitted`, `token.paused` or `token.resumed`.',
    }),
    condition: t.field({
      type: 'JSON',
      description: 'A filter of the record; `previous.` before a field reads it as it was.',
    }),
    url: t.string(),
    action: t.string({ description: 'The id of an action, in place of `url`.' }),
    headers: t.field({ type: 'JSON' }),
    enabled: t.boolean(),
    skipInboundWrites: t.boolean(),
    maxAttempts: t.int(),
    secret: t.string({ description: '`whsec_` and 24 to 64 bytes as base64. Made if absent.' }),
  }),
  list: 'The triggers of a base, newest first.',
  put: 'Creates a trigger or replaces it whole. A write enables it again after failures.',
  remove: 'Deletes a trigger and its deliveries.',
})

const DeliveryType = builder.objectRef<triggers.Delivery>('TriggerDelivery').implement({
  description: 'One change for one trigger, and the result of sending it.',
  fields: (t) => ({
    id: t.exposeString('id'),
    webhookId: t.exposeString('webhookId', {
      description: 'The header `webhook-id`: the same in each attempt.',
    }),
    event: t.exposeString('event', {
      description: '`record.created`, `preview.submitted` and so on, or `trigger.test`.',
    }),
    recordType: t.exposeString('recordType', { nullable: true }),
    recordId: t.exposeString('recordId', { nullable: true }),
    changeSeq: t.exposeFloat('changeSeq', { nullable: true, description: 'The entry of the change log.' }),
    status: t.exposeString('status', { description: '`pending`, `succeeded`, `failed` or `dead`.' }),
    attempts: t.exposeInt('attempts'),
    nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true }),
    lastAttemptAt: t.expose('lastAttemptAt', { type: 'DateTime', nullable: true }),
    response: t.expose('response', {
      type: 'JSON',
      nullable: true,
      description: '`{ status, body, duration_ms }` of the last attempt; null if nothing answered.',
    }),
    error: t.exposeString('error', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.queryField('triggerDeliveries', (t) =>
  t.field({
    type: pageType('TriggerDeliveryPage', DeliveryType),
    description: 'The deliveries of a trigger, newest first.',
    args: {
      base: t.arg.string({ required: true }),
      trigger: t.arg.string({ required: true }),
      status: t.arg.string({ description: 'Only deliveries in this status.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, trigger, ...args }, { scope }) =>
      triggers.listDeliveries(scope, { baseId: base, id: trigger }, args),
  }),
)

mutation('rotateTriggerSecret', {
  description: 'Gives a trigger a new secret. Deliveries are signed with both secrets for 24 hours.',
  type: TriggerType,
  args: targetArgs(),
  resolve: (scope, { base, id }) => rotateSecret(scope, TRIGGER, base, id),
})

mutation('testTrigger', {
  description:
    'Sends a test event to the receiver of a trigger, once. Read the outcome with triggerDeliveries.',
  type: DeliveryType,
  args: targetArgs(),
  resolve: (scope, { base, id }) => triggers.testTrigger(scope, { baseId: base, id }),
})

mutation('replayTriggerDelivery', {
  description: 'Sends a delivery again, with the same webhook id.',
  type: DeliveryType,
  args: builder.args((t) => ({ ...targetArgs(), delivery: t.string({ required: true }) })),
  resolve: (scope, { base, id, delivery }) => triggers.replayDelivery(scope, { baseId: base, id }, delivery),
})
