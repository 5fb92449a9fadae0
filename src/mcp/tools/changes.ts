/** The tool changes: what was changed, by whom, why, and by which calls. */
import { z } from 'zod'
import { camelFields } from '../../contract/field-names.ts'
import { callsBody, changesBody } from '../../contract/response-bodies.ts'
import { ACTOR_KINDS } from '../../contract/shapes.ts'
import { invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { ReadResult, type Row } from '../budget/read-result.ts'
import { PAGE, pageOutput } from '../tool/page-arguments.ts'
import { refuseOthers } from '../tool/refuse-others.ts'
import { reading, tool } from '../tool/tool.ts'
import { type Groups, lineOf, listChanges, type Page, selection, seq } from './change-log.ts'

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

const INCLUDED = ['before', 'titles', 'fields'] as const

export const changesTool = tool('changes', {
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
      refuseOthers({ ...filter, record_type, request_id, actor_kind, include, group, limit: most }, OF_TRACE)
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
    const { changes, changeGroups } = await listChanges({ ...asked, isGrouped: group === 'request' }, context)
    if (!changes) return new ReadResult(changesBody(changes, changeGroups), { goOn: before('last_seq') })
    const isOrdered = filter.order !== undefined || filter.after !== undefined
    const ifCut = async () => {
      const page = isOrdered
        ? { changes }
        : await listChanges({ ...asked, order: 'desc', isGrouped: false }, context)
      const { changeGroups } = await listChanges(
        { ...asked, limit: LIMITS.cutGroupsCounted, isGrouped: true },
        context,
      )
      return digestOf(page.changes ?? changes, changeGroups, isOrdered && filter.order !== 'desc', tokens)
    }
    // Without order and after, the newest are of more use than the oldest.
    if (changes.hasMore && !isOrdered) return ifCut()
    return new ReadResult(changesBody(changes, undefined), { ifCut })
  },
})

const after = (seq: string) => (last: Row) => ({ next_after: last[seq] })
const before = (seq: string) => (last: Row) => ({ next_before: last[seq] })

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
