import { z } from 'zod'
import { changesBody } from '../contract/response-bodies.ts'
import { ACTOR_KINDS } from '../contract/shapes.ts'
import { momentOf } from '../contract/time-input.ts'
import { STEP_KINDS } from '../contract/trace-step-kinds.ts'
import { invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { graphql } from '../graphql/document.ts'
import { includeTitles, json, pageQuery, parts, readFilter, title, whole } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Actor, baseAccess, baseId, changeSeq, ProposedBy, ToolCall, time } from './route/shapes.ts'
import { streamRoute } from './route/stream-route.ts'

/** A change log entry in responses. */
export const Change = z
  .object({
    seq: z.int().meta({ description: 'Increases within a base, with gaps.' }),
    at: time,
    actor: Actor,
    request_id: z.string(),
    call: ToolCall.nullable(),
    kind: z.string().meta({ description: 'The kind of resource: `record`, `record_type`, …' }),
    record_type: z.string().nullable().meta({ description: 'The type of the record; null for other kinds.' }),
    id: z.string(),
    operation: z.enum(['create', 'update', 'cancel', 'delete', 'restore']),
    version: z.int(),
    diff: z.array(z.record(z.string(), z.unknown())).meta({
      description:
        'RFC 6902 diff from the previous state: of `{ data, status, external_id, external_source }` for a record, else of the whole. A creation adds at path `""`, a deletion removes it.',
    }),
    cause: z.string().nullable().meta({ description: 'The change, delivery or run that caused it.' }),
    proposed: ProposedBy,
    title,
  })
  .meta({ id: 'Change' })

/** The fields of a change log entry in responses. */
export const ChangeFields = graphql(`fragment ChangeFields on Change {
  seq at actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId }
  kind record_type: recordType id operation version diff cause
}`)

/** The fields of a page of changes. */
const ChangePageFields = graphql(
  `fragment ChangePageFields on ChangePage { data { ...ChangeFields proposed { token_id: tokenId name kind request_id: requestId call { id tool endpoint client trace_id: traceId } } title @include(if: $withTitles) } hasMore limit nextAfter nextBefore hint }`,
  [ChangeFields],
)
/** The fields of a page of groups. */
const ChangeGroupPageFields = graphql(`fragment ChangeGroupPageFields on ChangeGroupPage {
  data {
    request_id: requestId call { id tool endpoint client trace_id: traceId } actor { token_id: tokenId name kind via }
    first_at: firstAt last_at: lastAt last_seq: lastSeq count id @include(if: $withTitles) title @include(if: $withTitles) by { kind record_type: recordType operation count }
    fields @include(if: $withFields) { row } undone undone_by: undoneBy proposed { token_id: tokenId name kind count }
  }
  hasMore limit nextBefore hint
}`)

export const ChangeCount = z
  .object({
    kind: z.string(),
    record_type: z.string().nullable(),
    operation: z.enum(['create', 'update', 'cancel', 'delete', 'restore']),
    count: z.int(),
  })
  .meta({ id: 'ChangeCount' })

const ChangeGroup = z
  .object({
    request_id: z.string(),
    call: ToolCall.nullable(),
    actor: Actor,
    first_at: time,
    last_at: time,
    last_seq: z.int(),
    count: z.int().meta({ description: 'The changes that the filter matches and the token can read.' }),
    id: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'With titles, of a group of one change: the id of what it changed.' }),
    title,
    by: z.array(ChangeCount),
    fields: z
      .array(
        z.object({
          record_type: z.string(),
          path: z.string().meta({ description: 'As in a diff: `/data/stage`.' }),
          count: z.int(),
          from: z.unknown().optional(),
          to: z.unknown().optional(),
        }),
      )
      .optional()
      .meta({
        description:
          'Present with `include=fields`: the properties that its updates of records changed, the most frequent first, at most 8. `from` and `to` are present where all share the value, cut at 120 characters.',
      }),
    undone: z.int().meta({ description: 'How many of these changes are undone.' }),
    undone_by: z.string().nullable().meta({ description: 'The request that undid all of these changes.' }),
    proposed: z
      .array(
        z.object({
          token_id: z.string().nullable(),
          name: z.string(),
          kind: Actor.shape.kind,
          count: z.int(),
        }),
      )
      .optional()
      .meta({
        description:
          'Who proposed them, if they came with a change-set: those with the most changes first, at most 8. `actor` is who let them pass.',
      }),
  })
  .meta({
    id: 'ChangeGroup',
    description: 'The changes of one request; of one tool call, if the request has several.',
  })

