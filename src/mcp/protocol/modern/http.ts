import {
  CLIENT_CAPABILITIES_META_KEY,
  type InboundLadderRejection,
  type InboundModernRoute,
} from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Cancellation } from '../../../foundation/cancellation.ts'
import { CLIENT_GONE } from '../../../http/request-log.ts'
import { eventStream, openEnded } from '../../../http/sse.ts'
import type { AddressSession } from '../address-session.ts'
import type { Calls } from '../call-log.ts'
import { noTasks, ofClient, takesTasks } from '../client-extensions.ts'
import { toProtocolFailure } from '../content.ts'
import { EventQueue } from '../event-queue.ts'
import { Exchange } from '../exchange.ts'
import type { Provider, Wire } from '../provider.ts'
import { type Fault, faultOf, statusOf } from './inbound.ts'
import { listen } from './listen.ts'
import { type Answer, openModernServer } from './server.ts'

type Route = InboundModernRoute | InboundLadderRejection

/** HTTP transport of the stateless era: each POST is self-contained. */
export type Modern = {
  post(
    request: FastifyRequest,
    reply: FastifyReply,
    session: AddressSession,
    calls: Calls,
    route: Route,
  ): Promise<FastifyReply>
  endStreams(): void
  /** Resolves when no call goes on any longer. */
  close(): Promise<void>
}

export function openModern(provider: Provider, onInternal: (cause: unknown) => void): Modern {
  const { serve, settled } = openModernServer(provider, onInternal)
  const listening = new Set<EventQueue>()

  const stream = (reply: FastifyReply, queue: EventQueue, gone: Cancellation) => {
    listening.add(queue)
    queue.onEnd = () => {
      listening.delete(queue)
      gone.cancel()
    }
    // The stream may have ended already.
    if (queue.isOver) queue.onEnd()
    openEnded(reply)
    reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-cache, no-transform')
    return reply.send(eventStream(null, queue, onInternal))
  }

  return {
    async post(request, reply, session, calls, route) {
      if (route.kind === 'reject') return refuse(reply, { ...route, status: route.httpStatus }, request.body)
      const fault = faultOf(request, route)
      if (fault) return refuse(reply, fault, request.body)
      if (route.messageKind === 'notification') return reply.code(202).send()
      const { message } = route
      const gone = new Cancellation()
      const { _meta: meta } = (message.params ?? {}) as { _meta?: Wire }
      const seen = ofClient(session, meta?.[CLIENT_CAPABILITIES_META_KEY])
      const exchange = new Exchange<object>(seen, request.headers, calls, true, [message.id])
      reply.raw.on('close', () => {
        if (reply.raw.writableFinished) return
        gone.cancel()
        exchange.finish(message.id)
      })
      if (message.method === 'subscriptions/listen') {
        // Who asks to hear of tasks must take them.
        if (asksForTasks(message.params) && !takesTasks(meta?.[CLIENT_CAPABILITIES_META_KEY])) {
          const failure = toProtocolFailure(noTasks(), request.id, onInternal)
          return refuse(reply, { status: statusOf(failure.code), ...failure }, request.body)
        }
        const heard = await listen(request, session, gone.signal, { provider, onInternal })
        if (heard instanceof EventQueue) {
          calls.answered(message.id, {})
          return stream(reply, heard, gone)
        }
        return reply
          .code(heard.status)
          .type('application/json')
          .send(await heard.text())
      }
      const ready = exchange.ready()
      void serve(message, exchange, gone).then((answer) => exchange.answer(message.id, answer))
      await ready
      if (exchange.queue) return stream(reply, exchange.queue, gone)
      const [answer] = exchange.answers as Answer[]
      // The client has disconnected.
      if (!answer) return reply.code(CLIENT_GONE).send()
      reply.code('error' in answer ? statusOf(answer.error.code) : 200)
      return reply.type('application/json').send(JSON.stringify(answer))
    },
    endStreams: () => {
      for (const queue of listening) queue.end()
    },
    close: settled,
  }
}

const asksForTasks = (params: unknown): boolean =>
  (params as { notifications?: { taskIds?: unknown } | null } | undefined)?.notifications?.taskIds !==
  undefined

/** Sends a refusal with the id of the request, if the body has one. */
function refuse(reply: FastifyReply, { status, code, message, data }: Fault, body: unknown): FastifyReply {
  const { method, id } = body as { method?: unknown; id?: unknown }
  const isOfRequest = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number')
  const error = { code, message, ...(data !== undefined && { data }) }
  return reply.code(status).send({ jsonrpc: '2.0', error, id: isOfRequest ? id : null })
}
