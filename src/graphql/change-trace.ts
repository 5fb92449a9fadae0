/** The GraphQL query of the trace of a change. */
import * as changes from '../engine/history/changes/index.ts'
import { builder } from './builder.ts'
import { Actor, Change, ToolCall } from './changes.ts'

const ChangeSummary = builder.objectRef<NonNullable<changes.TraceStep['change']>>('ChangeSummary').implement({
  description: 'An entry of the change log, without its diff.',
  fields: (t) => ({
    seq: t.exposeFloat('seq'),
    kind: t.exposeString('kind'),
    recordType: t.exposeString('recordType', { nullable: true }),
    id: t.exposeString('id'),
    operation: t.exposeString('operation'),
    version: t.exposeInt('version'),
  }),
})

const TraceStep = builder.objectRef<changes.TraceStep>('TraceStep').implement({
  description: 'A step between a change and what caused it, or what it set off.',
  fields: (t) => ({
    kind: t.exposeString('kind', {
      description:
        '`change`, `tool_call`, `request`, `inbound_delivery`, `trigger_delivery`, `action_run`, `promotion` or `seed`.',
    }),
    id: t.exposeString('id', { description: 'Of a change: its seq.' }),
    of: t.exposeString('of', {
      nullable: true,
      description:
        'What it belongs to: the trigger, inbound webhook, action, seed or tool; of a promotion, the preview.',
    }),
    depth: t.exposeInt('depth', { description: 'How far it is from the traced change, from 1.' }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The id of the step that it follows from; null for the first of all.',
    }),
    at: t.expose('at', { type: 'DateTime', nullable: true }),
    status: t.exposeString('status', { nullable: true, description: 'Of a delivery, a run or a promotion.' }),
    change: t.expose('change', { type: ChangeSummary, nullable: true }),
    actor: t.expose('actor', { type: Actor, nullable: true }),
    requestId: t.exposeString('requestId', { nullable: true }),
    call: t.expose('call', { type: ToolCall, nullable: true }),
  }),
})

const ChangeTrace = builder.objectRef<changes.ChangeTrace>('ChangeTrace').implement({
  description: 'What caused a change, and what it set off.',
  fields: (t) => ({
    change: t.expose('change', { type: Change }),
    causes: t.field({
      type: [TraceStep],
      description: 'Back to the request, the nearest first.',
      resolve: ({ causes }) => [...causes],
    }),
    effects: t.field({
      type: [TraceStep],
      description: 'What followed, the nearest first.',
      resolve: ({ effects }) => [...effects],
    }),
    truncated: t.exposeBoolean('truncated', {
      description: 'There are more steps, or they are farther than `depth`.',
    }),
  }),
})

builder.queryField('changeTrace', (t) =>
  t.field({
    type: ChangeTrace,
    description: 'Traces a change back to what caused it, and forward to what it set off.',
    args: {
      base: t.arg.string({ required: true }),
      seq: t.arg.float({ required: true }),
      depth: t.arg.int({ description: 'Steps in each direction, 1 to 10, the default.' }),
    },
    resolve: (_root, { base, seq, depth }, { scope }) =>
      changes.traceChange(scope, base, seq, depth ?? undefined),
  }),
)
