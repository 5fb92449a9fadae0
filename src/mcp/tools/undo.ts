/** The tool undo: takes back what was changed, after its plan. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { awaiting } from '../../contract/plan-messages.ts'
import { moment } from '../../contract/time-input.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { DomainError, invalid, restated } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { without } from '../budget/lean.ts'
import type { Row } from '../budget/read-result.ts'
import { deleting, tool } from '../tool/tool.ts'
import { changesForView, forView } from '../views/views.ts'
import { lineOf, listChanges, selection, seq } from './change-log.ts'

const revert =
  staticOperation(`mutation ToolUndo($base: String!, $requestId: String, $actor: String, $since: DateTime, $until: DateTime,
    $recordType: String, $seq: Float, $last: Boolean, $skipConflicts: Boolean, $force: Boolean, $withEffects: Boolean, $shown: Int!) {
    revertChanges(base: $base, requestId: $requestId, actor: $actor, since: $since, until: $until, recordType: $recordType,
      seq: $seq, last: $last, skipConflicts: $skipConflicts, force: $force, withEffects: $withEffects, withTitles: true) {
      request_id: requestId last { request_id: requestId at via tool } count by { kind record_type: recordType operation count }
      rows(limit: $shown) skipped: skippedRows(limit: $shown) skipped_count: skippedCount secrets dry_run: dryRun
      also { reverts kind record_type: recordType id } effects { changes deliveries { id of status } runs { id of status } }
      plan { what token expiresAt }
    }
  }`)

const ofNothing = () =>
  invalid({
    path: '/request_id',
    code: 'required',
    message: `Send request_id, seq for one change, or actor with since; or nothing, for your last request. ${advised('list_changes')} lists what was changed by which request.`,
  })
const ADVICE = ' To undo the skipped ones with what came after, send on_conflict "force".'

export const undoTool = tool('undo', {
  title: 'Undo',
  description:
    'Undo your last request (no arguments; again: further back), a request, an actor since 2h or a time, or a change (seq). Plans first.',
  permission: 'write',
  notInChangeSets: true,
  hints: { destructive: true },
  plans: 'undo',
  input: z.strictObject({
    ...selection,
    until: moment.meta({ listed: false }),
    record_type: selection.record_type.meta({ listed: false }),
    seq: seq.optional(),
    on_conflict: z.enum(['fail', 'skip', 'force']).optional().meta({ listed: false }),
    with_effects: z.boolean().optional(),
    ...deleting,
  }),
  lean: leanUndo,
  run: async (
    { base_id, record_type, request_id, on_conflict, with_effects, ...args },
    context,
    _caller,
    { hasViews },
  ) => {
    const { idempotency_key: _, dry_run: __, plan_token: ___, stated: ____, ...filter } = args
    const isLast = Object.keys(omitUndefined({ ...filter, request_id, record_type })).length === 0
    const isNamed = [request_id, filter.seq, filter.actor].some((each) => each !== undefined)
    if (!isLast && !isNamed) throw ofNothing()
    const { revertChanges } = await revert(
      {
        ...camelFields(omitUndefined({ ...filter, record_type, request_id })),
        base: base_id,
        // Nothing is undone before the plan is confirmed, and the plan lists what it leaves.
        skipConflicts: (on_conflict ?? 'skip') === 'skip',
        force: on_conflict === 'force',
        withEffects: with_effects ?? false,
        last: isLast,
        shown: LIMITS.changedResourcesNamed,
      },
      context,
    ).catch(async (thrown: unknown) => {
      throw await withRecent(thrown, base_id, context)
    })
    const { plan, rows, skipped, skipped_count, secrets, dry_run, last, also, effects, ...done } =
      revertChanges
    const left = {
      ...(also.length > 0 && { also: namesOf(also.slice(0, LIMITS.changedResourcesNamed)) }),
      ...(effects && { effects: effectsOf(effects) }),
      ...(skipped_count > 0 && { skipped, skipped_count }),
    }
    const isLater = (skipped as readonly Left[]).some(({ overtaken_by }) => overtaken_by !== null)
    const advice = isLater ? ADVICE : ''
    if (!plan)
      return {
        request_id: done.request_id,
        ...(dry_run && { dry_run }),
        ...(last && { of: nameOf(last) }),
        count: done.count,
        by: done.by,
        ...left,
        ...(secrets !== null && { secrets }),
        ...(done.count === 0 && skipped_count > 0 && { next: `Nothing can be undone.${advice}` }),
      }
    const { next, ...token } = awaiting('undo', plan)
    const answer = {
      // At an endpoint, what others did is out of reach.
      ...(last && !context.scope.policy && { recent: await recentOf(base_id, last.request_id, context) }),
      plan: {
        what: plan.what,
        ...(last && { of: nameOf(last) }),
        count: done.count,
        ...samplesOf(rows as readonly Undone[]),
        ...left,
      },
      ...token,
      next: `${next}${advice}`,
    }
    return hasViews
      ? forView(answer, { changes: changesForView((rows as readonly Step[]).map(ofUndo)) })
      : answer
  },
})

type Last = {
  readonly request_id: string
  readonly at: string
  readonly via: string
  readonly tool: string | null
}
const nameOf = ({ request_id, at, via, tool }: Last) => ({
  request_id,
  at,
  ...(tool === null ? { via } : { tool }),
})

/** A refusal that found nothing, with the latest requests as samples. */
async function withRecent(thrown: unknown, base: string, context: Context): Promise<unknown> {
  const [detail, ...others] = thrown instanceof DomainError ? thrown.details : []
  if (!(thrown instanceof DomainError) || detail?.code !== 'change_not_found') return thrown
  const samples = await recentOf(base, null, context)
  if (samples.length === 0) return thrown
  const message = `${detail.message} samples has the latest requests.`
  return restated(thrown, { message, details: [{ ...detail, message, samples }, ...others] })
}

