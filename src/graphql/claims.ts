/** GraphQL operations of claims: leases on records for exclusive work. */
import { claimAndPatch } from '../engine/records/batch/claim-and-patch.ts'
import * as claims from '../engine/records/claims/index.ts'
import { builder } from './builder.ts'
import { ClaimRef } from './claim-type.ts'
import { targetArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'
import { RecordRef } from './records.ts'

const ClaimStatus = builder.enumType('ClaimStatus', {
  description:
    '`active`: held by its token. `completed` or `exhausted` (too many attempts): not claimable until the record changes.',
  values: ['active', 'completed', 'exhausted'] as const,
})

const NewClaim = builder.objectRef<claims.ClaimedRecords['data'][number]['claim']>('NewClaim').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    attempts: t.exposeInt('attempts', { description: 'How often the record has been claimed.' }),
  }),
})
const ClaimedRecord = builder.objectRef<claims.ClaimedRecords['data'][number]>('ClaimedRecord').implement({
  fields: (t) => ({
    record: t.expose('record', { type: RecordRef }),
    claim: t.expose('claim', { type: NewClaim }),
  }),
})
const ClaimedRecords = builder.objectRef<claims.ClaimedRecords>('ClaimedRecords').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [ClaimedRecord] }),
    limit: t.exposeInt('limit'),
    truncated: t.exposeBoolean('truncated', {
      nullable: true,
      description:
        'True if more records are free but exceed the byte limit of a response. `limit` is then the number of records returned.',
    }),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if no record is free, and the filter has a value that the schema excludes.',
    }),
  }),
})

const ClaimActionRef = builder.enumType('ClaimAction', {
  values: ['heartbeat', 'release', 'complete'] as const,
})
const ClaimOutcomeRef = builder.objectRef<claims.ClaimOutcome>('ClaimOutcome').implement({
  description: 'The result for one of several claims: the claim, or why it was refused.',
  fields: (t) => ({
    id: t.exposeString('id'),
    claim: t.expose('claim', { type: ClaimRef, nullable: true }),
    code: t.string({ nullable: true, resolve: ({ error }) => error?.code }),
    message: t.string({ nullable: true, resolve: ({ error }) => error?.message }),
  }),
})
const ClaimOutcomes = builder.objectRef<{ data: claims.ClaimOutcome[] }>('ClaimOutcomes').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [ClaimOutcomeRef] }),
  }),
})

builder.queryFields((t) => ({
  claims: t.field({
    type: pageType('ClaimPage', ClaimRef),
    description: 'The claims on records that the token can read, newest first, without lost ones.',
    args: {
      base: t.arg.string({ required: true }),
      status: t.arg({ type: ClaimStatus }),
      recordType: t.arg.string(),
      recordId: t.arg.string(),
      holder: t.arg.string({ description: 'The id or the name of a token.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => claims.listClaims(scope, base, args),
  }),
  claim: t.field({
    type: ClaimRef,
    description: 'One claim. A lost one is a CONFLICT.',
    args: targetArgs(),
    resolve: (_root, { base, id }, { scope }) => claims.getClaim(scope, base, id),
  }),
}))

mutation('claimRecords', {
  description:
    'Claims active, free records that match, each for one caller, oldest first unless sorted. Returns an empty list if none is free.',
  type: ClaimedRecords,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    recordType: t.string({ required: true }),
    filter: t.field({
      type: 'JSON',
      description:
        '{"field","op","value"}, {"and":[…]}, {"or":[…]}, {"not":{…}}, {"some":{…}} or {"none":{…}}.',
    }),
    sort: t.field({ type: 'JSON', description: '[{"field","direction"}] or "-data.priority,created_at".' }),
    limit: t.int({ description: 'Maximum number of records, 1 to 100. Defaults to 1.' }),
    leaseSeconds: t.int({ description: 'The lease in seconds, 1 to 86400. Defaults to 600.' }),
    maxAttempts: t.int({
      description: 'Skip records that were claimed this often, 1 to 1000.',
    }),
    patch: t.field({
      type: 'JSON',
      description: 'A merge patch of `data`, written to each claimed record in the same transaction.',
    }),
  })),
  resolve: (scope, { base, recordType, ...args }) => claimAndPatch(scope, base, recordType, args),
})

mutation('heartbeatClaim', {
  description: 'Extends a claim by its lease from now. A lost one is a CONFLICT.',
  type: ClaimRef,
  args: builder.args((t) => ({
    ...targetArgs(),
    leaseSeconds: t.int({ description: 'A new lease, in seconds.' }),
  })),
  resolve: (scope, { base, id, leaseSeconds }) => claims.heartbeatClaim(scope, base, id, leaseSeconds),
})

mutation('releaseClaim', {
  description: 'Releases a claim: the record can be claimed again. A lost claim is a CONFLICT.',
  type: ClaimRef,
  args: builder.args((t) => ({
    ...targetArgs(),
    force: t.boolean({
      description: 'Also the claim of another token. Needs `manage` on the record type.',
    }),
  })),
  resolve: (scope, { base, id, force }) => claims.releaseClaim(scope, base, id, force),
})

mutation('completeClaim', {
  description:
    'Completes a claim: the record cannot be claimed again until it changes. A lost claim is a CONFLICT.',
  type: ClaimRef,
  args: targetArgs(),
  resolve: (scope, { base, id }) => claims.completeClaim(scope, base, id),
})

mutation('actOnClaims', {
  description:
    'Extends, releases or completes several claims, each independently: a lost one does not prevent the others.',
  type: ClaimOutcomes,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    action: t.field({ type: ClaimActionRef, required: true }),
    ids: t.stringList({ required: true, description: '1 to 100 claims.' }),
    leaseSeconds: t.int({ description: 'A new lease for a heartbeat, in seconds.' }),
  })),
  resolve: (scope, { base, action, ids, leaseSeconds }) =>
    claims.actOnClaims(scope, base, action, ids, leaseSeconds),
})
