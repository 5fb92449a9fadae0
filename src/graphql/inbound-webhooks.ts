/** GraphQL types, queries and mutations of inbound webhooks and their deliveries. */

import * as inbound from '../engine/automation/inbound/index.ts'
import { INBOUND_WEBHOOK, type InboundStatus } from '../engine/configuration/inbound-webhooks/index.ts'
import { rotateSecret, type View } from '../engine/configuration/lifecycle/index.ts'
import { builder } from './builder.ts'
import { targetArgs } from './common.ts'
import { configuration } from './configuration.ts'
import { ingestPath } from './delivery.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const InboundWebhookType = configuration('InboundWebhook', INBOUND_WEBHOOK, {
  description: 'A door for payloads of another system, which become records.',
  fields: (t) => ({
    name: t.exposeString('name'),
    recordType: t.exposeString('recordType'),
    signature: t.expose('signature', { type: 'JSON' }),
    mapping: t.expose('mapping', { type: 'JSON', nullable: true }),
    enabled: t.exposeBoolean('enabled'),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The key that signs deliveries, in the answer that makes it; otherwise "<redacted>".',
    }),
    status: t.field({
      type: 'JSON',
      nullable: true,
      description:
        '`{ refused, last_refused_at }`: deliveries whose signature was refused; null for a past version.',
      resolve: (webhook) => (webhook as { status?: InboundStatus }).status ?? null,
    }),
    ingestUrl: t.string({
      description: 'Where the sender posts its deliveries.',
      resolve: (webhook, _args, { scope }) => `${scope.publicUrl()}${ingestPath(webhook as View)}`,
    }),
  }),
  inputs: (t) => ({
    name: t.string(),
    recordType: t.string({ description: 'The record type that deliveries write.' }),
    signature: t.field({
      type: 'JSON',
      description:
        '`{ scheme, header, algorithm, encoding, prefix, timestamp_header, signed, tolerance_seconds }`.',
    }),
    mapping: t.field({
      type: 'JSON',
      description:
        '`{ external_id, external_source, data, items, relationships, on_existing }`; null: the payload is the data.',
    }),
    enabled: t.boolean(),
    secret: t.string({ description: 'The key that signs deliveries. Made if absent.' }),
  }),
  list: 'The inbound webhooks of a base, newest first.',
  put: 'Creates an inbound webhook or replaces it whole.',
  remove: 'Deletes an inbound webhook and its deliveries. The records that it wrote stay.',
})

const DeliveryType = builder.objectRef<inbound.InboundDelivery>('InboundDelivery').implement({
  description: 'A delivery to an inbound webhook, with its result.',
  fields: (t) => ({
    id: t.exposeString('id'),
    deliveryId: t.exposeString('deliveryId', {
      nullable: true,
      description: 'The id that the sender gave it, if it gives one.',
    }),
    status: t.exposeString('status', { description: '`succeeded` or `failed`.' }),
    attempts: t.exposeInt('attempts'),
    records: t.expose('records', {
      type: 'JSON',
      nullable: true,
      description: 'The records that it wrote: `[{ id, operation }]`.',
    }),
    error: t.expose('error', {
      type: 'JSON',
      nullable: true,
      description: 'Why it failed: `{ code, message, details }`.',
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: 'The first 4 KiB of the payload. Of one that succeeded, they are kept for a day.',
    }),
    warnings: t.expose('warnings', {
      type: 'JSON',
      nullable: true,
      description: '`[{ path, code, message }]`: what was changed in the payload so that it could be stored.',
    }),
    requestId: t.exposeString('requestId'),
    lastAttemptAt: t.expose('lastAttemptAt', { type: 'DateTime' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.queryField('inboundDeliveries', (t) =>
  t.field({
    type: pageType('InboundDeliveryPage', DeliveryType),
    description: 'The deliveries of an inbound webhook, newest first.',
    args: {
      base: t.arg.string({ required: true }),
      webhook: t.arg.string({ required: true }),
      status: t.arg.string({ description: 'Only deliveries in this status.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, webhook, ...args }, { scope }) =>
      inbound.listDeliveries(scope, { baseId: base, id: webhook }, args),
  }),
)

mutation('replayInboundDelivery', {
  description: 'Takes a failed delivery again, by the inbound webhook as it is now.',
  type: DeliveryType,
  args: builder.args((t) => ({ ...targetArgs(), delivery: t.string({ required: true }) })),
  resolve: (scope, { base, id, delivery }) => inbound.replayDelivery(scope, { baseId: base, id }, delivery),
})

mutation('rotateInboundWebhookSecret', {
  description: 'Gives an inbound webhook a new secret. Deliveries are taken with both secrets for 24 hours.',
  type: InboundWebhookType,
  args: targetArgs(),
  resolve: (scope, { base, id }) => rotateSecret(scope, INBOUND_WEBHOOK, base, id),
})

type Ingested = Awaited<ReturnType<typeof inbound.ingestVerified>>

const IngestedType = builder.objectRef<Ingested>('Ingested').implement({
  description: 'What a delivery wrote.',
  fields: (t) => ({
    data: t.expose('data', { type: 'JSON', description: 'The records: `[{ id, operation }]`.' }),
    challenge: t.exposeString('challenge', {
      nullable: true,
      description: 'The challenge by which Slack checks an address.',
    }),
  }),
})

mutation('ingest', {
  description:
    'Writes the records of the delivery that the request brought. Only a signed request to the ingest URL has one.',
  type: IngestedType,
  args: targetArgs(),
  resolve: (scope, { base, id }) => inbound.ingestVerified(scope, base, id),
})
