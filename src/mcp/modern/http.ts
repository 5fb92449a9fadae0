import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { eventStream, openEnded } from '../../http/sse.ts'
import { Outbox } from '../outbox.ts'
import type { Provider } from '../provider.ts'
import type { Session } from '../session.ts'
import { openListener } from './listen.ts'
import { serverOf } from './server.ts'

/** The era over HTTP: each POST carries all it needs. */
export type Modern = {
  post(request: FastifyRequest, reply: FastifyReply, session: Session): Promise<FastifyReply>
  endStreams(): void
  close(): Promise<void>
}

export function openModern(provider: Provider, onInternal: (cause: unknown) => void): Modern {
  const handler = createMcpHandler(
    ({ authInfo }) => serverOf(provider, authInfo?.extra?.['session'] as Session, onInternal),
    { legacy: 'reject', keepAliveMs: 0 },
  )
  const listening = new Set<Outbox>()
  return {
    async post(request, reply, session) {
      const gone = new AbortController()
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) gone.abort()
      })
      const isListen = methodOf(request) === 'subscriptions/listen'
      const listener = isListen ? await openListener(provider, session, request.body, onInternal) : undefined
      const answer = await (listener ?? handler).fetch(webRequest(request, gone.signal), {
        parsedBody: listener?.body ?? request.body,
        authInfo: { token: '', clientId: '', scopes: [], extra: { session } },
      })
      reply.code(answer.status)
      const type = answer.headers.get('content-type') ?? ''
      if (!answer.body || !type.startsWith('text/event-stream')) {
        listener?.close()
        for (const [name, value] of answer.headers) reply.header(name, value)
        return reply.send(await answer.text())
      }
      const outbox = new Outbox()
      listening.add(outbox)
      outbox.onEnd = () => {
        listening.delete(outbox)
        listener?.close()
        gone.abort()
      }
      void outbox.drain(answer.body).catch(onInternal)
      openEnded(reply)
      reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-cache, no-transform')
      return reply.send(eventStream(null, outbox, onInternal))
    },
    endStreams: () => {
      for (const outbox of listening) outbox.end()
    },
    close: () => handler.close(),
  }
}

const methodOf = ({ body }: FastifyRequest): unknown =>
  typeof body === 'object' && body !== null ? (body as { method?: unknown }).method : undefined

/**
 * The request as the web-standard handler reads it: its body is parsed already, and a whole Request would cost more than
 * the protocol does.
 */
export function webRequest({ url, headers }: FastifyRequest, signal?: AbortSignal): Request {
  const read = new Headers()
  for (const name of READ) {
    const value = headers[name]
    if (typeof value === 'string') read.set(name, value)
  }
  return { method: 'POST', url, headers: read, signal } as Request
}

const READ = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
