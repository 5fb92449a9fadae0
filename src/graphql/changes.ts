import * as changes from '../engine/history/changes/index.ts'
import type { MadeSecret } from '../engine/history/revert.ts'
import { type Proposed, whoProposed } from '../engine/history/who-proposed.ts'
import type { Titled } from '../engine/records/titles.ts'
import { builder } from './builder.ts'
import { titleField } from './common.ts'
import { SECRETS } from './config-changes.ts'

/** The author of a change. */
export const Actor = builder.objectRef<changes.Change['actor']>('Actor').implement({
  description: 'Who made a change, and through which interface.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', { nullable: true }),
    name: t.exposeString('name'),
    kind: t.exposeString('kind', {
      description: '`person`, `agent` or `program`: who uses the token. What no token made is of a program.',
    }),
    via: t.exposeString('via', {
      description:
        '`rest`, `mcp`, `graphql`, `explorer` (a browser tab), `inbound`, `seed`, `promotion`, `action`, `trigger` or `system`.',
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

/** Who proposed a change that a promotion wrote. */
const ProposedRef = builder.objectRef<Proposed>('ProposedBy').implement({
  description: 'Who proposed a change that a promotion of a change-set wrote.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', { nullable: true }),
    name: t.exposeString('name'),
    kind: t.exposeString('kind', { description: '`person`, `agent` or `program`.' }),
    requestId: t.exposeString('requestId'),
    call: t.expose('call', { type: ToolCall, nullable: true }),
  }),
})

export const CAUSE = { nullable: true, description: 'The change, delivery or run that caused it.' } as const

type Fields<T extends object> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, T>

export const proposedField = <T extends Parameters<typeof whoProposed>[1]>(t: Fields<T>) =>
  t.field({
    type: ProposedRef,
    nullable: true,
    description: 'Who proposed it, if it came with a change-set. The actor is who let it pass.',
    resolve: (change, _args, { scope }) => whoProposed(scope, change),
  })

/** An entry of the change log. */
export const Change = builder
  .objectRef<changes.Change & Partial<Titled<object>> & { secrets?: readonly MadeSecret[] }>('Change')
  .implement({
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
      title: titleField(t),
      cause: t.exposeString('cause', CAUSE),
      proposed: proposedField(t),
      secrets: t.field({ ...SECRETS, description: `${SECRETS.description} By revertChange only.` }),
    }),
  })

const ChangePage = builder.objectRef<changes.ChangePage>('ChangePage').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [Change] }),
    hasMore: t.exposeBoolean('hasMore'),
    limit: t.exposeInt('limit'),
    nextAfter: t.exposeFloat('nextAfter', {
      nullable: true,
      description: 'Where the next page starts in ascending order. Present on the last page too.',
    }),
    nextBefore: t.exposeFloat('nextBefore', {
      nullable: true,
      description: 'The `before` of the next page in descending order.',
    }),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if the actor made none of the changes: who made them.',
    }),
  }),
})

/** Counts of changes by kind, record type and operation. */
export const ChangeCount = builder
  .objectRef<Pick<changes.ChangeGroup['by'][number], 'kind' | 'recordType' | 'operation' | 'count'>>(
    'ChangeCount',
  )
  .implement({
    fields: (t) => ({
      kind: t.exposeString('kind'),
      recordType: t.exposeString('recordType', { nullable: true }),
      operation: t.exposeString('operation'),
      count: t.exposeInt('count'),
    }),
  })

type Field = NonNullable<changes.ChangeGroup['fields']>[number]
const GroupField = builder.objectRef<Field>('GroupField').implement({
  description: 'A property that updates of records changed.',
  fields: (t) => ({
    recordType: t.exposeString('recordType'),
    path: t.exposeString('path', { description: 'As in a diff: `/data/stage`.' }),
    count: t.exposeInt('count', { description: 'How many updates changed it.' }),
    row: t.field({
      type: 'JSON',
      description:
        'In the form of REST: also `from` and `to`, where all of them share the value. They are cut at 120 characters; null is no value.',
      resolve: ({ recordType, ...field }) => ({ record_type: recordType, ...field }),
    }),
  }),
})

const GroupProposer = builder
  .objectRef<Awaited<ReturnType<changes.ChangeGroup['proposed']>>[number]>('GroupProposer')
  .implement({
    description: 'Who proposed changes of a group that a promotion of a change-set wrote.',
    fields: (t) => ({
      tokenId: t.exposeString('tokenId', { nullable: true }),
      name: t.exposeString('name'),
      kind: t.exposeString('kind', { description: '`person`, `agent` or `program`.' }),
      count: t.exposeInt('count', { description: 'How many of the changes.' }),
    }),
  })

const ChangeGroup = builder.objectRef<Titled<changes.ChangeGroup>>('ChangeGroup').implement({
  description: 'The changes of one request; of one tool call, if the request has several.',
  fields: (t) => ({
    requestId: t.exposeString('requestId'),
    call: t.expose('call', { type: ToolCall, nullable: true }),
    actor: t.expose('actor', { type: Actor }),
    firstAt: t.expose('firstAt', { type: 'DateTime' }),
    lastAt: t.expose('lastAt', { type: 'DateTime' }),
    lastSeq: t.exposeFloat('lastSeq'),
    count: t.exposeInt('count', {
      description: 'The changes that the filter matches and the token can read.',
    }),
    id: t.string({
      nullable: true,
      description: 'Of a group of one change: the id of what it changed.',
      resolve: ({ only }) => only?.id,
    }),
    title: titleField(t),
    by: t.expose('by', { type: [ChangeCount] }),
    fields: t.field({
      type: [GroupField],
      nullable: true,
      description:
        'With `withFields`: the properties that its updates of records changed, the most frequent first; at most 8.',
      resolve: ({ fields }) => fields && [...fields],
    }),
    undone: t.exposeInt('undone', { description: 'How many of these changes are undone.' }),
    undoneBy: t.exposeString('undoneBy', {
      nullable: true,
      description: 'The request that undid all of these changes.',
    }),
    proposed: t.field({
      type: [GroupProposer],
      nullable: true,
      description:
        'Who proposed them, the most first, at most 8; null if no change-set brought them. The actor is who let them pass.',
      resolve: async (group) => {
        const proposed = await group.proposed()
        return proposed.length > 0 ? [...proposed] : null
      },
    }),
  }),
})

