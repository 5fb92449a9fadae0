import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../foundation/errors.ts'
import { eventStream, openEnded } from '../../../http/sse.ts'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import { clientName } from '../call-origin.ts'
import { ofClient } from '../client-extensions.ts'
import { usedCapabilities } from '../elicitation.ts'
import { EventQueue } from '../event-queue.ts'
import { type Changed, InvalidParams, type Provider, type Wire } from '../provider.ts'
import { protocolError } from '../result.ts'
import { type ClientSession, type Introduction, LegacyExchange, SessionStore } from './client-sessions.ts'
import { isOpening, isRequest, readMessages } from './messages.ts'
import { openLegacyServer } from './server.ts'

/** Protocol versions of the `initialize` era. A header that names any other is rejected. */
export const LEGACY_VERSIONS = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

type Post = (
  request: FastifyRequest,
  reply: FastifyReply,
  session: AddressSession,
  calls: Calls,
) => Promise<FastifyReply>
type Serve = (request: FastifyRequest, reply: FastifyReply, session: AddressSession) => Promise<FastifyReply>
/**
 * HTTP transport of the legacy era: POST with and without a session, GET for the session stream, DELETE to
 * end a session.
 */
type Legacy = { post: Post; get: Serve; delete: Serve; close(): Promise<void>; endStreams(): void }

export async function openLegacy(provider: Provider, onInternal: (cause: unknown) => void): Promise<Legacy> {
  const server = await openLegacyServer(provider, onInternal)
  const sessions = new SessionStore()

  const stream = (reply: FastifyReply, queue: EventQueue) => {
    openEnded(reply)
    reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-cache, no-transform')
    return reply.send(eventStream(null, queue, onInternal))
  }

  const post: Post = async (request, reply, session, calls) => {
    const version = request.headers['mcp-protocol-version']
    if (version !== undefined && !LEGACY_VERSIONS.includes(String(version)))
      return refuse(reply, 400, -32000, VERSIONS)
    const accept = request.headers.accept ?? '*/*'
    if (!/application\/(json|\*)|\*\/\*/.test(accept))
      return refuse(reply, 406, -32000, 'The Accept header must allow application/json.')
    const read = readMessages(request.body)
    if (typeof read === 'string') return refuse(reply, 400, -32600, read)
    const { messages, isBatch } = read
    const opens = !isBatch && isOpening(messages[0])
    const client = opens ? null : clientOf(request, session, sessions)
    if (client === undefined) return refuse(reply, 404, -32001, GONE)

    const requests = messages.filter(isRequest).map(({ id }) => id)
    const acceptsStream = accept.includes('text/event-stream')
    const seen = ofClient(session, client?.capabilities)
    const exchange = new LegacyExchange(seen, request.headers, calls, client, acceptsStream, requests)
    reply.raw.on('close', () => {
      if (!reply.raw.writableFinished) server.abandon(exchange)
    })
    const ready = exchange.ready()
    for (const message of messages) server.take(message, exchange)
    await ready
    if (exchange.queue) return stream(reply, exchange.queue)
    const [first] = exchange.answers
    if (!first) return reply.code(202).send()
    // One SDK server serves all addresses, so it has no instructions of its own.
    if (opens && 'result' in first) first.result['instructions'] = await provider.instructions(session)
    if (opens && 'result' in first)
      reply.header('mcp-session-id', sessions.open(session, request.url, introductionIn(messages[0])).id)
    return reply.type('application/json').send(JSON.stringify(isBatch ? exchange.answers : first))
  }

  return {
    post,
    get: async (request, reply, session) => {
      const client = clientOf(request, session, sessions)
      if (client === null) return refuse(reply.header('allow', 'POST'), 405, -32000, NO_SESSION)
      if (client === undefined) return refuse(reply, 404, -32001, GONE)
      if (!/text\/(event-stream|\*)|\*\/\*/.test(request.headers.accept ?? '*/*'))
        return refuse(reply, 406, -32000, 'The Accept header must allow text/event-stream.')
      return stream(reply, await listen(provider, session, client, onInternal))
    },
    delete: async (request, reply, session) => {
      const client = clientOf(request, session, sessions)
      if (client === null) return refuse(reply.header('allow', 'POST'), 405, -32000, NO_SESSION)
      if (client === undefined) return refuse(reply, 404, -32001, GONE)
      sessions.end(client)
      return reply.code(204).send()
    },
    endStreams: () => {
      sessions.close()
      server.endQuestions()
    },
    close: () => server.close(),
  }
}

const VERSIONS = `MCP-Protocol-Version must be one of ${LEGACY_VERSIONS.join(', ')}, 2026-07-28.`
const NO_SESSION = 'This request needs a session. POST initialize to open one.'
const GONE = 'Unknown session. Send initialize again, without Mcp-Session-Id.'

/** Looks up the session of the `Mcp-Session-Id` header: null without the header, undefined if unknown. */
function clientOf(
  request: FastifyRequest,
  session: AddressSession,
  sessions: SessionStore,
): ClientSession | null | undefined {
  const id = request.headers['mcp-session-id']
  if (id === undefined) return null
  return sessions.find(String(id), session, request.url)
}

function introductionIn(message: JSONRPCMessage | undefined): Introduction {
  const { params } = message as unknown as { params: { capabilities: Wire; clientInfo: unknown } }
  return { capabilities: usedCapabilities(params.capabilities), name: clientName(params.clientInfo) }
}

const refuse = (reply: FastifyReply, status: number, code: number, message: string): FastifyReply =>
  reply.code(status).send(protocolError(code, message))

/**
 * Opens the GET stream of a session for server-initiated messages. A session has one stream; a new one
 * replaces the old one, whose connection is presumed lost.
 * @throws RATE_LIMITED
 */
async function listen(
  provider: Provider,
  session: AddressSession,
  client: ClientSession,
  onInternal: (cause: unknown) => void,
): Promise<EventQueue> {
  const queue = new EventQueue()
  const watch = await provider.watch?.(session, (changed) => queue.send(notificationOf(changed)))
  for (const uri of client.uris)
    try {
      await watch?.follow(uri)
      // Notify about changes that may have been missed while no stream was open.
      queue.send(notificationOf({ uri }))
    } catch (thrown) {
      // Drop subscriptions that the token may no longer read.
      if (!(thrown instanceof InvalidParams || thrown instanceof DomainError)) onInternal(thrown)
      client.uris.delete(uri)
    }
  client.stream?.queue.end()
  const stream = { queue, watch }
  client.stream = stream
  queue.onEnd = () => {
    watch?.close()
    client.usedAt = Date.now()
    if (client.stream === stream) client.stream = undefined
  }
  const over = () => {
    if (watch?.over.reason instanceof Error && watch.over.reason.name !== 'AbortError')
      onInternal(watch.over.reason)
    // The grants may have changed, so the client must list the tools again after it reconnects.
    queue.send(notificationOf({ list: 'tools' }))
    queue.end()
  }
  if (watch?.over.aborted) over()
  else watch?.over.addEventListener('abort', over, { once: true })
  return queue
}

const notificationOf = (changed: Changed): JSONRPCMessage =>
  'uri' in changed
    ? { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: changed.uri } }
    : { jsonrpc: '2.0', method: `notifications/${changed.list}/list_changed` }
