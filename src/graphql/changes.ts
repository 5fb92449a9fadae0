import * as changes from '../engine/changes/index.ts'
import { builder } from './builder.ts'

/** The author of a change. */
export const Actor = builder.objectRef<changes.Change['actor']>('Actor').implement({
  description: 'Who made a change, and through what.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', { nullable: true }),
    name: t.exposeString('name'),
    via: t.exposeString('via', {
      description:
        '`rest`, `mcp`, `graphql`, `inbound`, `seed`, `promotion`, `action`, `trigger` or `system`.',
    }),
  }),
})

/** An entry of the change log. */
export const Change = builder.objectRef<changes.Change & { dryRun?: boolean }>('Change').implement({
  description: 'An entry of the change log of a base.',
  fields: (t) => ({
    seq: t.exposeFloat('seq', { description: 'A whole number that rises within a base, with gaps.' }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.expose('actor', { type: Actor }),
    requestId: t.exposeString('requestId'),
    kind: t.exposeString('kind', { description: 'What kind of thing changed: `record`, `record_type`, …' }),
    recordType: t.exposeString('recordType', { nullable: true, description: 'Of a record.' }),
    id: t.exposeString('id'),
    operation: t.exposeString('operation', {
      description: '`create`, `update`, `cancel`, `delete` or `restore`.',
    }),
    version: t.exposeInt('version'),
    diff: t.expose('diff', {
      type: 'JSON',
      description:
        'RFC 6902, from the state before. Of a record it compares `{ data, status, external_id, external_source }`; what begins is added at `""`, what ends removes it.',
    }),
    cause: t.exposeString('cause', { nullable: true, description: 'The change, delivery or run behind it.' }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})

const ChangePage = builder.objectRef<changes.ChangePage>('ChangePage').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [Change] }),
    hasMore: t.exposeBoolean('hasMore'),
    limit: t.exposeInt('limit'),
    nextAfter: t.exposeFloat('nextAfter', {
      description: 'Where the next page begins, also when there is none yet.',
    }),
  }),
})

const changeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    after: t.float({ description: 'The seq of an entry; those after it are meant.' }),
    recordType: t.string(),
    id: t.string({ description: 'Of the thing that changed.' }),
    kind: t.string(),
    actor: t.string({ description: 'The id or the name of a token.' }),
    since: t.field({ type: 'DateTime', description: 'From this moment on.' }),
    until: t.field({ type: 'DateTime', description: 'Before this moment.' }),
  }))

builder.queryFields((t) => ({
  changes: t.field({
    type: ChangePage,
    description:
      'The change log of a base, oldest first, of what the token may read. Going on from `nextAfter` misses nothing.',
    args: {
      ...changeArgs(),
      limit: t.arg.int({ description: 'Entries a page, 1 to 1000. 50 when left out.' }),
    },
    resolve: (_root, { base, ...args }, { scope }) => changes.listChanges(scope, base, args),
  }),
  changesEnd: t.float({
    description: 'The seq after which all that is yet to happen in the base will stand.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => changes.endOfChanges(scope, base),
  }),
  changesMatch: t.boolean({
    description:
      'Is one of these entries about a record of the type that matched before it, or matches after it?',
    args: {
      ...builder.args((t) => ({
        base: t.string({ required: true }),
        recordType: t.string({ required: true }),
        filter: t.field({ type: 'JSON', required: true }),
        seqs: t.floatList({ required: true, description: 'At most 1000 numbers of entries.' }),
      })),
    },
    resolve: (_root, { base, recordType, ...asked }, { scope }) =>
      changes.changesMatch(scope, base, recordType, asked),
  }),
}))

builder.subscriptionFields((t) => ({
  changes: t.field({
    type: Change,
    description: 'The change log of a base as it grows: from `after`, or from now on.',
    args: changeArgs(),
    subscribe: (_root, { base, ...args }, { scope }) => changes.followChanges(scope, base, args),
    resolve: (change) => change,
  }),
}))
