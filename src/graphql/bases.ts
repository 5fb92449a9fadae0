/** GraphQL type, queries and mutations of bases. */
import { CHANGE_SET_STATES, LISTED_COPIES, LISTED_STATES } from '../contract/change-set-shapes.ts'
import * as bases from '../engine/configuration/bases/index.ts'
import { typesVersion } from '../engine/configuration/record-types/index.ts'
import { type ChangeSetState, changeSetState } from '../engine/core/change-set/state.ts'
import { expectation } from '../engine/core/write/preconditions.ts'
import {
  type BaseExport,
  createPreview,
  deleteBase,
  describeExport,
  type ImportedBase,
  importBase,
  reopenChangeSet,
  withCheckedFile,
} from '../engine/environments/index.ts'
import { builder } from './builder.ts'
import { countedAt } from './change-sets.ts'
import { Deleted, expectationArgs, notYetDeleted, Operation, versionArgs } from './common.ts'
import { SECRETS } from './config-changes.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const StatusRef = builder.enumType('ChangeSetStatus', { values: CHANGE_SET_STATES })
const ListedStateRef = builder.enumType('ListedState', { values: LISTED_STATES })
const ListedCopyRef = builder.enumType('ListedCopy', { values: LISTED_COPIES })
const ChangeSetRef = builder.objectRef<ChangeSetState>('ChangeSet').implement({
  description: 'A preview that copies nothing: it shows production with its own changes of records over it.',
  fields: (t) => ({
    title: t.exposeString('title', { nullable: true }),
    status: t.expose('status', {
      type: StatusRef,
      description: 'A write makes it "open" again. What is merged, rejected or expired takes none.',
    }),
    revision: t.exposeInt('revision', { description: 'Rises with each request that changes something.' }),
    createdBy: t.exposeString('createdBy', { nullable: true, description: 'The id of the token.' }),
    createdByName: t.exposeString('createdByName'),
    writtenAt: t.expose('writtenAt', { type: 'DateTime', description: 'The last write.' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true }),
    approvals: t.expose('approvals', {
      type: 'JSON',
      description: '`{ needed, given }`: approvals of the present revision.',
    }),
    counts: t.expose('counts', {
      type: 'JSON',
      description: '`{ create, update, delete }`: numbers of records and relationships.',
    }),
  }),
})

const BaseType = builder.objectRef<bases.Base>('Base').implement({
  description: 'A container of record types and records. Grants are given per base.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    environment: t.exposeString('environment', { description: '"production" or "preview".' }),
    productionBase: t.exposeString('productionBase', {
      nullable: true,
      description: 'The base that a preview was created from.',
    }),
    settings: t.expose('settings', { type: 'JSON' }),
    changeSet: t.field({
      type: ChangeSetRef,
      nullable: true,
      description: 'Of a change-set: what it changes. Null for other bases.',
      resolve: ({ id, productionBase, changeSet }, _args, { scope }) =>
        productionBase === null ? null : (changeSet ?? changeSetState(scope, id)),
    }),
    counts: t.field({
      type: 'JSON',
      description:
        'Numbers of record types and records that the token can read. Those of a change-set have its changes.',
      resolve: async ({ id }, _args, context) => {
        const at = await countedAt(context, id)
        return bases.countBase(at.context.scope, at.base)
      },
    }),
    typesVersion: t.int({
      description: 'A number that changes with every change of a record type of the base.',
      resolve: (base, _args, { scope }) => typesVersion(scope, base.id),
    }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
  }),
})
const BasePage = pageType('BasePage', BaseType)

const BaseExportType = builder.objectRef<BaseExport>('BaseExport').implement({
  description: 'What the file of a base is of. The file itself streams over REST.',
  fields: (t) => ({ base: t.exposeString('base'), filename: t.exposeString('filename') }),
})

