/** REST routes of API tokens. */
import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { ACTOR_KINDS, Grant, TokenBody } from '../contract/shapes.ts'
import { graphql } from '../graphql/document.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { Deleted, time } from './route/shapes.ts'

const Bounds = z.object({
  rules: z.array(
    z.looseObject({
      base: z.array(z.string()),
      max: z.int(),
      per: z.enum(['hour', 'day', 'request']),
      used: z.int(),
      remaining: z.int(),
      ends_at: time.nullable().meta({ description: 'When it counts anew; null per request.' }),
    }),
  ),
  pace: z
    .object({
      per: z.literal('hour'),
      pauses_above: z.int().meta({ description: 'Changes in an hour past which it is paused in a base.' }),
      bases: z
        .array(z.object({ base_id: z.string(), used: z.int(), usual: z.int(), pauses_above: z.int() }))
        .meta({
          description: 'Where it wrote in the last two weeks: what counts there, from what is usual.',
        }),
    })
    .nullable()
    .meta({ description: 'Null where the server pauses nobody.' }),
  paused: z.array(z.object({ base_id: z.string(), review_request: z.string(), since: time })),
})

const Token = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(ACTOR_KINDS).meta({ description: 'Who uses it.' }),
    masked: z.string(),
    grants: z.array(Grant),
    created_at: time,
    created_by: z.string().nullable().meta({ description: 'The id of the token that created it.' }),
    expires_at: time.nullable(),
    last_used_at: time.nullable(),
    used_by_server: z
      .boolean()
      .meta({ description: 'Whether it is the administrator token of the server that answers.' }),
    bounds: Bounds.optional().meta({
      description:
        'Only of the calling token: what is left of its rules, past which pace it is paused, and where it is. Absent without a policy.',
    }),
    token: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'The raw token. Only in the response that creates it; null in a dry run.' }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Token' })

const SignInCode = z
  .object({
    code: z.string().nullable().meta({
      description: 'Open `/graphql/{base}#code={code}` in a browser. It works once; null in a dry run.',
    }),
    expires_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'SignInCode' })

const TokenFields = graphql(`fragment TokenFields on Token {
  id name kind masked grants created_at: createdAt created_by: createdBy expires_at: expiresAt last_used_at: lastUsedAt
  used_by_server: usedByServer
}`)
const need = () => ({ admin: true }) as const
const params = z.strictObject({ id: z.string().min(1).max(64) })

export const tokens = tagged('Tokens', [
  route('POST /tokens', {
    summary: 'Create a scoped API token; its value is returned once',
    need,
    body: TokenBody,
    operation: graphql(
      `mutation CreateToken($name: String!, $kind: String, $grants: JSON!, $expiresAt: DateTime) {
        createToken(name: $name, kind: $kind, grants: $grants, expiresAt: $expiresAt) { ...TokenFields token dry_run: dryRun }
      }`,
      [TokenFields],
    ),
    reply: ({ createToken }) => ({
      status: 201,
      location: `/v1/tokens/${createToken.id}`,
      body: createToken.dry_run ? createToken : trim(createToken),
    }),
    statuses: [201],
    answers: Token,
  }),
  route('GET /tokens', {
    summary: 'List tokens, their values masked',
    need,
    query: pageQuery,
    operation: graphql(
      `query ListTokens($limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: tokens(limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...TokenFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [TokenFields],
    ),
    answers: listOf(Token),
  }),
  route('GET /tokens/self', {
    summary: 'Get the calling token: its grants and expiry, and what is left of its rules',
    need: () => null,
    operation: graphql(`query GetOwnToken { ownToken { ...TokenFields bounds } }`, [TokenFields]),
    reply: ({ ownToken: { bounds, ...token } }) => ({ body: bounds === null ? token : { ...token, bounds } }),
    answers: Token,
  }),
  route('POST /tokens/self/sign-in-codes', {
    summary: 'Make a one-time code that signs a browser in to the GraphQL playground',
    need: () => null,
    operation: graphql(
      `mutation CreateSignInCode { made: createSignInCode { code expires_at: expiresAt dry_run: dryRun } }`,
    ),
    reply: ({ made }) => ({ status: 201, body: made.dry_run ? made : trim(made) }),
    statuses: [201],
    answers: SignInCode,
  }),
  route('POST /tokens/rotate-admin', {
    summary:
      'Replace the administrator token of the server; the new value is returned once, the former is revoked',
    need,
    operation: graphql(
      `mutation RotateAdminToken { rotateAdminToken { ...TokenFields token dry_run: dryRun } }`,
      [TokenFields],
    ),
    reply: ({ rotateAdminToken: done }) => ({ body: done.dry_run ? done : trim(done) }),
    answers: Token,
  }),
  route('GET /tokens/:id', {
    summary: 'Get a token that the calling token can manage, or itself',
    need: () => null,
    params,
    operation: graphql(`query GetToken($id: String!) { token(id: $id) { ...TokenFields } }`, [TokenFields]),
    answers: Token,
  }),
  route('DELETE /tokens/:id', {
    summary: 'Revoke a token',
    need,
    params,
    operation: graphql(
      `mutation DeleteToken($id: String!) { deleteToken(id: $id) { id deleted dry_run: dryRun } }`,
    ),
    answers: Deleted,
  }),
])
