import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { AddressSession } from '../address-session.ts'
import { EventQueue } from '../event-queue.ts'
import { capabilitiesOf, InvalidParams, type Provider, type Watch } from '../provider.ts'

type Listen = { params?: { notifications?: { resourceSubscriptions?: unknown } } }
type Served = { provider: Provider; onInternal: (cause: unknown) => void }

/**
 * Serves `subscriptions/listen` through an SDK handler that is fed by this session's changes. Subscribes to
 * those of the requested resources that the token may read; the acknowledgement lists them. Returns the
 * stream, or the fault of the request.
 * @throws RATE_LIMITED
 */
export async function listen(
  request: FastifyRequest,
  session: AddressSession,
  signal: AbortSignal,
  { provider, onInternal }: Served,
): Promise<EventQueue | Response> {
  const handler = createMcpHandler(
    () => new Server(provider.about, { capabilities: capabilitiesOf(provider) }),
    { legacy: 'reject', keepAliveMs: 0 },
  )
  const { notify } = handler
  const watch = await provider.watch?.(session, (changed) => {
    if ('uri' in changed) notify.resourceUpdated(changed.uri)
    else if (changed.list === 'tools') notify.toolsChanged()
    else if (changed.list === 'prompts') notify.promptsChanged()
    else notify.resourcesChanged()
  })
  const over = () => {
    if (watch?.over.reason instanceof Error && watch.over.reason.name !== 'AbortError')
      onInternal(watch.over.reason)
    void handler.close()
  }
  watch?.over.addEventListener('abort', over, { once: true })
  const close = () => {
    watch?.close()
    void handler.close()
  }
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
  const parsedBody = await following(request.body, watch, onInternal)
  const answer = await handler.fetch(webRequest(request, signal), { parsedBody })
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.body || !type.startsWith('text/event-stream')) {
    watch?.close()
    return answer
  }
  const queue = new EventQueue()
  void queue.drain(answer.body).catch(onInternal)
  return queue
}

/** A web Request without a body: the body is parsed already, and the SDK gets it separately. */
function webRequest({ url, headers }: FastifyRequest, signal: AbortSignal): Request {
  const read = new Headers()
  for (const name of READ) {
    const value = headers[name]
    if (typeof value === 'string') read.set(name, value)
  }
  return { method: 'POST', url, headers: read, signal } as Request
}

const READ = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method']

/** Replaces the requested resources by those that are subscribed. */
async function following(body: unknown, watch: Watch | undefined, onInternal: (cause: unknown) => void) {
  const { params } = body as Listen
  const asked = params?.notifications?.resourceSubscriptions
  if (!watch || !Array.isArray(asked)) return body
  const followed: string[] = []
  for (const uri of new Set(asked.slice(0, LIMITS.mcpSubscriptions)))
    if (typeof uri === 'string' && (await mayFollow(watch, uri, onInternal))) followed.push(uri)
  const notifications = { ...params?.notifications, resourceSubscriptions: followed }
  return { ...(body as object), params: { ...params, notifications } }
}

const mayFollow = (watch: Watch, uri: string, onInternal: (cause: unknown) => void): Promise<boolean> =>
  watch.follow(uri).then(
    () => true,
    (thrown: unknown) => {
      if (!(thrown instanceof InvalidParams || thrown instanceof DomainError)) onInternal(thrown)
      return false
    },
  )
