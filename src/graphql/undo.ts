/** GraphQL mutation that reverts all changes of a request, or of an actor. */
import { snakeFields } from '../contract/field-names.ts'
import type { Approvable } from '../engine/core/write/plan-approval.ts'
import type { Effect, Effects } from '../engine/history/undo/find-effects.ts'
import type { LastRequest } from '../engine/history/undo/last-request.ts'
import { type Skipped, type Undo, type Undone, undoChanges } from '../engine/history/undo/undo.ts'
import { invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { builder } from './builder.ts'
import { ChangeCount } from './changes.ts'
import { planType } from './common.ts'
import { SECRETS } from './config-changes.ts'
import { mutation } from './mutation.ts'

type UndoPlan = Approvable & { what: string; undo: Undo }
type Answer = Undo & { plan?: UndoPlan }

const UndoneRef = builder.objectRef<Undone>('UndoneChange').implement({
  description: 'A change that was reverted.',
  fields: (t) => ({
    reverts: t.exposeFloat('reverts', { description: 'The seq of the change that was reverted.' }),
    kind: t.exposeString('kind'),
    recordType: t.exposeString('recordType', { nullable: true }),
    id: t.exposeString('id'),
    operation: t.exposeString('operation', { description: 'What the revert did.' }),
    diff: t.expose('diff', {
      type: 'JSON',
      nullable: true,
      description:
        'With `withDiffs`: what the revert changes, from the state of now, with the values that it replaces.',
    }),
    title: t.string({ nullable: true, description: 'With `withTitles`.', resolve: ({ title }) => title }),
  }),
})

const SkippedRef = builder.objectRef<Skipped>('SkippedChange').implement({
  description: 'A resource that was left as it is, because it cannot be reverted.',
  fields: (t) => ({
    kind: t.exposeString('kind'),
    recordType: t.exposeString('recordType', { nullable: true }),
    id: t.exposeString('id'),
    seq: t.exposeFloat('seq', { description: 'The change that was not reverted.' }),
    overtakenBy: t.exposeFloat('overtakenBy', {
      nullable: true,
      description: 'The later change in the way, if it is one.',
    }),
    title: t.string({ nullable: true, description: 'With `withTitles`.', resolve: ({ title }) => title }),
    code: t.exposeString('code'),
    message: t.exposeString('message'),
  }),
})

const EffectRef = builder.objectRef<Effect>('UndoEffect').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    of: t.exposeString('of', { description: 'The trigger or action.' }),
    status: t.exposeString('status'),
  }),
})
const first = <T>(all: readonly T[], limit: number | null | undefined): readonly T[] =>
  limit == null ? all : all.slice(0, Math.max(0, limit))
const effectsShown = <T>(all: readonly T[]) => [...first(all, LIMITS.traceEffects)]

const EffectsRef = builder.objectRef<Effects>('UndoEffects').implement({
  description: 'What followed from the changes that are undone.',
  fields: (t) => ({
    changes: t.exposeInt('changes', {
      description:
        'How many changes of triggers and actions are undone too; would be, with `withDiffs` alone.',
    }),
    deliveries: t.field({
      type: [EffectRef],
      description: `Deliveries to other systems, which stay sent; the first ${LIMITS.traceEffects}.`,
      resolve: ({ deliveries }) => effectsShown(deliveries),
    }),
    runs: t.field({
      type: [EffectRef],
      description: `Runs of actions: what their requests did elsewhere stays; the first ${LIMITS.traceEffects}.`,
      resolve: ({ runs }) => effectsShown(runs),
    }),
  }),
})

const LastRef = builder.objectRef<LastRequest>('LastRequest').implement({
  description: 'The last request of the caller that was not undone.',
  fields: (t) => ({
    requestId: t.exposeString('requestId'),
    at: t.expose('at', { type: 'DateTime' }),
    via: t.exposeString('via'),
    tool: t.exposeString('tool', { nullable: true, description: 'The MCP tool that was called.' }),
  }),
})