const ChangesMeta = z
  .object({
    has_more: z.boolean(),
    limit: z.int(),
    next_after: z.int().optional().meta({
      description: 'In ascending order, the `after` of the next page. Present on the last page too.',
    }),
    next_before: z.int().optional().meta({
      description: 'In descending order, the `before` of the next page, if there is one.',
    }),
    hint: z
      .string()
      .optional()
      .meta({ description: 'Present if the `actor` made none of the changes: who made them.' }),
  })
  .meta({ id: 'ChangesMeta' })

const seqOf = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'It must be the seq of an entry: a whole number from 0.')
    .transform(Number)
    .optional()
    .meta({ description, schema: { type: 'integer', minimum: 0 } })

const filters = z.strictObject({
  after: seqOf('The seq of an entry. Returns the entries after it.'),
  record_type: z.string().optional().meta({ description: 'Only records of this type.' }),
  id: z.string().optional().meta({ description: 'Only the resource with this id.' }),
  operation: z
    .string()
    .optional()
    .meta({ description: 'Only this operation: `create`, `update`, `cancel`, `delete` or `restore`.' }),
  request_id: z
    .string()
    .optional()
    .meta({ description: 'Only changes of the request with this `X-Request-Id`.' }),
  kind: z
    .string()
    .optional()
    .meta({ description: 'Only this kind of resource: `record`, `relationship`, …' }),
  actor: z.string().optional().meta({ description: 'Only changes made by this token: its id or its name.' }),
  actor_kind: z
    .enum(ACTOR_KINDS)
    .optional()
    .meta({ description: 'Only changes of persons, agents or programs.' }),
  since: momentOf('From this time on'),
  until: momentOf('Before this time'),
})

const params = z.strictObject({ base_id: baseId() })

const asked = (
  base: string,
  { record_type, request_id, actor_kind, ...query }: z.output<typeof filters>,
) => ({
  base,
  recordType: record_type,
  requestId: request_id,
  actorKind: actor_kind,
  ...query,
})

const pages = filters.extend({
  before: seqOf('The seq of an entry. Returns the entries before it.'),
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({
      description:
        '`desc`: the newest first, as in a change-set without `after`. Continue at `meta.next_before`.',
      schema: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
    }),
  include: parts(
    ['before', 'titles', 'fields'],
    '`before`: each step of a diff also has the value that it replaces, or that a deletion took. `titles`: add the `title` of each record. `fields`, of groups: what their updates changed. Separate several by commas.',
  ),
  group: z.enum(['request']).optional().meta({
    description: '`request`: one item for each request, newest first. Continue at `meta.next_before`.',
  }),
  limit: pageQuery.shape.limit,
})

/**
 * The variables of a list. Groups have one order and no diffs.
 * @throws VALIDATION_ERROR
 */
function listed(base: string, { include, group, ...query }: z.output<typeof pages>) {
  const isGrouped = group !== undefined
  if (isGrouped && query.order === 'asc')
    throw exclusive('query/order', 'Groups are listed newest first. Leave order out.')
  const showsBefore = include?.includes('before') ?? false
  if (isGrouped && showsBefore)
    throw exclusive('query/include', 'Groups have no diffs. Leave before out of include, or leave group out.')
  const withFields = include?.includes('fields') ?? false
  if (withFields && !isGrouped)
    throw exclusive(
      'query/include',
      'Changes have diffs. Leave fields out of include, or send group=request.',
    )
  const withTitles = include?.includes('titles') ?? false
  return { ...asked(base, query), showsBefore, withTitles, withFields, isGrouped }
}

const exclusive = (path: string, message: string) => invalid({ path, code: 'exclusive', message })

export const changes = tagged('History', [
  route('GET /:base_id/changes', {
    summary:
      'Read the change log of a base, oldest first. Continue at `meta.next_after`: no entry is skipped',
    need: baseAccess,
    params,
    query: pages,
    cuts: true,
    operation: graphql(
      `query ListChanges($base: String!, $after: Float, $before: Float, $order: LogOrder, $recordType: String, $id: String,
        $kind: String, $operation: String, $actor: String, $actorKind: String, $requestId: String, $since: DateTime, $until: DateTime,
        $limit: Int, $showsBefore: Boolean, $withTitles: Boolean!, $withFields: Boolean!, $isGrouped: Boolean!) {
        changes(base: $base, after: $after, before: $before, order: $order, recordType: $recordType, id: $id, kind: $kind,
          operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
          showsBefore: $showsBefore) @skip(if: $isGrouped) { ...ChangePageFields }
        changeGroups(base: $base, after: $after, before: $before, recordType: $recordType, id: $id, kind: $kind,
          operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
          withFields: $withFields) @include(if: $isGrouped) { ...ChangeGroupPageFields }
      }`,
      [ChangePageFields, ChangeGroupPageFields],
    ),
    variables: ({ params, query }) => listed(params.base_id, query),
    reply: ({ changes, changeGroups }) => ({ body: changesBody(changes, changeGroups) }),
    answers: z.object({ data: z.union([z.array(Change), z.array(ChangeGroup)]), meta: ChangesMeta }),
  }),
])

