/** The MCP surface: addresses, authentication and protocol eras. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isBaseId } from '../contract/ids.ts'
import { DomainError, errorBody, FAILURES, withPaths } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { logFailure } from '../foundation/log.ts'
import { requireBase, requireBases } from '../graphql/context.ts'
import type { CallerHooks } from '../http/caller.ts'
import { notFound, refusal } from '../http/errors.ts'
import type { Charge } from '../http/rate-limit.ts'
import { openEndpoint } from './endpoints/endpoint.ts'
import { genericNames, plinth } from './plinth-provider.ts'
import { readOptions } from './protocol/address-options.ts'
import { type AddressSession, openSession } from './protocol/address-session.ts'
import { MCP_REQUESTS } from './protocol/advised-tools.ts'
import { Calls } from './protocol/call-log.ts'
import { toContent } from './protocol/content.ts'
import { addressCheck } from './protocol/host-check.ts'
import { LEGACY_VERSIONS, openLegacy } from './protocol/legacy/http.ts'
import { openModern } from './protocol/modern/http.ts'
import { claimOf, classify } from './protocol/modern/inbound.ts'
import { resultOf } from './protocol/modern/server.ts'
import type { Provider } from './protocol/provider.ts'
import { failure, protocolError } from './protocol/result.ts'

type Options = {
  host: string
  publicUrl: string | undefined
  corsOrigins: readonly string[]
  charge: Charge
  /** Value of `WWW-Authenticate` for a refusal; undefined sets none. */
  challenge?: (request: FastifyRequest, error: DomainError) => string | undefined
}

const ADDRESSES = ['/mcp', '/mcp/:base_id', '/mcp/:base_id/e/:endpoint_id']

/**
 * Fastify plugin for `/mcp` (all bases of the token), `/mcp/{base}` (with type tools) and endpoints, in both
 * protocol eras.
 */
export function mcp(caller: CallerHooks, options: Options, provider: Provider = plinth) {
  return async (app: FastifyInstance): Promise<void> => {
    const onInternal = (cause: unknown) =>
      cause instanceof DomainError && cause.isUpstream
        ? logFailure(app.log, cause, cause)
        : app.log.error({ err: cause }, 'a tool call failed')
    const modern = openModern(provider, onInternal)
    const legacy = await openLegacy(provider, onInternal)
    app.addHook('preClose', async () => {
      legacy.endStreams()
      modern.endStreams()
    })
    app.addHook('onClose', async () => {
      await Promise.all([legacy.close(), modern.close()])
    })
    app.addHook('onRequest', addressCheck(options))
    app.addHook('onRequest', caller.onRequest)
    app.addHook('preHandler', caller.preHandler)
    const sendError = sendProtocolError(options.challenge)
    app.setErrorHandler((thrown, request, reply) => {
      const answered = answerUnreadCall(thrown, request, provider)
      return answered === undefined ? sendError(thrown, request, reply) : reply.code(200).send(answered)
    })

    for (const url of ADDRESSES) {
      app.post(url, { config: { answersCalls: true } }, async (request, reply) => {
        options.charge(request, reply, Array.isArray(request.body) ? request.body.length : 1)
        const calls = new Calls(request.body)
        tellOf(request, calls)
        const session = await sessionOf(request, options.publicUrl)
        const route = routeOf(request)
        if (route.kind === 'legacy') return legacy.post(request, reply, session, calls)
        return modern.post(request, reply, session, calls, route)
      })
      app.get(url, { exposeHeadRoute: false }, async (request, reply) =>
        legacy.get(request, reply, await sessionOf(request, options.publicUrl)),
      )
      app.delete(url, async (request, reply) =>
        legacy.delete(request, reply, await sessionOf(request, options.publicUrl)),
      )
    }
  }
}

/**
 * Selects the protocol era. The SDK classifies, except for requests that clearly belong to the legacy era.
 */