/** The latest requests, newest first, besides the one that is meant: what else could be. */
async function recentOf(base: string, but: string | null, context: Context): Promise<object[]> {
  // An endpoint shows no changes of others.
  if (context.scope.policy) return []
  const asked = {
    base,
    limit: LIMITS.recentRequestsNamed,
    showsBefore: false,
    withTitles: false,
    withFields: false,
    isGrouped: true,
  }
  const { changeGroups } = await listChanges(asked, context)
  return (changeGroups?.data ?? []).filter((group) => group.request_id !== but).map(lineOf)
}

/** Requests as lines, and of what was undone the request and the number: the plan has said the rest. */
function leanUndo(body: Row): Row {
  const { recent, plan } = body as { recent?: Line[]; plan?: { of?: Line } }
  if (!plan) return body['dry_run'] === true ? body : without(body, ['of', 'by'])
  const { at, tool, via } = plan.of ?? {}
  const of = plan.of && { of: inWords({ at, tool, via }) }
  return { ...body, ...(recent && { recent: recent.map(inWords) }), plan: { ...plan, ...of } }
}

type Line = { [name in Said]?: unknown }
type Said = 'request_id' | 'at' | 'actor' | 'tool' | 'via' | 'what' | 'undone'
const inWords = ({ request_id, at, actor, tool, via, what, undone }: Line) =>
  [request_id, `${String(at).slice(0, 16)}Z`, actor, tool ?? via, what, undone && 'undone']
    .filter(Boolean)
    .join(' ')

type Sent = { readonly deliveries: readonly object[]; readonly runs: readonly object[] }
const effectsOf = <T extends Sent>(effects: T) => ({
  ...effects,
  deliveries: effects.deliveries.slice(0, LIMITS.changedResourcesNamed),
  runs: effects.runs.slice(0, LIMITS.changedResourcesNamed),
})

type Step = { readonly kind: string; readonly operation: string }
/** A step of an undo, in the words of a change. */
const ofUndo = <T extends Step>(step: T) => ({ ...step, op: OPS[step.operation] ?? 'update' })
const OPS: Readonly<Record<string, string>> = { create: 'create', restore: 'create', delete: 'delete' }

type Left = { readonly overtaken_by: number | null }
type Undone = {
  readonly kind: string
  readonly record_type: string | null
  readonly id: string
  readonly title?: string | null
}
/** What is named of resources. Links, whose ids say little, are named if there is nothing else. */
function namedOf<T extends Undone>(undone: readonly T[]): readonly T[] {
  const others = undone.filter(({ kind }) => kind !== 'relationship')
  return others.length > 0 ? others : undone
}
const nameOfOne = ({ kind, record_type, id }: Undone): string => `${record_type ?? kind}/${id}`
const namesOf = (undone: readonly Undone[]): string[] => namedOf(undone).map(nameOfOne)

/** The names in a plan, as those of a deletion. */
function samplesOf(undone: readonly Undone[]) {
  const named = namedOf(undone)
  const titles = named.map(({ title }) => title ?? null)
  return { samples: named.map(nameOfOne), ...(titles.some((title) => title !== null) && { titles }) }
}