const ChangeSummary = Change.pick({
  seq: true,
  kind: true,
  record_type: true,
  id: true,
  operation: true,
  version: true,
}).meta({ id: 'ChangeSummary' })
const TraceStep = z
  .object({
    kind: z.enum(STEP_KINDS),
    id: z.string().meta({ description: 'Of a change: its seq.' }),
    of: z.string().nullable().meta({
      description:
        'What it belongs to: the trigger, inbound webhook, action, seed or tool; of a promotion, the preview.',
    }),
    depth: z.int().meta({ description: 'How far it is from the traced change, from 1.' }),
    cause: z
      .string()
      .nullable()
      .meta({ description: 'The id of the step that it follows from; null for the first of all.' }),
    at: time.nullable(),
    status: z.string().nullable().meta({ description: 'Of a delivery, a run or a promotion.' }),
    change: ChangeSummary.nullable(),
    actor: Actor.nullable(),
    request_id: z.string().nullable(),
    call: ToolCall.nullable(),
  })
  .meta({ id: 'TraceStep' })
const ChangeTrace = z
  .object({
    change: Change,
    causes: z.array(TraceStep).meta({ description: 'Back to the request, the nearest first.' }),
    effects: z.array(TraceStep).meta({ description: 'What followed, the nearest first.' }),
    truncated: z.boolean().meta({ description: 'There are more steps, or they are farther than `depth`.' }),
  })
  .meta({ id: 'ChangeTrace' })
const TraceStepFields = graphql(`fragment TraceStepFields on TraceStep {
  kind id of depth cause at status change { seq kind record_type: recordType id operation version }
  actor { token_id: tokenId name kind via } request_id: requestId call { id tool endpoint client trace_id: traceId }
}`)

export const trace = tagged('History', [
  route('GET /:base_id/changes/:seq/trace', {
    summary: 'Trace a change: back to what caused it, and forward to what it set off',
    need: baseAccess,
    params: params.extend({ seq: changeSeq }),
    query: z.strictObject({
      depth: whole(1, LIMITS.traceDepth, LIMITS.traceDepth, 'How many steps to go in each direction.'),
    }),
    cuts: true,
    operation: graphql(
      `query TraceChange($base: String!, $seq: Float!, $depth: Int) {
        trace: changeTrace(base: $base, seq: $seq, depth: $depth) {
          change { ...ChangeFields } causes { ...TraceStepFields } effects { ...TraceStepFields } truncated
        }
      }`,
      [ChangeFields, TraceStepFields],
    ),
    answers: ChangeTrace,
  }),
])

export const changeStream = tagged('History', [
  streamRoute('GET /:base_id/changes/stream', {
    summary: 'Stream the change log of a base, from `Last-Event-ID`, `after` or now',
    need: baseAccess,
    params,
    query: filters.extend({
      include: includeTitles,
      condition: json(
        'Only changes of records that meet this filter of the record after the change; `previous.` before a field reads the record before it.',
      ),
    }),
    end: {
      operation: graphql('query ChangesEnd($base: String!) { changesEnd(base: $base) }'),
      variables: ({ base_id }) => ({ base: base_id }),
      of: ({ changesEnd }) => changesEnd,
    },
    operation: graphql(
      `subscription FollowChanges($base: String!, $after: Float, $recordType: String, $id: String, $kind: String, $operation: String,
        $actor: String, $actorKind: String, $requestId: String, $since: DateTime, $until: DateTime, $condition: JSON, $withTitles: Boolean!) {
        changes(base: $base, after: $after, recordType: $recordType, id: $id, kind: $kind, operation: $operation, actor: $actor, actorKind: $actorKind,
          requestId: $requestId, since: $since, until: $until, condition: $condition) { ...ChangeFields title @include(if: $withTitles) }
      }`,
      [ChangeFields],
    ),
    variables: ({ params, query: { condition, include, ...query } }, after) => ({
      ...asked(params.base_id, query),
      condition: readFilter(condition, 'condition'),
      withTitles: include !== undefined,
      after,
    }),
    event: 'change',
    item: ({ changes }) => changes,
    answers: Change,
  }),
])
