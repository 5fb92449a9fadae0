import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { pageQuery } from './route/query.ts'
import { route } from './route/route.ts'
import { Actor, baseId, ToolCall, time } from './route/shapes.ts'
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
  })
  .meta({ id: 'Change' })

/** The fields of a change log entry in responses. */
export const ChangeFields = graphql(`fragment ChangeFields on Change {
  seq at actor { token_id: tokenId name via } request_id: requestId call { id tool endpoint client trace_id: traceId }
  kind record_type: recordType id operation version diff cause
}`)

const moment = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'Send a time such as 2026-01-31T09:30:00Z; "+" is written %2B.' })
    .optional()
    .meta({ description, schema: { type: 'string', format: 'date-time' } })

const filters = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'It must be the seq of an entry: a whole number from 0.')
    .transform(Number)
    .optional()
    .meta({
      description: 'The seq of an entry. Returns the entries after it.',
      schema: { type: 'integer', minimum: 0 },
    }),
  record_type: z.string().optional().meta({ description: 'Only records of this type.' }),
  id: z.string().optional().meta({ description: 'Only the resource with this id.' }),
  kind: z
    .string()
    .optional()
    .meta({ description: 'Only this kind of resource: `record`, `relationship`, …' }),
  actor: z.string().optional().meta({ description: 'Only changes made by this token: its id or its name.' }),
  since: moment('From this time on.'),
  until: moment('Before this time.'),
})

const params = z.strictObject({ base_id: baseId() })
const need = ({ base_id = '' }) => ({ baseAccess: base_id })

const asked = (base: string, { record_type, ...query }: z.output<typeof filters>) => ({
  base,
  recordType: record_type,
  ...query,
})

export const changes = [
  route('GET /:base_id/changes', {
    tag: 'History',
    summary:
      'Read the change log of a base, oldest first. Continue at `meta.next_after`: no entry is skipped',
    need,
    params,
    query: filters.extend({ limit: pageQuery.shape.limit }),
    operation: graphql(
      `query ListChanges($base: String!, $after: Float, $recordType: String, $id: String, $kind: String, $actor: String,
        $since: DateTime, $until: DateTime, $limit: Int) {
        changes(base: $base, after: $after, recordType: $recordType, id: $id, kind: $kind, actor: $actor, since: $since,
          until: $until, limit: $limit) { data { ...ChangeFields } hasMore limit nextAfter }
      }`,
      [ChangeFields],
    ),
    variables: ({ params, query }) => asked(params.base_id, query),
    reply: ({ changes: { data, hasMore, limit, nextAfter } }) => ({
      body: { data, meta: { has_more: hasMore, limit, next_after: nextAfter } },
    }),
    answers: z.object({
      data: z.array(Change),
      meta: z
        .object({
          has_more: z.boolean(),
          limit: z.int(),
          next_after: z
            .int()
            .meta({ description: 'The `after` of the next page. Present on the last page too.' }),
        })
        .meta({ id: 'ChangesMeta' }),
    }),
  }),
]

export const changeStream = [
  streamRoute('GET /:base_id/changes/stream', {
    tag: 'History',
    summary: 'Stream the change log of a base, from `Last-Event-ID`, `after` or now',
    need,
    params,
    query: filters,
    end: {
      operation: graphql('query ChangesEnd($base: String!) { changesEnd(base: $base) }'),
      variables: ({ base_id }) => ({ base: base_id }),
      of: ({ changesEnd }) => changesEnd,
    },
    operation: graphql(
      `subscription FollowChanges($base: String!, $after: Float, $recordType: String, $id: String, $kind: String, $actor: String,
        $since: DateTime, $until: DateTime) {
        changes(base: $base, after: $after, recordType: $recordType, id: $id, kind: $kind, actor: $actor, since: $since,
          until: $until) { ...ChangeFields }
      }`,
      [ChangeFields],
    ),
    variables: ({ params, query }, after) => ({ ...asked(params.base_id, query), after }),
    event: 'change',
    item: ({ changes }) => changes,
    answers: Change,
  }),
]
