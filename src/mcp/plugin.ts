import { isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DomainError, errorBody, FAILURES } from '../errors.ts'
import { demandNeed } from '../graphql/context.ts'
import { notFound, refusal } from '../http/errors.ts'
import { isBaseId } from '../ids.ts'
import { addressCheck } from './address.ts'
import { genericNames, plinth } from './core.ts'
import { openEndpoint } from './endpoint.ts'
import { LEGACY_VERSIONS, openLegacy } from './legacy/http.ts'
import { openModern, webRequest } from './modern/http.ts'
import { readOptions } from './options.ts'
import type { Provider } from './provider.ts'
import { protocolError } from './result.ts'
import { openSession, type Session } from './session.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type Options = {
  host: string
  publicUrl: string | undefined
  corsOrigins: readonly string[]
  /** What `WWW-Authenticate` says of a refusal; undefined leaves it as it is. */
  challenge?: (request: FastifyRequest, error: DomainError) => string | undefined
}

const ADDRESSES = ['/mcp', '/mcp/:base_id', '/mcp/:base_id/e/:endpoint_id']

/** `/mcp` (all bases the token sees), `/mcp/{base}` (its record types as tools) and its endpoints, in both eras. */
export function mcp(identify: Hook, options: Options, provider: Provider = plinth) {
  return async (app: FastifyInstance): Promise<void> => {
    const onInternal = (err: unknown) => app.log.error({ err }, 'a tool call failed')
    const modern = openModern(provider, onInternal)
    const legacy = await openLegacy(provider, onInternal)
    app.addHook('preClose', async () => {
      legacy.endStreams()
      modern.endStreams()
    })
    app.addHook('onClose', async () => {
      await Promise.all([modern.close(), legacy.close()])
    })
    app.addHook('onRequest', addressCheck(options))
    app.addHook('onRequest', identify)
    app.setErrorHandler(sendProtocolError(options.challenge))

    for (const url of ADDRESSES) {
      app.post(url, async (request, reply) => {
        const session = await sessionOf(request)
        if (await isLegacy(request)) return legacy.post(request, reply, session)
        return modern.post(request, reply, session)
      })
      app.get(url, { exposeHeadRoute: false }, async (request, reply) =>
        legacy.get(request, reply, await sessionOf(request)),
      )
      app.delete(url, async (request, reply) => legacy.delete(request, reply, await sessionOf(request)))
    }
  }
}

/** The SDK's own test decides; who names the same era twice, or names it where only one has a place, needs no asking. */
async function isLegacy(request: FastifyRequest): Promise<boolean> {
  // What is no message is refused by the era that most clients speak.
  if (typeof request.body !== 'object' || request.body === null) return true
  const version = request.headers['mcp-protocol-version']
  const { params } = request.body as { params?: { _meta?: unknown } }
  if (LEGACY_VERSIONS.includes(String(version)) && params?._meta === undefined) return true
  const meta = params?._meta as Record<string, unknown> | null | undefined
  if (version !== undefined && meta?.[PROTOCOL_VERSION_META_KEY] === version) return false
  return isLegacyRequest(webRequest(request), request.body)
}

/** @throws VALIDATION_ERROR, NOT_FOUND or FORBIDDEN before anything is called */
async function sessionOf({ params, query, caller }: FastifyRequest): Promise<Session> {
  const { base_id: base = null, endpoint_id: endpoint = null } = params as Record<string, string | undefined>
  const options = readOptions(query as Record<string, unknown>, endpoint === null ? genericNames(base) : null)
  if (base !== null && !isBaseId(base)) throw notFound()
  if (base !== null) demandNeed(caller, { sight: base })
  return base !== null && endpoint !== null
    ? openEndpoint(caller, base, endpoint, options)
    : openSession(caller, base, options)
}

/** Failures before a tool runs: JSON-RPC errors that carry the REST error, with its status. */
function sendProtocolError(challenge: Options['challenge']) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = refusal(thrown, request, reply)
    const authenticate = challenge?.(request, error)
    if (authenticate !== undefined) reply.header('www-authenticate', authenticate)
    const parse = error.details[0]?.code === 'malformed_json' ? -32700 : -32000
    return reply
      .code(FAILURES[error.code].status)
      .send(protocolError(parse, error.message, errorBody(error, request.id)))
  }
}