const ChangeGroupPage = builder.objectRef<changes.ChangeGroupPage>('ChangeGroupPage').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [ChangeGroup] }),
    hasMore: t.exposeBoolean('hasMore'),
    limit: t.exposeInt('limit'),
    nextBefore: t.exposeFloat('nextBefore', {
      nullable: true,
      description: 'The `before` of the next page.',
    }),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if the actor made none of the changes: who made them.',
    }),
  }),
})

const CONDITION =
  'Only changes of records that meet this filter of the record after the change; `previous.` before a field reads the record before it.'

const changeArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    after: t.float({ description: 'The seq of an entry. Returns the entries after it.' }),
    recordType: t.string(),
    id: t.string({ description: 'The id of the changed resource.' }),
    kind: t.string(),
    operation: t.string({ description: '`create`, `update`, `cancel`, `delete` or `restore`.' }),
    requestId: t.string(),
    actor: t.string({ description: 'The id or the name of a token.' }),
    actorKind: t.string({ description: '`person`, `agent` or `program`.' }),
    since: t.field({ type: 'DateTime', description: 'From this time or age on.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time or age.' }),
  }))

const LogOrder = builder.enumType('LogOrder', {
  values: {
    ...{ ASC: { value: 'asc' }, DESC: { value: 'desc' } },
    ...{ asc: { description: 'The same as ASC.' }, desc: { description: 'The same as DESC.' } },
  } as const,
})

builder.queryFields((t) => ({
  changes: t.field({
    type: ChangePage,
    description:
      'The change log of a base that the token can read, oldest first. Continue at `nextAfter`: no entry is skipped.',
    args: {
      ...changeArgs(),
      before: t.arg.float({ description: 'The seq of an entry. Returns the entries before it.' }),
      order: t.arg({
        type: LogOrder,
        description: 'Oldest first by default; in a change-set newest first, without `after`.',
      }),
      showsBefore: t.arg.boolean({ description: 'Adds to each step of a diff the value that it replaces.' }),
      limit: t.arg.int({ description: 'Entries per page, 1 to 1000. Defaults to 50.' }),
    },
    resolve: (_root, { base, ...args }, { scope }) => changes.listChanges(scope, base, args),
  }),
  changeGroups: t.field({
    type: ChangeGroupPage,
    description:
      'The changes of a base grouped by request, newest first. Each tool call of a request is a group of its own.',
    args: {
      ...changeArgs(),
      before: t.arg.float({ description: 'A seq. Returns the groups whose last entry is before it.' }),
      withFields: t.arg.boolean({ description: 'Add the `fields` that each group changed.' }),
      limit: t.arg.int({ description: 'Groups per page, 1 to 1000. Defaults to 50.' }),
    },
    resolve: (_root, { base, ...args }, { scope }) => changes.listChangeGroups(scope, base, args),
  }),
  changesEnd: t.float({
    description: 'The current end of the change log: later changes have a greater seq.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => changes.endOfChanges(scope, base),
  }),
  changesMatch: t.boolean({
    description:
      'Whether one of these entries changed a record that matches the filter, before or after the change, and meets the condition.',
    args: {
      ...builder.args((t) => ({
        base: t.string({ required: true }),
        recordType: t.string({ required: true }),
        filter: t.field({ type: 'JSON', description: 'Defaults to all records.' }),
        condition: t.field({ type: 'JSON', description: CONDITION }),
        seqs: t.floatList({ required: true, description: 'At most 1000 seqs of entries.' }),
      })),
    },
    resolve: (_root, { base, recordType, ...asked }, { scope }) =>
      changes.changesMatch(scope, base, recordType, asked),
  }),
}))

const followArgs = () =>
  builder.args((t) => ({
    ...changeArgs(),
    condition: t.field({ type: 'JSON', description: CONDITION }),
  }))

const AwaitedChange = builder.objectRef<changes.AwaitedChange>('AwaitedChange').implement({
  fields: (t) => ({
    change: t.expose('change', { type: Change, nullable: true, description: 'Null after the timeout.' }),
    nextAfter: t.exposeFloat('nextAfter', {
      description: 'The `after` of the next wait: no change is missed.',
    }),
  }),
})

builder.queryField('waitForChange', (t) =>
  t.field({
    type: AwaitedChange,
    description: 'Waits for the first change after `after`, or from now on.',
    args: {
      ...followArgs(),
      timeout: t.arg.int({ description: 'Maximum seconds to wait, 0 to 60. Defaults to 30.' }),
    },
    resolve: (_root, { base, ...args }, { scope }) => changes.waitForChange(scope, base, args),
  }),
)

builder.subscriptionFields((t) => ({
  changes: t.field({
    type: Change,
    description: 'Streams the change log of a base, from `after` or now.',
    args: followArgs(),
    subscribe: (_root, { base, ...args }, { scope }) => changes.followChanges(scope, base, args),
    resolve: (change) => change,
  }),
}))