function routeOf(request: FastifyRequest): ReturnType<typeof classify> | { kind: 'legacy' } {
  const { body, headers } = request
  // Non-objects are rejected by the legacy era, which most clients speak.
  if (typeof body !== 'object' || body === null) return { kind: 'legacy' }
  const isNamed = LEGACY_VERSIONS.includes(String(headers['mcp-protocol-version']))
  return isNamed && claimOf(body) === undefined ? { kind: 'legacy' } : classify(request)
}

/**
 * Opens the session of a request.
 * @throws VALIDATION_ERROR, NOT_FOUND or FORBIDDEN before anything is called
 */
async function sessionOf(request: FastifyRequest, publicUrl?: string): Promise<AddressSession> {
  const { params, query, caller } = request
  const { base_id: base = null, endpoint_id: endpoint = null } = params as Record<string, string | undefined>
  const options = readOptions(query as Record<string, unknown>, endpoint === null ? genericNames(base) : null)
  if (base === null) {
    requireBases(caller)
    return openSession(caller, base, options, publicUrl)
  }
  if (!isBaseId(base)) throw notFound(request)
  try {
    if (endpoint !== null) return await openEndpoint(caller, base, endpoint, options, publicUrl)
    await requireBase(caller, base)
    return openSession(caller, base, options, publicUrl)
  } catch (thrown) {
    throw withPaths(thrown, (path) => PATHS[path] ?? path)
  }
}

/** Maps engine paths to parts of the address. */
const PATHS: Readonly<Record<string, string>> = { '/base_id': 'path/base_id', '/id': 'path/endpoint_id' }

/** Sends failures before a tool runs as JSON-RPC errors that carry the REST error and its status. */
function sendProtocolError(challenge: Options['challenge']) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = refusal(thrown, request, reply)
    const authenticate = challenge?.(request, error)
    if (authenticate !== undefined) reply.header('www-authenticate', authenticate)
    const body = errorBody(error, request.id, MCP_REQUESTS)
    const parse = error.details[0]?.code === 'malformed_json' ? -32700 : -32000
    return reply.code(FAILURES[error.code].status).send(protocolError(parse, body.error.message, body))
  }
}

/**
 * Answers a `tools/call` whose body fails the JSON pre-pass (NUL, `__proto__`, depth, numbers) with an error
 * result under the id of the call, like other invalid arguments. Undefined for other requests.
 */
function answerUnreadCall(thrown: unknown, request: FastifyRequest, { about }: Provider): object | undefined {
  const { refusedBody } = request
  if (!(thrown instanceof DomainError) || refusedBody === undefined) return undefined
  const call = callIn(refusedBody)
  if (!call) return undefined
  const relative = withPaths(thrown, (path) => path.replace(/^\/params\/arguments/, ''))
  const result = toContent(failure(relative, request.id), () => {})
  const answer = {
    jsonrpc: '2.0',
    id: call.id,
    result: claimOf(call) === undefined ? result : resultOf(result, about),
  }
  const calls = new Calls(call)
  calls.answered(call.id, answer)
  tellOf(request, calls)
  return answer
}

/** Has the log and the calls of the base say what a request called. */
function tellOf(request: FastifyRequest, calls: Calls): void {
  request.about = (status) => calls.lines(status)
  request.calls = (status) => calls.found(status)
}

type Call = { id: string | number; method: string; params?: object }

/** Extracts the call from a body that is well-formed JSON nevertheless. Large bodies are not parsed again. */
function callIn(body: Buffer): Call | undefined {
  if (body.length > LIMITS.smallBodyBytes) return undefined
  try {
    const call = JSON.parse(body.toString()) as Call
    const { id, method, params } = call
    if (method !== 'tools/call' || !(typeof id === 'string' || Number.isSafeInteger(id))) return undefined
    return isDeep(params, LIMITS.jsonDepth)
      ? { ...call, params: { ...params, arguments: '<too deep>' } }
      : call
  } catch {
    return undefined
  }
}

/** Whether a value has more levels than what logs it can walk. */
const isDeep = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeep(member, levels - 1)))
