/** GraphQL queries for earlier versions, and the mutation that reverts a change. */

import { kindNamed } from '../engine/configuration/kinds.ts'
import { history } from '../engine/configuration/lifecycle/index.ts'
import { revertChange } from '../engine/history/revert.ts'
import { listVersions, type RecordVersion } from '../engine/history/versions.ts'
import type { Change } from '../engine/log/entry.ts'
import { builder } from './builder.ts'
import { Actor, CAUSE, Change as ChangeRef, proposedField, ToolCall } from './changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const RecordVersionRef = builder.objectRef<RecordVersion>('RecordVersion').implement({
  description: 'One version of a record and the change that created it.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    operation: t.exposeString('operation', {
      description: '"create", "update", "cancel", "delete" or "restore".',
    }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.expose('actor', { type: Actor }),
    requestId: t.exposeString('requestId'),
    call: t.expose('call', { type: ToolCall, nullable: true }),
    seq: t.exposeFloat('seq', { description: 'The seq of the change in the change log of the base.' }),
    cause: t.exposeString('cause', CAUSE),
    proposed: proposedField(t),
    diff: t.expose('diff', {
      type: 'JSON',
      description:
        'RFC 6902 diff of { data, status, external_id, external_source } from the previous version.',
    }),
  }),
})

const ConfigurationVersionRef = builder.objectRef<Change>('ConfigurationVersion').implement({
  description: 'One version of a configuration resource and the change that created it.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    operation: t.exposeString('operation', { description: '"create", "update" or "delete".' }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.expose('actor', { type: Actor }),
    requestId: t.exposeString('requestId'),
    call: t.expose('call', { type: ToolCall, nullable: true }),
    seq: t.exposeFloat('seq', { description: 'The seq of the change in the change log of the base.' }),
    cause: t.exposeString('cause', CAUSE),
    diff: t.expose('diff', { type: 'JSON', description: 'RFC 6902 diff from the previous version.' }),
  }),
})

builder.queryFields((t) => ({
  configurationHistory: t.field({
    type: pageType('ConfigurationVersionPage', ConfigurationVersionRef),
    description: 'The versions of a configuration resource, newest first, also after its deletion.',
    args: {
      base: t.arg.string({ required: true }),
      kind: t.arg.string({ required: true, description: '`record_type`, `relationship_type`, `toolset`, …' }),
      id: t.arg.string({ required: true }),
      ...pageArgs(),
    },
    resolve: (_root, { base, kind, id, ...args }, { scope }) =>
      history({ kind: kindNamed(kind), scope, baseId: base, id }, args),
  }),
  recordHistory: t.field({
    type: pageType('RecordVersionPage', RecordVersionRef),
    description: 'The versions of a record, newest first, also after its deletion.',
    args: {
      base: t.arg.string({ required: true }),
      recordType: t.arg.string({ required: true }),
      id: t.arg.string({ required: true }),
      ...pageArgs(),
    },
    resolve: (_root, { base, recordType, id, ...args }, { scope }) =>
      listVersions(scope, base, recordType, id, args),
  }),
}))

mutation('revertChange', {
  description: 'Reverts a change of a record, a relationship or configuration, and returns the new change.',
  type: ChangeRef,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    seq: t.float({ required: true, description: 'The seq of the change in the change log.' }),
    force: t.boolean({ description: 'Also if later changes followed: they are reverted too.' }),
    allowInvalid: t.boolean({
      description: 'For a type: keep data that violates the restored schema, flagged `valid: false`.',
    }),
    confirm: t.string({
      description: 'The id of a type. Required to revert its creation if it is not empty.',
    }),
  })),
  resolve: (scope, { base, seq, force, allowInvalid, confirm }) =>
    revertChange(scope, base, seq, {
      force: force ?? false,
      onInvalid: allowInvalid ? 'allow' : 'refuse',
      confirm: confirm ?? null,
    }),
})
