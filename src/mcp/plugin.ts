import { isLegacyRequest } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorBody, FAILURES, invalid } from '../errors.ts'
import { demandNeed } from '../graphql/context.ts'
import { notFound, refusal } from '../http/errors.ts'
import { isBaseId } from '../ids.ts'
import { nearest } from '../nearest.ts'
import { addressCheck } from './address.ts'
import { serveLegacy } from './legacy.ts'
import { modernHandler } from './modern.ts'
import type { Session } from './session.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type Options = { host: string; publicUrl: string | undefined; corsOrigins: readonly string[] }

/** Versions of the `initialize` era; a header that names another is refused. */
const LEGACY_VERSIONS = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const ADDRESSES = ['/mcp', '/mcp/:base_id']

/** `/mcp` (all bases the token sees) and `/mcp/{base}` (its record types as tools), in both eras of the protocol. */
export function mcp(identify: Hook, options: Options) {
  return async (app: FastifyInstance): Promise<void> => {
    const modern = modernHandler((err) => app.log.error({ err }, 'a tool call failed'))
    app.addHook('onClose', () => modern.close())
    app.addHook('onRequest', addressCheck(options))
    app.addHook('onRequest', identify)
    app.setErrorHandler(sendProtocolError)

    for (const url of ADDRESSES) {
      app.post(url, async (request, reply) => {
        const session = sessionOf(request)
        if (await isLegacy(request)) return legacy(request, reply, session)
        const answer = await modern.fetch(webRequest(request), request.body, session)
        for (const [name, value] of answer.headers) reply.header(name, value)
        // A stream goes on as one; anything else is sent whole, in one write.
        const streams = answer.headers.get('content-type')?.startsWith('text/event-stream')
        return reply.code(answer.status).send(streams ? answer.body : await answer.text())
      })
      // No stream and no session to end: each POST stands alone.
      app.route({
        method: ['GET', 'DELETE'],
        url,
        handler: async (_request, reply) =>
          reply
            .code(405)
            .header('allow', 'POST')
            .send(protocolError(-32000, 'Use POST: there is no stream here.')),
      })
    }
  }
}

/** The SDK's own test decides; a header of the old era without the new era's envelope needs no asking. */
async function isLegacy(request: FastifyRequest): Promise<boolean> {
  const version = request.headers['mcp-protocol-version']
  const { params } = (request.body ?? {}) as { params?: { _meta?: unknown } }
  if (LEGACY_VERSIONS.includes(String(version)) && params?._meta === undefined) return true
  return isLegacyRequest(webRequest(request), request.body)
}

async function legacy(request: FastifyRequest, reply: FastifyReply, session: Session) {
  const version = request.headers['mcp-protocol-version']
  if (version !== undefined && !LEGACY_VERSIONS.includes(String(version)))
    return reply
      .code(400)
      .send(
        protocolError(-32000, `MCP-Protocol-Version is one of ${LEGACY_VERSIONS.join(', ')}, 2026-07-28.`),
      )
  const accept = request.headers.accept ?? '*/*'
  if (!/application\/(json|\*)|\*\/\*/.test(accept))
    return reply.code(406).send(protocolError(-32000, 'Accept must take application/json.'))
  const gone = new AbortController()
  reply.raw.on('close', () => gone.abort())
  const { status, body } = await serveLegacy(request.body, session, gone.signal, (err) =>
    request.log.error({ err }, 'a tool call failed'),
  )
  return body === null
    ? reply.code(status).send()
    : reply.code(status).type('application/json').send(JSON.stringify(body))
}

const OPTIONS = ['readonly']

function sessionOf(request: FastifyRequest): Session {
  const { base_id: base = null } = request.params as { base_id?: string }
  const query = request.query as Record<string, unknown>
  const unknown = Object.keys(query).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) {
    const hint = nearest(unknown, OPTIONS)
    throw invalid({
      path: `query/${unknown.slice(0, 64)}`,
      code: 'unknown_key',
      message: `The address takes no "${unknown.slice(0, 64)}".`,
      allowed: OPTIONS,
      ...(hint && { hint }),
    })
  }
  const { readonly } = query
  if (
    readonly !== undefined &&
    readonly !== '1' &&
    readonly !== '0' &&
    readonly !== 'true' &&
    readonly !== 'false'
  )
    throw invalid({
      path: 'query/readonly',
      code: 'enum',
      message: 'readonly is 1 or 0.',
      allowed: ['1', '0'],
    })
  if (base !== null && !isBaseId(base)) throw notFound()
  if (base !== null) demandNeed(request.caller, { sight: base })
  return { context: request.caller, base, readonly: readonly === '1' || readonly === 'true' }
}

/** The request as the web-standard handler reads it; its body is parsed already. */
const webRequest = (request: FastifyRequest): Request =>
  new Request(new URL(request.url, 'http://plinth.invalid'), {
    method: 'POST',
    headers: headersOf(request),
    body: '{}',
  })

function headersOf({ headers }: FastifyRequest): Headers {
  const copy = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (
      typeof value === 'string' &&
      name !== 'content-length' &&
      name !== 'connection' &&
      name !== 'transfer-encoding'
    )
      copy.set(name, value)
  return copy
}

const protocolError = (code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message, ...(data && { data }) },
})

/** Failures before a tool runs: JSON-RPC errors that carry the REST error, with its status. */
function sendProtocolError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = refusal(thrown, request, reply)
  const parse = error.details[0]?.code === 'malformed_json' ? -32700 : -32000
  return reply
    .code(FAILURES[error.code].status)
    .send(protocolError(parse, error.message, errorBody(error, request.id)))
}
