/** The tools changes and undo: what was changed, by whom, and taking it back. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { awaiting } from '../../contract/plan-messages.ts'
import { callsBody, changesBody } from '../../contract/response-bodies.ts'
import { ACTOR_KINDS } from '../../contract/shapes.ts'
import { moment } from '../../contract/time-input.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { DomainError, invalid, restated, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { without } from '../budget/lean.ts'
import { ReadResult, type Row } from '../budget/read-result.ts'
import { PAGE, pageOutput } from '../tool/page-arguments.ts'
import { refuseOthers } from '../tool/refuse-others.ts'
import { deleting, reading, tool } from '../tool/tool.ts'
import { changesForView, forView } from '../views/views.ts'

const list =
  staticOperation(`query ToolChanges($base: String!, $after: Float, $before: Float, $order: LogOrder, $recordType: String, $id: String,
    $kind: String, $operation: String, $actor: String, $actorKind: String, $requestId: String, $since: DateTime, $until: DateTime,
    $limit: Int, $showsBefore: Boolean, $withTitles: Boolean!, $withFields: Boolean!, $isGrouped: Boolean!) {
    changes(base: $base, after: $after, before: $before, order: $order, recordType: $recordType, id: $id, kind: $kind,
      operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
      showsBefore: $showsBefore) @skip(if: $isGrouped) {
      data {
        seq at actor { token_id: tokenId name kind via } request_id: requestId
        call { id tool endpoint client trace_id: traceId }
        kind record_type: recordType id operation version diff cause proposed { token_id: tokenId name kind request_id: requestId call { id tool endpoint client trace_id: traceId } } title @include(if: $withTitles)
      }
      hasMore limit nextAfter nextBefore hint
    }
    changeGroups(base: $base, after: $after, before: $before, recordType: $recordType, id: $id, kind: $kind,
      operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
      withFields: $withFields) @include(if: $isGrouped) {
      data {
        request_id: requestId call { id tool endpoint client trace_id: traceId }
        actor { token_id: tokenId name kind via } first_at: firstAt last_at: lastAt last_seq: lastSeq count
        id @include(if: $withTitles) title @include(if: $withTitles) by { kind record_type: recordType operation count }
        fields @include(if: $withFields) { row } undone_by: undoneBy proposed { token_id: tokenId name kind count }
      }
      hasMore limit nextBefore hint
    }
  }`)

const listCalls =
  staticOperation(`query ToolCalls($base: String!, $token: String, $outcome: String, $since: DateTime, $until: DateTime, $requestId: String, $limit: Int) {
    calls(base: $base, token: $token, outcome: $outcome, since: $since, until: $until, requestId: $requestId, limit: $limit) {
      data {
        at actor { token_id: tokenId name kind via } endpoint tool route outcome message ms arguments request_id: requestId changes
      }
      hasMore limit nextBefore
    }
  }`)

const listUsage =
  staticOperation(`query ToolUsage($base: String!, $token: String, $since: DateTime, $until: DateTime) {
    usage(base: $base, token: $token, since: $since, until: $until, by: tool) {
      tool calls failed reads changes bytes_in: bytesIn bytes_out: bytesOut ms
    }
  }`)

const TraceStepFields = graphql(`fragment ToolTraceStep on TraceStep {
  kind id of depth cause at status change { seq kind record_type: recordType id operation version }
  actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId }
}`)
const trace = staticOperation(
  `query ToolTrace($base: String!, $seq: Float!) {
    changeTrace(base: $base, seq: $seq) {
      change {
        seq at actor { token_id: tokenId name kind via } request_id: requestId
        call { id tool endpoint client trace_id: traceId }
        kind record_type: recordType id operation version diff cause
      }
      causes { ...ToolTraceStep } effects { ...ToolTraceStep } truncated
    }
  }`,
  [TraceStepFields],
)

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

const INCLUDED = ['before', 'titles', 'fields'] as const
const seq = z.int().min(0)
const selection = {
  request_id: z.string().optional(),
  actor: z.string().optional(),
  since: moment,
  until: moment,
  record_type: z.string().optional(),
}
const ofNothing = () =>
  invalid({
    path: '/request_id',
    code: 'required',
    message: `Send request_id, seq for one change, or actor with since; or nothing, for your last request. ${advised('list_changes')} lists what was changed by which request.`,
  })
const ADVICE = ' To undo the skipped ones with what came after, send on_conflict "force".'

export const changeTools = [
  tool('changes', {
    title: 'Changes',
    description:
      'Log of changes. group=request: what each did. include=before: old values. trace=seq: causes, effects. calls: tool calls.',
    permission: 'read',
    showsRecords: true,
    input: z.strictObject({
      ...selection,
      id: z.string().optional(),
      kind: z.string().optional(),
      operation: z.string().optional(),
      actor_kind: z.enum(ACTOR_KINDS).optional().meta({ listed: false }),
      after: seq.optional(),
      before: seq.optional(),
      order: z.enum(['asc', 'desc']).optional(),
      // Both at once are taken, and not listed.
      include: z
        .enum([...INCLUDED, 'before,titles'])
        .meta({ enum: INCLUDED })
        .optional(),
      group: z.enum(['request']).optional(),
      limit: z.int32().optional(),
      trace: seq.optional(),
      calls: z.enum(['all', 'failed', 'usage']).optional(),
      ...reading,
    }),
    output: pageOutput,
    run: async (
      { base_id, record_type, request_id, actor_kind, include, group, limit: most, ...args },
      context,
    ) => {
      const limit = most ?? PAGE
      const { max_tokens: tokens = LIMITS.digestTokens, trace: traced, calls, ...filter } = args
      const { actor, since, until, ...ofChanges } = filter
      if (calls === 'usage') {
        refuseOthers(
          { ...ofChanges, record_type, request_id, actor_kind, include, group, limit: most, trace: traced },
          OF_USAGE,
        )
        const { usage } = await listUsage(
          { base: base_id, ...omitUndefined({ since, until, token: actor }) },
          context,
        )
        return new ReadResult({ data: usage })
      }
      if (calls !== undefined) {
        refuseOthers({ ...ofChanges, record_type, actor_kind, include, group, trace: traced }, OF_CALLS)
        const asked = omitUndefined({ since, until, token: actor, requestId: request_id })
        const outcome = calls === 'failed' ? { outcome: calls } : {}
        const page = (await listCalls({ base: base_id, limit, ...asked, ...outcome }, context)).calls
        return new ReadResult(callsBody({ ...page, data: page.data.map(bare), nextBefore: null }))
      }
      if (traced !== undefined) {
        refuseOthers(
          { ...filter, record_type, request_id, actor_kind, include, group, limit: most },
          OF_TRACE,
        )
        const { changeTrace } = await trace({ base: base_id, seq: traced }, context).catch(
          (thrown: unknown) => {
            throw withPaths(thrown, (path) => (path === '/seq' ? '/trace' : path))
          },
        )
        return new ReadResult(steps(changeTrace))
      }
      const showsBefore = include?.startsWith('before') ?? false
      if (group === undefined && include === 'fields') throw fieldsOfGroups()
      if (group !== undefined && showsBefore) refuseOthers({ include }, 'Groups have no diffs.')
      if (group !== undefined && filter.order === 'asc')
        refuseOthers({ order: filter.order }, 'Groups are listed newest first.')
      const asked = {
        ...camelFields(omitUndefined({ ...filter, record_type, request_id, actor_kind })),
        base: base_id,
        limit,
        showsBefore,
        withTitles: include !== undefined && include !== 'before',
        withFields: include === 'fields',
      }
      const { changes, changeGroups } = await list({ ...asked, isGrouped: group === 'request' }, context)
      if (!changes) return new ReadResult(changesBody(changes, changeGroups), { goOn: before('last_seq') })
      const isOrdered = filter.order !== undefined || filter.after !== undefined
      const ifCut = async () => {
        const page = isOrdered
          ? { changes }
          : await list({ ...asked, order: 'desc', isGrouped: false }, context)
        const { changeGroups } = await list(
          { ...asked, limit: LIMITS.cutGroupsCounted, isGrouped: true },
          context,
        )
        return digestOf(page.changes ?? changes, changeGroups, isOrdered && filter.order !== 'desc', tokens)
      }
      // Without order and after, the newest are of more use than the oldest.
      if (changes.hasMore && !isOrdered) return ifCut()
      return new ReadResult(changesBody(changes, undefined), { ifCut })
    },
  }),
  tool('undo', {
    title: 'Undo',
    description:
      'Undo your last request (no arguments; again: further back), a request, an actor since 2h or a time, or a change (seq). Plans first.',
    permission: 'write',
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
  }),
]

const after = (seq: string) => (last: Row) => ({ next_after: last[seq] })
const before = (seq: string) => (last: Row) => ({ next_before: last[seq] })

type Page = NonNullable<Awaited<ReturnType<typeof list>>['changes']>
type Groups = NonNullable<Awaited<ReturnType<typeof list>>['changeGroups']>

/** A cut answer: how many changes match and by whom, then some of them, shortened. */
function digestOf(page: Page, groups: Groups | undefined, isAscending: boolean, tokens: number): ReadResult {
  const { data, meta } = changesBody(page, undefined)
  const hint = isAscending
    ? 'Oldest first; matches says who made all of them. Continue with after = meta.next_after.'
    : 'Newest first; matches says who made all of them. Continue with order=desc and before = meta.next_before, or begin with order=asc.'
  return new ReadResult(
    {
      matches: matchesOf(groups?.data ?? [], groups?.hasMore ?? false, namedIn(tokens)),
      data: data.map(bare),
      meta: { ...meta, hint },
    },
    { tokens: LIMITS.digestTokens, rowBytes: ROW_BYTES, goOn: isAscending ? after('seq') : before('seq') },
  )
}
const ROW_BYTES = 500

