/** GraphQL types, queries and mutations of actions and their runs. */
import * as actions from '../engine/automation/actions/index.ts'
import { ACTION } from '../engine/configuration/actions/index.ts'
import { builder } from './builder.ts'
import { targetArgs } from './common.ts'
import { configuration } from './configuration.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

configuration('Action', ACTION, {
  description: 'Steps that run in one transaction.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    inputSchema: t.expose('inputSchema', { type: 'JSON' }),
    steps: t.expose('steps', { type: 'JSON' }),
    output: t.expose('output', { type: 'JSON', nullable: true }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    inputSchema: t.field({ type: 'JSON', description: 'The JSON Schema of the input.' }),
    steps: t.field({
      type: 'JSON',
      description:
        '`[{ name, type, … }]`: operations of a batch, `query` and `http`. Strings may hold `{{input.x}}` and `{{steps.a.id}}`.',
    }),
    output: t.field({ type: 'JSON', description: 'What a run answers: JSON with templates.' }),
  }),
  list: 'The actions of a base, newest first.',
  put: 'Creates an action or replaces it whole.',
  remove: 'Deletes an action and its log of runs.',
})

const AnswerType = builder.objectRef<actions.RunAnswer>('ActionAnswer').implement({
  description: 'What a run of an action did.',
  fields: (t) => ({
    runId: t.exposeString('runId'),
    status: t.exposeString('status', { description: '`succeeded`. A run that fails is an error.' }),
    output: t.expose('output', { type: 'JSON', nullable: true }),
    steps: t.expose('steps', { type: 'JSON', description: 'What each step did: `[{ name, type, … }]`.' }),
  }),
})

mutation('runAction', {
  description: 'Runs an action. If a step fails, nothing is written; requests that were sent stay sent.',
  type: AnswerType,
  args: builder.args((t) => ({ ...targetArgs(), input: t.field({ type: 'JSON' }) })),
  reserve: (scope, { base, id }, work) => actions.withRun(scope, { baseId: base, id }, work),
  resolve: (scope, { base, id, input }) => actions.runAction(scope, { baseId: base, id }, input),
})

const RunType = builder.objectRef<actions.ActionRun>('ActionRun').implement({
  description: 'A run of an action in the log.',
  fields: (t) => ({
    id: t.exposeString('id'),
    status: t.exposeString('status', { description: '`succeeded` or `failed`.' }),
    actionVersion: t.exposeInt('actionVersion'),
    input: t.expose('input', {
      type: 'JSON',
      nullable: true,
      description: 'Null if it is too long to keep.',
    }),
    output: t.expose('output', {
      type: 'JSON',
      nullable: true,
      description: 'Null if it is too long to keep.',
    }),
    steps: t.expose('steps', {
      type: 'JSON',
      description: 'What became of each step: `[{ name, type, status, … }]`.',
    }),
    error: t.expose('error', {
      type: 'JSON',
      nullable: true,
      description: 'Why it failed: `{ code, message, details }`.',
    }),
    durationMs: t.exposeInt('durationMs'),
    actor: t.field({
      type: 'JSON',
      description: 'Who ran it: `{ token_id, name, via }`.',
      resolve: ({ actor: { tokenId, name, via } }) => ({ token_id: tokenId, name, via }),
    }),
    requestId: t.exposeString('requestId'),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'The delivery of the trigger that started it, if one did.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.queryField('actionRuns', (t) =>
  t.field({
    type: pageType('ActionRunPage', RunType),
    description: 'The runs of an action, newest first.',
    args: {
      base: t.arg.string({ required: true }),
      action: t.arg.string({ required: true }),
      status: t.arg.string({ description: 'Only runs in this status.' }),
      ...pageArgs(),
    },
    resolve: (_root, { base, action, ...args }, { scope }) =>
      actions.listRuns(scope, { baseId: base, id: action }, args),
  }),
)

builder.queryField('actionRun', (t) =>
  t.field({
    type: RunType,
    description: 'One run of an action.',
    args: {
      base: t.arg.string({ required: true }),
      action: t.arg.string({ required: true }),
      id: t.arg.string({ required: true }),
    },
    resolve: (_root, { base, action, id }, { scope }) =>
      actions.getRun(scope, { baseId: base, id: action }, id),
  }),
)
