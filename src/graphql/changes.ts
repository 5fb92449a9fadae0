import * as changes from '../engine/changes/index.ts'
import { builder } from './builder.ts'

/** The author of a change. */
export const Actor = builder.objectRef<changes.Change['actor']>('Actor').implement({
  description: 'Who made a change, and through which interface.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', { nullable: true }),
    name: t.exposeString('name'),
    via: t.exposeString('via', {
      description:
        '`rest`, `mcp`, `graphql`, `inbound`, `seed`, `promotion`, `action`, `trigger` or `system`.',
    }),
  }),
})

/** The MCP tool call behind a change. */
export const ToolCall = builder.objectRef<NonNullable<changes.Change['call']>>('ToolCall').implement({
  description: 'The MCP tool call that made a change.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Its JSON-RPC id.' }),
    tool: t.exposeString('tool'),
    endpoint: t.exposeString('endpoint', { nullable: true }),
    client: t.exposeString('client', { nullable: true, description: 'Name and version of the client.' }),
    traceId: t.exposeString('traceId', { nullable: true, description: 'W3C trace id.' }),
  }),
})

/** An entry of the change log. */
export const Change = builder.objectRef<changes.Change & { dryRun?: boolean }>('Change').implement({
  description: 'An entry of the change log of a base.',
  fields: (t) => ({
    seq: t.exposeFloat('seq', { description: 'An integer that increases within a base, with gaps.' }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.expose('actor', { type: Actor }),
    requestId: t.exposeString('requestId'),
    call: t.expose('call', {
      type: ToolCall,
      nullable: true,
      description:
        'The MCP tool call that made it. A token that cannot read the whole base sees its own calls only.',
    }),
    kind: t.exposeString('kind', { description: 'The kind of resource: `record`, `record_type`, …' }),
    recordType: t.exposeString('recordType', {
      nullable: true,
      description: 'The type of the record; null for other kinds.',
    }),
    id: t.exposeString('id'),
    operation: t.exposeString('operation', {
      description: '`create`, `update`, `cancel`, `delete` or `restore`.',
    }),
    version: t.exposeInt('version'),
    diff: t.expose('diff', {
      type: 'JSON',
      description:
        'RFC 6902 diff from the previous state: of `{ data, status, external_id, external_source }` for a record, else of the whole. A creation adds at path `""`, a deletion removes it.',
    }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The change, delivery or run that caused it.',
    }),
    dryRun: t.exposeBoolean('dryRun', { nullable: true }),
  }),
})

const ChangePage = builder.objectRef<changes.ChangePage>('ChangePage').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [Change] }),
    hasMore: t.exposeBoolean('hasMore'),
    limit: t.exposeInt('limit'),
    nextAfter: t.exposeFloat('nextAfter', {
      description: 'Where the next page starts. Present on the last page too.',
    }),
  }),
})

const changeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    after: t.float({ description: 'The seq of an entry. Returns the entries after it.' }),
    recordType: t.string(),
    id: t.string({ description: 'The id of the changed resource.' }),
    kind: t.string(),
    actor: t.string({ description: 'The id or the name of a token.' }),
    since: t.field({ type: 'DateTime', description: 'From this time on.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }))

builder.queryFields((t) => ({
  changes: t.field({
    type: ChangePage,
    description:
      'The change log of a base that the token can read, oldest first. Continue at `nextAfter`: no entry is skipped.',
    args: {
      ...changeArgs(),
      limit: t.arg.int({ description: 'Entries per page, 1 to 1000. Defaults to 50.' }),
    },
    resolve: (_root, { base, ...args }, { scope }) => changes.listChanges(scope, base, args),
  }),
  changesEnd: t.float({
    description: 'The current end of the change log: later changes have a greater seq.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => changes.endOfChanges(scope, base),
  }),
  changesMatch: t.boolean({
    description:
      'Whether one of these entries changed a record that matches the filter, before or after the change.',
    args: {
      ...builder.args((t) => ({
        base: t.string({ required: true }),
        recordType: t.string({ required: true }),
        filter: t.field({ type: 'JSON', required: true }),
        seqs: t.floatList({ required: true, description: 'At most 1000 seqs of entries.' }),
      })),
    },
    resolve: (_root, { base, recordType, ...asked }, { scope }) =>
      changes.changesMatch(scope, base, recordType, asked),
  }),
}))

builder.subscriptionFields((t) => ({
  changes: t.field({
    type: Change,
    description: 'Streams the change log of a base, from `after` or now.',
    args: changeArgs(),
    subscribe: (_root, { base, ...args }, { scope }) => changes.followChanges(scope, base, args),
    resolve: (change) => change,
  }),
}))