/** How many actors, tools and requests have room: a request takes some 50 tokens, and all else 100. */
const namedIn = (tokens: number): number =>
  Math.min(LIMITS.cutGroupsNamed, Math.max(1, Math.floor(tokens / 100) - 1))

function matchesOf(groups: Groups['data'], hasMore: boolean, named: number) {
  const counts = (nameOf: (group: Groups['data'][number]) => string) => {
    const all = new Map<string, number>()
    for (const group of groups) all.set(nameOf(group), (all.get(nameOf(group)) ?? 0) + group.count)
    return Object.fromEntries([...all].sort(([, a], [, b]) => b - a).slice(0, named))
  }
  return {
    // Of the newest requests only, if there are more than were counted.
    [hasMore ? 'at_least' : 'count']: groups.reduce((sum, { count }) => sum + count, 0),
    by_actor: counts(({ actor }) => actor.name),
    by_tool: counts(({ call, actor }) => call?.tool ?? actor.via),
    requests: groups.length,
    latest_requests: groups.slice(0, named).map(lineOf),
  }
}

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
  const { changeGroups } = await list(asked, context)
  return (changeGroups?.data ?? []).filter((group) => group.request_id !== but).map(lineOf)
}

const lineOf = ({ request_id, actor, call, last_at, count, by, undone_by }: Groups['data'][number]) => ({
  request_id,
  actor: actor.name,
  ...(call?.tool ? { tool: call.tool } : { via: actor.via }),
  at: last_at,
  count,
  what: by
    .map(({ operation, count, record_type, kind }) => `${operation} ${count} ${record_type ?? kind}`)
    .join(', '),
  ...(undone_by && { undone: true }),
})

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

const bare = (row: object) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

/** A trace without what its steps do not have. */
function steps<T extends { causes: readonly object[]; effects: readonly object[] }>(traced: T) {
  return { ...traced, causes: traced.causes.map(bare), effects: traced.effects.map(bare) }
}

const fieldsOfGroups = () =>
  invalid({
    path: '/include',
    code: 'exclusive',
    message: 'include=fields is for group=request. Changes have diffs: include=before adds the old values.',
  })

const OF_TRACE = 'trace returns one change, not a list.'
const OF_USAGE = 'calls=usage adds up calls by tool. It takes actor, since and until.'
const OF_CALLS = 'calls takes request_id, actor, since, until and limit.'
