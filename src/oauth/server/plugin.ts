/** The authorization server for `/mcp`: metadata, consent, tokens, revocation and, if it is on, registration. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/read-config.ts'
import type { Engine } from '../../engine/engine.ts'
import { FAILURES } from '../../foundation/errors.ts'
import { refusal } from '../../http/errors.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { originOf } from '../addresses.ts'
import type { People } from '../people/people.ts'
import { authorization } from './authorize.ts'
import { openClients } from './clients.ts'
import { faultPage, sendPage } from './consent-page.ts'
import { oauthBody, refused } from './failures.ts'
import { acceptUrlEncoded, formOf, type Parameters, required, resourceIn } from './parameters.ts'

type Options = {
  people: People | undefined
  engine: Engine
  limiter: RateLimiter
  config: Pick<Config, 'publicUrl' | 'oauthServer'>
  addressCheck: (request: FastifyRequest, reply: unknown, done: () => void) => void
}
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const BODY_BYTES = 64 * 1024
const VERIFIER = /^[\w.~-]{43,128}$/
const PATH = '/oauth'

/** Serves it, if it is on. */
export function authorizationServer({ people, engine, limiter, config: settings, addressCheck }: Options) {
  return async (app: FastifyInstance): Promise<void> => {
    const { oauthServer, publicUrl } = settings
    if (!oauthServer) return
    const originIn = (request: FastifyRequest) => originOf(request, publicUrl)
    const clients = openClients(engine, !publicUrl?.startsWith('https:'))
    const { authorizations } = engine
    acceptUrlEncoded(app)
    app.addHook('onRequest', addressCheck)
    app.addHook('onRequest', async ({ ip }) => limiter.visit(ip))
    app.setErrorHandler((thrown, request, reply) => {
      const error = refusal(thrown, request, reply)
      const { status } = FAILURES[error.code]
      if (request.routeOptions.url === `${PATH}/authorize`)
        return sendPage(reply, faultPage(error.message), undefined, status)
      return reply.code(status).header('cache-control', 'no-store').send(oauthBody(error))
    })

    app.get('/.well-known/oauth-authorization-server', async (request) => {
      const issuer = originIn(request)
      const at = (name: string) => `${issuer}${PATH}/${name}`
      return {
        issuer,
        authorization_endpoint: at('authorize'),
        token_endpoint: at('token'),
        revocation_endpoint: at('revoke'),
        ...(oauthServer.registers && { registration_endpoint: at('register') }),
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${issuer}/guides/mcp`,
      }
    })

    const { open, decide } = authorization({ people, engine, clients, limiter, originOf: originIn })
    app.get(`${PATH}/authorize`, { exposeHeadRoute: false }, open)
    app.post(`${PATH}/authorize`, { bodyLimit: BODY_BYTES, config: FORM }, decide)

    const post = (name: string, handler: Handler, config: { accepts?: readonly string[] } = FORM) =>
      app.post(`${PATH}/${name}`, { bodyLimit: BODY_BYTES, config }, async (request, reply) => {
        reply.header('cache-control', 'no-store')
        return handler(request, reply)
      })
    post('token', async (request) => {
      limiter.admit(request.ip)
      const sent = formOf(request)
      const issued = await grantIn(sent, request)
      if (!issued) {
        limiter.fail(request.ip)
        // A client that was forgotten registers again, where it learns of that.
        await clients.requireRegistered(required(sent, 'client_id'))
        throw refused(
          'invalid_grant',
          'The code or refresh token is not valid: it is unknown, used, over, or of another client.',
        )
      }
      return {
        access_token: issued.accessToken,
        token_type: 'Bearer',
        expires_in: issued.expiresInSeconds,
        refresh_token: issued.refreshToken,
      }
    })
    const grantIn = async (sent: Parameters, request: FastifyRequest) => {
      const { id } = request
      const kind = required(sent, 'grant_type')
      if (kind !== 'refresh_token' && kind !== 'authorization_code')
        throw refused(
          'unsupported_grant_type',
          'The grant_type must be authorization_code or refresh_token.',
          '/grant_type',
        )
      const clientId = required(sent, 'client_id')
      const client = { clientId, resource: resourceIn(sent, originIn(request))?.address }
      if (kind === 'refresh_token') {
        const refreshToken = required(sent, 'refresh_token')
        await people?.renew({ refreshToken }, id)
        return authorizations.refresh(id, { ...client, refreshToken })
      }
      const verifier = required(sent, 'code_verifier')
      if (!VERIFIER.test(verifier))
        throw refused('invalid_request', 'The code_verifier is not one of PKCE.', '/code_verifier')
      const code = { code: required(sent, 'code'), redirectUri: required(sent, 'redirect_uri'), verifier }
      return authorizations.exchangeCode(id, { ...client, ...code })
    }
    post('revoke', async (request, reply) => {
      const sent = formOf(request)
      const [token, clientId] = [required(sent, 'token'), required(sent, 'client_id')]
      await authorizations.revoke(request.id, { token, clientId })
      return reply.code(200).send()
    })
    if (!oauthServer.registers) return
    post(
      'register',
      async (request, reply) => {
        const client = await clients.register(request.body, request.ip)
        if (!client) {
          return reply.code(503).header('retry-after', '600').send({
            error: 'temporarily_unavailable',
            error_description: 'Too many clients have registered.',
          })
        }
        return reply.code(201).send({
          client_id: client.id,
          client_id_issued_at: Math.floor(Date.now() / 1000),
          client_name: client.name,
          redirect_uris: client.redirectUris,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        })
      },
      {},
    )
  }
}

const FORM = { accepts: ['application/x-www-form-urlencoded'] }