builder.queryFields((t) => ({
  baseExport: t.field({
    type: BaseExportType,
    description: 'Whether the token may export the base as one file, and the name of that.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => describeExport(scope, base),
  }),
  bases: t.field({
    type: BasePage,
    description: 'The bases that the token can access, newest first.',
    args: pageArgs(),
    resolve: (_root, args, { scope }) => bases.listBases(scope, args),
  }),
  base: t.field({
    type: BaseType,
    args: { id: t.arg.string({ required: true }) },
    resolve: (_root, { id }, { scope }) => bases.getBase(scope, id),
  }),
  previews: t.field({
    type: BasePage,
    description: 'The previews of a base, newest first.',
    args: {
      base: t.arg.string({ required: true }),
      state: t.arg({
        type: ListedStateRef,
        description:
          '"open": only change-sets that take writes. "closed": only those that take none any more.',
      }),
      status: t.arg({ type: StatusRef, description: 'Only change-sets in this state.' }),
      copy: t.arg({
        type: ListedCopyRef,
        description: '"on_write": only change-sets. "config": only what copies the configuration.',
      }),
      createdBy: t.arg.string({ description: 'Only change-sets that the token with this id opened.' }),
      recordType: t.arg.string({
        description: 'With `recordId`: only change-sets that change this record or its relationships.',
      }),
      recordId: t.arg.string(),
      ...pageArgs(),
    },
    resolve: (_root, { base, ...args }, { scope }) => bases.listPreviews(scope, base, args),
  }),
}))

const BaseInput = builder.inputType('BaseInput', {
  fields: (t) => ({ name: t.string(), description: t.string(), settings: t.field({ type: 'JSON' }) }),
})

mutation('putBase', {
  description: 'Creates a base or replaces its name, description and settings.',
  type: BaseType,
  args: builder.args((t) => ({
    id: t.string({ required: true }),
    input: t.field({ type: BaseInput, required: true }),
    ...expectationArgs(),
  })),
  resolve: (scope, { id, input, ...expected }) => bases.putBase(scope, id, input, expectation(expected)),
})

const ImportedBaseType = builder.objectRef<ImportedBase>('ImportedBase').implement({
  description: 'A base that was made of the file of an export.',
  fields: (t) => ({
    base: t.expose('base', { type: BaseType }),
    counts: t.expose('counts', { type: 'JSON', description: 'Numbers of what the file holds.' }),
    secrets: t.field(SECRETS),
    disabledTriggers: t.exposeStringList('disabledTriggers', {
      description: 'Triggers that were enabled, and are not: nothing is sent until somebody enables them.',
    }),
  }),
})

mutation('importBase', {
  description: 'Makes a base of the file of an export, in one transaction. The file streams over REST.',
  type: ImportedBaseType,
  carriesSecrets: true,
  args: builder.args((t) => ({
    id: t.string({ required: true }),
    contentSha256: t.string({
      required: true,
      description: 'SHA-256 of the file, which the same request has stored.',
    }),
  })),
  reserve: withCheckedFile,
  resolve: (scope, { id }) => importBase(scope, id),
})

mutation('deleteBase', {
  description: 'Deletes a base and everything in it. If it has records, `confirm` must equal its id.',
  type: Deleted,
  planned: notYetDeleted,
  args: builder.args((t) => ({
    id: t.string({ required: true }),
    confirm: t.string(),
    ...versionArgs(),
  })),
  resolve: (scope, { id, confirm, ...expected }) =>
    deleteBase(scope, id, confirm ?? null, expectation(expected)),
})

const PreviewInput = builder.inputType('PreviewInput', {
  fields: (t) => ({
    name: t.string({
      description: 'The part of its id after `<base>--`. A change-set has one made if it is left out.',
    }),
    description: t.string(),
    title: t.string({ description: 'Of a change-set: what it is for.' }),
    copy: t.string({
      description: '"config", the default, "config_and_sample", or "on_write": a change-set.',
    }),
  }),
})

mutation('createPreview', {
  description:
    'Creates a preview of a base: a base of its own with the same configuration, where changes can be tried; or a change-set.',
  type: BaseType,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    input: t.field({ type: PreviewInput, required: true }),
  })),
  resolve: (scope, { base, input }) =>
    createPreview(
      scope,
      base,
      Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)),
    ),
})

mutation('reopenPreview', {
  description: 'Opens a rejected or expired change-set again.',
  type: BaseType,
  args: builder.args((t) => ({ base: t.string({ required: true, description: 'The change-set.' }) })),
  resolve: (scope, { base }) => reopenChangeSet(scope, base),
})
