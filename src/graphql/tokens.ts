/** GraphQL type, queries and mutations of API tokens. */
import * as tokens from '../engine/configuration/tokens/index.ts'
import { boundsOf } from '../engine/environments/change-sets/bounds.ts'
import { builder } from './builder.ts'
import { Deleted } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const TokenType = builder.objectRef<tokens.Token>('Token').implement({
  description: 'An API token. Its value is returned once, by the mutation that creates it.',
  fields: (t) => ({
    id: t.exposeString('id'),
    name: t.exposeString('name'),
    kind: t.exposeString('kind', { description: '`person`, `agent` or `program`: who uses it.' }),
    masked: t.exposeString('masked'),
    grants: t.expose('grants', { type: 'JSON' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    createdBy: t.exposeString('createdBy', {
      nullable: true,
      description: 'The id of the token that created it.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
    token: t.exposeString('token', { nullable: true, description: 'The raw token. Returned once.' }),
    usedByServer: t.boolean({
      description: 'Whether it is the administrator token of the server that answers.',
      resolve: ({ id }, _args, { scope }) => id === scope.serverToken.id,
    }),
    bounds: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Of the calling token, if it proposes or has rules: `{ rules, pace, paused }`: what is used of each rule, past how many changes in an hour it is paused, and where it is.',
      resolve: ({ id, grants }, _args, { scope }) =>
        id === scope.actor.tokenId ? boundsOf(scope, grants) : null,
    }),
  }),
})
const SignInCode = builder.objectRef<tokens.SignInCode>('SignInCode').implement({
  description: 'A code that signs a browser in once, as /graphql#code=….',
  fields: (t) => ({
    code: t.exposeString('code', { nullable: true, description: 'Null in a dry run.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

builder.queryFields((t) => ({
  ownToken: t.field({
    type: TokenType,
    description: 'The calling token.',
    resolve: (_root, _args, { scope }) => tokens.ownToken(scope),
  }),
  token: t.field({
    type: TokenType,
    description: 'A token that the calling token can manage, or itself.',
    args: { id: t.arg.string({ required: true }) },
    resolve: (_root, { id }, { scope }) => tokens.getToken(scope, id),
  }),
  tokens: t.field({
    type: pageType('TokenPage', TokenType),
    description: 'The tokens that the calling token can manage, newest first.',
    args: pageArgs(),
    resolve: (_root, args, { scope }) => tokens.listTokens(scope, args),
  }),
}))

mutation('createToken', {
  description: 'Creates a token. Each of its grants must be covered by a grant of the calling token.',
  type: TokenType,
  args: builder.args((t) => ({
    name: t.string({ required: true }),
    kind: t.string({
      description: '`person`, `agent` or `program`: who uses the token. Defaults to `program`.',
    }),
    grants: t.field({
      type: 'JSON',
      required: true,
      description: '[{ base, record_type, environment, permission }]',
    }),
    expiresAt: t.field({ type: 'DateTime' }),
  })),
  resolve: (scope, { name, kind, grants, expiresAt }) =>
    tokens.createToken(scope, { name, kind, grants, expiresAt: expiresAt ?? null }),
})

mutation('deleteToken', {
  description: 'Revokes a token. All processes refuse it within a second.',
  type: Deleted,
  args: builder.args((t) => ({ id: t.string({ required: true }) })),
  resolve: (scope, { id }) => tokens.deleteToken(scope, id),
})

mutation('rotateAdminToken', {
  description:
    'Replaces the administrator token of the server, also in its data directory, and revokes the former one.',
  type: TokenType,
  args: builder.args(() => ({})),
  resolve: (scope) => tokens.rotateAdminToken(scope),
})

mutation('createSignInCode', {
  description:
    'Makes a code that signs one browser tab in with the grants of the calling token, within a minute.',
  type: SignInCode,
  args: builder.args(() => ({})),
  resolve: (scope) => tokens.createSignInCode(scope),
})
