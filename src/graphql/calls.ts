/** GraphQL types and queries of the calls of a base, and of what was used. */
import * as calls from '../engine/history/calls/index.ts'
import { builder } from './builder.ts'
import { Actor } from './changes.ts'

const Call = builder.objectRef<calls.Call>('Call').implement({
  description: 'A tool call, or another request that was refused.',
  fields: (t) => ({
    id: t.exposeString('id'),
    at: t.expose('at', { type: 'DateTime', description: 'When it ended.' }),
    actor: t.expose('actor', { type: Actor }),
    surface: t.exposeString('surface', { description: '`rest`, `mcp`, `graphql` or `s3`.' }),
    endpoint: t.exposeString('endpoint', { nullable: true }),
    tool: t.exposeString('tool', { nullable: true, description: 'The MCP tool; null for another request.' }),
    route: t.exposeString('route', { nullable: true, description: 'What was asked for, if no tool.' }),
    outcome: t.exposeString('outcome', {
      description:
        '`ok`, `input_required` (the tool asked its user), `cancelled`, or the code of a failure. For MCP itself that is a number.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'The message of a failure.' }),
    ms: t.exposeInt('ms'),
    bytesIn: t.exposeFloat('bytesIn', {
      description: 'Bytes of the body. Calls of one request share them.',
    }),
    bytesOut: t.exposeFloat('bytesOut', {
      description: 'Bytes of the answer. Calls of one request share them.',
    }),
    arguments: t.exposeString('arguments', {
      nullable: true,
      description:
        'The first 2 KiB of the arguments of a tool as JSON, without secrets, if `settings.call_arguments` is set.',
    }),
    requestId: t.exposeString('requestId'),
    changes: t.exposeInt('changes', { description: 'How many entries of the change log it made.' }),
  }),
})

const CallPage = builder.objectRef<calls.CallPage>('CallPage').implement({
  fields: (t) => ({
    data: t.expose('data', { type: [Call] }),
    hasMore: t.exposeBoolean('hasMore'),
    limit: t.exposeInt('limit'),
    nextBefore: t.exposeString('nextBefore', {
      nullable: true,
      description: 'The `before` of the next page.',
    }),
  }),
})

builder.queryField('calls', (t) =>
  t.field({
    type: CallPage,
    description:
      'The calls of a base, newest first: of tools, and other requests that were refused. A token that cannot read the whole base sees its own only.',
    args: builder.args((a) => ({
      base: a.string({ required: true }),
      token: a.string({ description: 'Only calls of this token: its id or its name.' }),
      tool: a.string(),
      endpoint: a.string(),
      outcome: a.string({ description: 'Only this outcome; `failed` for any failure.' }),
      since: a.field({ type: 'DateTime', description: 'Calls that ended at this time or later.' }),
      until: a.field({ type: 'DateTime', description: 'Calls that ended before this time.' }),
      requestId: a.string(),
      before: a.string({ description: 'The id of a call. Returns the calls before it.' }),
      limit: a.int({ description: 'Calls per page, 1 to 1000. Defaults to 50.' }),
    })),
    resolve: (_root, { base, ...args }, { scope }) => calls.listCalls(scope, base, args),
  }),
)

const UsageToken = builder.objectRef<NonNullable<calls.Usage['token']>>('UsageToken').implement({
  fields: (t) => ({
    tokenId: t.exposeString('tokenId'),
    name: t.exposeString('name'),
    kind: t.exposeString('kind', { description: '`person`, `agent` or `program`: who uses it.' }),
  }),
})

const Usage = builder.objectRef<calls.Usage>('Usage').implement({
  description: 'What was used in an interval.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the interval began.' }),
    token: t.expose('token', { type: UsageToken, nullable: true, description: 'If added up by token.' }),
    endpoint: t.exposeString('endpoint', { nullable: true, description: 'If added up by endpoint.' }),
    tool: t.exposeString('tool', {
      nullable: true,
      description: 'If added up by tool: that of MCP; null for other requests.',
    }),
    surface: t.exposeString('surface', { nullable: true, description: 'If added up by surface.' }),
    calls: t.exposeFloat('calls'),
    failed: t.exposeFloat('failed', { description: 'Calls that failed.' }),
    reads: t.exposeFloat('reads', { description: 'Calls that neither failed nor could change anything.' }),
    changes: t.exposeFloat('changes', { description: 'Entries of the change log.' }),
    bytesIn: t.exposeFloat('bytesIn'),
    bytesOut: t.exposeFloat('bytesOut'),
    ms: t.exposeFloat('ms', { description: 'How long the calls took, in milliseconds.' }),
  }),
})

const UsageInterval = builder.enumType('UsageInterval', { values: ['hour', 'day'] as const })
const UsageKey = builder.enumType('UsageKey', { values: ['token', 'endpoint', 'tool', 'surface'] as const })

builder.queryField('usage', (t) =>
  t.field({
    type: [Usage],
    description:
      'How much was used of a base, oldest first, in whole hours of UTC. A token that cannot read the whole base sees its own use only.',
    args: builder.args((a) => ({
      base: a.string({ required: true }),
      since: a.field({
        type: 'DateTime',
        description: 'Defaults to a day before `until`, or 30 days if by day.',
      }),
      until: a.field({ type: 'DateTime', description: 'Defaults to now.' }),
      interval: a.field({ type: UsageInterval, description: 'Without it, the whole time is one interval.' }),
      by: a.field({ type: UsageKey, description: 'Adds up each apart.' }),
      token: a.string({ description: 'Only use by this token: its id or its name.' }),
      tool: a.string(),
      endpoint: a.string(),
    })),
    resolve: (_root, { base, ...args }, { scope }) => calls.listUsage(scope, base, args),
  }),
)
