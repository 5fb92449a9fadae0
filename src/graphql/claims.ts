/** GraphQL operations of claims: leases on records for exclusive work. */
import * as claims from '../engine/claims/index.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'
import { RecordRef } from './records.ts'

type Item = claims.Claim & { dryRun?: boolean }

const ClaimStatus = builder.enumType('ClaimStatus', {
  description:
    'In the hands of its token; or done, or tried too often, and not handed out until the record changes.',
  values: ['active', 'completed', 'exhausted'] as const,
})

const ClaimRef = builder.objectRef<Item>('Claim').implement({
  description: 'A record in the hands of one worker, until its lease ends.',
  fields: (t) => ({
    id: t.exposeString('id'),
    recordType: t.exposeString('recordType'),
    recordId: t.exposeString('recordId'),
    status: t.exposeString('status', {
      description: '"active", "completed" or "exhausted"; "released" where it has just been given back.',
    }),
    attempts: t.exposeInt('attempts', { description: 'How often the record was handed out.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})
const ClaimPage = pageType('ClaimPage', ClaimRef)

const NewClaim = builder.objectRef<claims.ClaimedRecords['data'][number]['claim']>('NewClaim').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    attempts: t.exposeInt('attempts', { description: 'How often the record was handed out.' }),
  }),
})
const ClaimedRecord = builder.objectRef<claims.ClaimedRecords['data'][number]>('ClaimedRecord').implement({
  fields: (t) => ({
    record: t.field({ type: RecordRef, resolve: ({ record }) => record }),
    claim: t.field({ type: NewClaim, resolve: ({ claim }) => claim }),
  }),
})
const ClaimedRecords = builder
  .objectRef<claims.ClaimedRecords & { dryRun?: boolean }>('ClaimedRecords')
  .implement({
    fields: (t) => ({
      data: t.field({ type: [ClaimedRecord], resolve: ({ data }) => data }),
      limit: t.exposeInt('limit'),
      truncated: t.exposeBoolean('truncated', {
        nullable: true,
        description:
          'True when more are free, and an answer has no bytes for them: `limit` is then the records that it has.',
      }),
      dryRun: t.exposeBoolean('dryRun', { nullable: true }),
    }),
  })

const claimArgs = () =>
  builder.args((t) => ({ base: t.string({ required: true }), id: t.string({ required: true }) }))

builder.queryFields((t) => ({
  claims: t.field({
    type: ClaimPage,
    description: 'The claims on records that the token may read, newest first; without those that are lost.',
    args: { base: t.arg.string({ required: true }), status: t.arg({ type: ClaimStatus }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => claims.listClaims(scope, base, args),
  }),
  claim: t.field({
    type: ClaimRef,
    description: 'One claim. A lost one is a CONFLICT.',
    args: claimArgs(),
    resolve: (_root, { base, id }, { scope }) => claims.getClaim(scope, base, id),
  }),
}))

mutation('claimRecords', {
  description:
    'Hands out active records that match and are free, each to one caller, oldest first unless sorted. None free is an empty list.',
  type: ClaimedRecords,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    recordType: t.string({ required: true }),
    filter: t.field({
      type: 'JSON',
      description: '{"field","op","value"}, {"and":[…]}, {"or":[…]} or {"not":{…}}.',
    }),
    sort: t.field({ type: 'JSON', description: '[{"field","direction"}] or "-data.priority,created_at".' }),
    limit: t.int({ description: 'Records at most, 1 to 100. 1 when left out.' }),
    leaseSeconds: t.int({ description: 'How long the claim lasts, 1 to 86400. 600 when left out.' }),
    maxAttempts: t.int({
      description: 'Step over records that were handed out so often already, 1 to 1000.',
    }),
  })),
  resolve: (scope, { base, recordType, ...args }) => claims.claimRecords(scope, base, recordType, args),
})

mutation('heartbeatClaim', {
  description: 'Extends a claim by its lease from now. A lost one is a CONFLICT.',
  type: ClaimRef,
  args: {
    ...claimArgs(),
    ...builder.args((t) => ({ leaseSeconds: t.int({ description: 'Another lease, from now on.' }) })),
  },
  resolve: (scope, { base, id, leaseSeconds }) => claims.heartbeatClaim(scope, base, id, leaseSeconds),
})

mutation('releaseClaim', {
  description: 'Gives the record back to the pool. A lost claim is a CONFLICT.',
  type: ClaimRef,
  args: claimArgs(),
  resolve: (scope, { base, id }) => claims.releaseClaim(scope, base, id),
})

mutation('completeClaim', {
  description:
    'The work is done: the record is not handed out again until it changes. A lost claim is a CONFLICT.',
  type: ClaimRef,
  args: claimArgs(),
  resolve: (scope, { base, id }) => claims.completeClaim(scope, base, id),
})
