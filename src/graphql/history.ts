/** GraphQL queries for earlier versions, and the mutation that reverts a change. */
import type { Change } from '../engine/change-log/entry.ts'
import { kindNamed } from '../engine/configuration/kinds.ts'
import { history } from '../engine/configuration/lifecycle/index.ts'
import { listVersions, type RecordVersion, revertChange } from '../engine/history/index.ts'
import { builder } from './builder.ts'
import { Actor, Change as ChangeRef } from './changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const RecordVersionRef = builder.objectRef<RecordVersion>('RecordVersion').implement({
  description: 'One version of a record, and what made it.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    operation: t.exposeString('operation', {
      description: '"create", "update", "cancel", "delete" or "restore".',
    }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.field({ type: Actor, resolve: (version) => version.actor }),
    requestId: t.exposeString('requestId'),
    seq: t.exposeFloat('seq', { description: "The change's place in the log of the base." }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The change, delivery or run behind it.',
    }),
    diff: t.field({
      type: 'JSON',
      description: 'RFC 6902, from the version before, of { data, status, external_id, external_source }.',
      resolve: (version) => version.diff,
    }),
  }),
})

const ConfigurationVersionRef = builder.objectRef<Change>('ConfigurationVersion').implement({
  description: 'One version of a resource of configuration, and what made it.',
  fields: (t) => ({
    version: t.exposeInt('version'),
    operation: t.exposeString('operation', { description: '"create", "update" or "delete".' }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.field({ type: Actor, resolve: (version) => version.actor }),
    requestId: t.exposeString('requestId'),
    seq: t.exposeFloat('seq', { description: "The change's place in the log of the base." }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The change, delivery or run behind it.',
    }),
    diff: t.expose('diff', { type: 'JSON', description: 'RFC 6902, from the version before.' }),
  }),
})

const ConfigurationVersionPage = pageType('ConfigurationVersionPage', ConfigurationVersionRef)
const RecordVersionPage = pageType('RecordVersionPage', RecordVersionRef)

builder.queryFields((t) => ({
  configurationHistory: t.field({
    type: ConfigurationVersionPage,
    description: 'The versions of a resource of configuration, newest first; of one that is deleted too.',
    args: {
      base: t.arg.string({ required: true }),
      kind: t.arg.string({ required: true, description: '`record_type`, `relationship_type`, `toolset`, …' }),
      id: t.arg.string({ required: true }),
      ...pageArgs(),
    },
    resolve: (_root, { base, kind, id, ...args }, { scope }) =>
      history(kindNamed(kind), scope, base, id, args),
  }),
  recordHistory: t.field({
    type: RecordVersionPage,
    description: 'The versions of a record, newest first; of one that is deleted too.',
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
  description:
    'Writes the inverse of a change of a record, a relationship or configuration, and answers that change.',
  type: ChangeRef,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    seq: t.float({ required: true, description: "The change's place in the log." }),
    force: t.boolean({ description: 'Also when later changes stand on it, which it takes back with it.' }),
    allowInvalid: t.boolean({
      description: 'Of a type: keep what its former schema refuses, flagged `valid: false`.',
    }),
    confirm: t.string({
      description: 'The id again, where the creation of a type that holds something is reverted.',
    }),
  })),
  resolve: (scope, { base, seq, force, allowInvalid, confirm }) =>
    revertChange(scope, base, seq, {
      force: force ?? false,
      onInvalid: allowInvalid ? 'allow' : 'refuse',
      confirm: confirm ?? null,
    }),
})