const UndoRef = builder.objectRef<Answer>('Undo').implement({
  fields: (t) => ({
    requestId: t.exposeString('requestId', { description: 'The request that did it, to undo the undo.' }),
    last: t.expose('last', {
      type: LastRef,
      nullable: true,
      description: 'The request that is undone, with `last: true`.',
    }),
    count: t.exposeInt('count', { description: 'How many changes were reverted.' }),
    by: t.expose('by', { type: [ChangeCount] }),
    data: t.expose('data', { type: [UndoneRef] }),
    rows: t.field({
      type: 'JSON',
      description: '`data` in the form of REST.',
      args: { limit: t.arg.int({ description: 'At most so many, newest first. Defaults to all.' }) },
      resolve: ({ data }, { limit }) => first(data, limit).map(snakeFields),
    }),
    also: t.expose('also', {
      type: [UndoneRef],
      description: 'Later changes that were reverted too, with `force`.',
    }),
    effects: t.expose('effects', {
      type: EffectsRef,
      nullable: true,
      description: 'What followed from the changes, with `withEffects` or `withDiffs`.',
    }),
    skipped: t.expose('skipped', { type: [SkippedRef] }),
    skippedRows: t.field({
      type: 'JSON',
      description: '`skipped` in the form of REST.',
      args: { limit: t.arg.int({ description: 'At most so many. Defaults to all.' }) },
      resolve: ({ skipped }, { limit }) => first(skipped, limit).map(snakeFields),
    }),
    skippedCount: t.int({
      description: 'How many resources were left as they are.',
      resolve: ({ skipped }) => skipped.length,
    }),
    secrets: t.field(SECRETS),
    plan: t.expose('plan', {
      type: planType('UndoPlan', 'an undo'),
      nullable: true,
      description: 'The plan, if one was requested. Then nothing was reverted.',
    }),
  }),
})

mutation<ReturnType<typeof undoArgs>, Answer, UndoPlan>('revertChanges', {
  description:
    'Reverts all changes of a request, of an actor since a time, or of the own last request, newest first, in one transaction of at most 10,000 changes.',
  type: UndoRef,
  args: undoArgs(),
  planned: (plan) => ({ ...plan.undo, plan }),
  plannedArgs: [
    'requestId',
    'actor',
    'since',
    'until',
    'recordType',
    'seq',
    'last',
    'skipConflicts',
    'force',
    'withEffects',
    'withDiffs',
    'withTitles',
  ],
  resolve: (scope, { base, skipConflicts, force, withEffects, withDiffs, withTitles, ...args }) => {
    if (force && skipConflicts) throw bothWays()
    const onConflict = force ? 'force' : skipConflicts ? 'skip' : 'fail'
    return undoChanges(scope, base, {
      ...args,
      withEffects: withEffects ?? false,
      withDiffs: withDiffs ?? false,
      withTitles: withTitles ?? false,
      onConflict,
    })
  },
})

function undoArgs() {
  return builder.args((t) => ({
    base: t.string({ required: true }),
    requestId: t.string({ description: 'All changes of this request.' }),
    actor: t.string({ description: 'All changes of this token, by id or name: with `since` or `until`.' }),
    since: t.field({ type: 'DateTime', description: 'From this time or age on.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time or age.' }),
    recordType: t.string({ description: 'Only changes of records of this type.' }),
    seq: t.float({ description: 'The change with this seq only.' }),
    last: t.boolean({
      description:
        'The last request of this token that is not an undo and not undone: a second undo goes further back.',
    }),
    skipConflicts: t.boolean({
      description: 'Leave out what was changed since, and list it. By default that is a CONFLICT.',
    }),
    force: t.boolean({ description: 'Also undo the changes that others made since, and list them.' }),
    withDiffs: t.boolean({
      description: 'Show what each revert changes, and what followed from the changes: for a plan.',
    }),
    withTitles: t.boolean({ description: 'Show the title of each record.' }),
    withEffects: t.boolean({
      description:
        'Also undo what triggers and actions did because of the changes. What was sent out is listed.',
    }),
  }))
}

const bothWays = () =>
  invalid({
    path: '/force',
    code: 'exclusive',
    message: 'Send force or skipConflicts, not both.',
  })
