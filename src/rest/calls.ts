/** REST routes of the calls of a base, and of what was used. */
import { z } from 'zod'
import { callsBody } from '../contract/response-bodies.ts'
import { ACTOR_KINDS } from '../contract/shapes.ts'
import { momentOf } from '../contract/time-input.ts'
import { graphql } from '../graphql/document.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Actor, baseId, knownBase, time } from './route/shapes.ts'

const Call = z
  .object({
    id: z.string(),
    at: time.meta({ description: 'When it ended.' }),
    actor: Actor,
    surface: z.enum(['rest', 'mcp', 'graphql', 's3']),
    endpoint: z.string().nullable(),
    tool: z.string().nullable().meta({ description: 'The MCP tool; null for another request.' }),
    route: z.string().nullable().meta({ description: 'What was asked for, if no tool.' }),
    outcome: z.string().meta({
      description:
        '`ok`, `input_required` (the tool asked its user), `cancelled`, or the code of a failure. For MCP itself that is a number.',
    }),
    message: z.string().nullable().meta({ description: 'The message of a failure.' }),
    ms: z.int(),
    bytes_in: z.int().meta({ description: 'Bytes of the body. Calls of one request share them.' }),
    bytes_out: z.int().meta({ description: 'Bytes of the answer. Calls of one request share them.' }),
    arguments: z.string().nullable().meta({
      description:
        'The first 2 KiB of the arguments of a tool as JSON, without secrets, if `settings.call_arguments` is set.',
    }),
    request_id: z.string(),
    changes: z.int().meta({ description: 'How many entries of the change log it made.' }),
  })
  .meta({ id: 'Call' })

const Usage = z
  .object({
    at: time.meta({ description: 'When the interval began.' }),
    token: z
      .object({ token_id: z.string(), name: z.string(), kind: z.enum(ACTOR_KINDS) })
      .nullable()
      .optional()
      .meta({ description: 'With `by=token`; null for what no token did.' }),
    endpoint: z.string().nullable().optional().meta({ description: 'With `by=endpoint`.' }),
    tool: z.string().nullable().optional().meta({ description: 'With `by=tool`; null for other requests.' }),
    surface: z.string().nullable().optional().meta({
      description:
        'With `by=surface`: `rest`, `mcp`, `graphql`, `s3`, or what else made changes, such as `trigger`.',
    }),
    calls: z.int(),
    failed: z.int().meta({ description: 'Calls that failed.' }),
    reads: z.int().meta({ description: 'Calls that neither failed nor could change anything.' }),
    changes: z.int().meta({ description: 'Entries of the change log.' }),
    bytes_in: z.int(),
    bytes_out: z.int(),
    ms: z.int().meta({ description: 'How long the calls took.' }),
  })
  .meta({ id: 'Usage' })

const keyOf = <Keys extends object>(by: keyof Keys | undefined, keys: Keys) =>
  by === undefined ? {} : { [by]: keys[by] }

const name = (description: string) => z.string().min(1).optional().meta({ description })

export const calls = tagged('Calls', [
  route('GET /:base_id/calls', {
    summary:
      'List the calls of a base, newest first: every tool call, and other requests that were refused. Continue at `meta.next_before`',
    need: knownBase,
    params: z.strictObject({ base_id: baseId() }),
    query: z.strictObject({
      token: name('Only calls of this token: its id or its name.'),
      tool: name('Only calls of this MCP tool.'),
      endpoint: name('Only calls at this endpoint.'),
      outcome: name(
        'Only this outcome: `ok`, a code such as `VALIDATION_ERROR`, or `failed` for any failure.',
      ),
      since: momentOf('Ended from this time on'),
      until: momentOf('Ended before this time'),
      request_id: name('Only calls of the request with this `X-Request-Id`.'),
      before: name('The id of a call. Returns the calls before it.'),
      limit: pageQuery.shape.limit,
    }),
    operation: graphql(
      `query ListCalls($base: String!, $token: String, $tool: String, $endpoint: String, $outcome: String, $since: DateTime,
        $until: DateTime, $requestId: String, $before: String, $limit: Int) {
        calls(base: $base, token: $token, tool: $tool, endpoint: $endpoint, outcome: $outcome, since: $since, until: $until,
          requestId: $requestId, before: $before, limit: $limit) {
          data {
            id at actor { token_id: tokenId name kind via } surface endpoint tool route outcome message ms bytes_in: bytesIn
            bytes_out: bytesOut arguments request_id: requestId changes
          }
          hasMore limit nextBefore
        }
      }`,
    ),
    reply: ({ calls }) => ({ body: callsBody(calls) }),
    answers: z.object({
      data: z.array(Call),
      meta: z
        .object({
          has_more: z.boolean(),
          limit: z.int(),
          next_before: z.string().optional().meta({
            description: 'The `before` of the next page, if there is one.',
          }),
        })
        .meta({ id: 'CallsMeta' }),
    }),
  }),
  route('GET /:base_id/usage', {
    summary:
      'Say how much was used of a base, oldest first: calls, failures, changes, bytes and time, in whole hours of UTC',
    need: knownBase,
    params: z.strictObject({ base_id: baseId() }),
    query: z.strictObject({
      since: momentOf(
        'Used from this time on; by default a day before `until`, or 30 days with `interval=day`',
      ),
      until: momentOf('Used before this time; by default now'),
      interval: z
        .enum(['hour', 'day'])
        .optional()
        .meta({ description: 'Without it, one row for the whole time.' }),
      by: z
        .enum(['token', 'endpoint', 'tool', 'surface'])
        .optional()
        .meta({ description: 'A row for each.' }),
      token: name('Only use by this token: its id or its name.'),
      tool: name('Only use of this MCP tool.'),
      endpoint: name('Only use of this endpoint.'),
    }),
    operation: graphql(
      `query Usage($base: String!, $since: DateTime, $until: DateTime, $interval: UsageInterval, $by: UsageKey, $token: String,
        $tool: String, $endpoint: String) {
        usage(base: $base, since: $since, until: $until, interval: $interval, by: $by, token: $token, tool: $tool,
          endpoint: $endpoint) {
          at token { token_id: tokenId name kind } endpoint tool surface calls failed reads changes bytes_in: bytesIn
          bytes_out: bytesOut ms
        }
      }`,
    ),
    reply: ({ usage }, { query: { by } }) => ({
      body: {
        data: usage.map(({ token, endpoint, tool, surface, ...used }) => ({
          ...used,
          ...keyOf(by, { token, endpoint, tool, surface }),
        })),
      },
    }),
    answers: z.object({ data: z.array(Usage) }),
  }),
])
