import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { invalid } from '../../foundation/errors.ts'
import type { Need } from '../../graphql/context.ts'
import type { TadaDocumentNode } from '../../graphql/document.ts'
import { compile, compileSubscription } from '../../graphql/execute.ts'
import { eventStream, openEnded, type ServerEvent, serverEvent } from '../../http/sse.ts'
import { spellings } from './aliases.ts'
import { queryShape } from './query.ts'
import { atRequest } from './reply.ts'
import { type Parts, readParts } from './request-parts.ts'
import type { Loose, Route, Row } from './route.ts'

type Filters = z.ZodObject<{ after: z.ZodType<number | undefined> }>
type Item = { seq: number }
/** Cache of serialized events by number, shared by all streams. */
type Written = LRUCache<number, ServerEvent>
type StreamSpec<P extends z.ZodType, Q extends z.ZodObject, Result, Variables, End, Base> = {
  summary: string
  params: P
  query: Q
  need: (params: Record<string, string>) => Need
  /** Finds the current end of the stream, which is the start if the request names none. */
  end: {
    operation: TadaDocumentNode<End, Base>
    variables: (params: z.output<P>) => Base
    of: (data: End) => number
  }
  operation: TadaDocumentNode<Result, Variables>
  variables: (request: Parts<z.output<P>, z.output<Q>, undefined>, after: number) => Loose<Variables>
  /** Event name. */
  event: string
  /** Payload of an event. It does not depend on the reader, so streams share its bytes by `seq`. */
  item: (data: Result) => Item
  answers: z.ZodType
}

/** Defines a streaming route: a GraphQL subscription whose results are Server-Sent Events. */
export function streamRoute<P extends z.ZodType, Q extends Filters, Result, Variables, End, Base>(
  id: `GET /${string}`,
  spec: StreamSpec<P, Q, Result, Variables, End, Base>,
): Row {
  const path = id.slice('GET '.length)
  const findEnd = compile(spec.end.operation)
  const subscribe = compileSubscription(spec.operation)
  const query = queryShape(spec.query, false)
  const handle = async (request: FastifyRequest, reply: FastifyReply, written: Written) => {
    const toEvent = (data: Result): ServerEvent => {
      const item = spec.item(data)
      const event = written.get(item.seq) ?? serverEvent(spec.event, item.seq, item)
      written.set(item.seq, event)
      return event
    }
    const parts = readParts({ params: spec.params, query: spec.query }, query, request, false)
    const open = async () => {
      const given = readLastEventId(request) ?? (parts.query as { after?: number }).after
      const after = given ?? spec.end.of(await findEnd(spec.end.variables(parts.params), request.caller))
      const variables = spec.variables({ ...parts, body: undefined }, after) as Variables
      return { after, results: await subscribe(variables, request.caller) }
    }
    const { after, results } = await open().catch((thrown: unknown) => {
      throw atRequest(thrown, request, spec, false)
    })
    reply.type('text/event-stream; charset=utf-8')
    if (request.method === 'HEAD') return reply.send(void (await results.return?.()))
    openEnded(reply)
    const log = (err: unknown) => request.log.error({ err }, 'a stream failed')
    return reply.send(eventStream(after, mapped(results, toEvent), log))
  }
  const mount: Route['mount'] = (app) => {
    const written: Written = new LRUCache({ max: 100 })
    for (const url of spellings(path))
      app.route({
        method: 'GET',
        url,
        handler: (request, reply) => handle(request, reply, written),
        config: { need: spec.need, onlyAsks: true },
      })
  }
  return { id, method: 'GET', path, writes: false, spec, streams: true, mount }
}

const mapped = <T, U>(items: AsyncIterator<T>, map: (item: T) => U): AsyncIterator<U> => ({
  next: async () => {
    const { done, value } = await items.next()
    return done ? { done, value: undefined } : { done: false, value: map(value) }
  },
  return: async () => {
    await items.return?.()
    return { done: true, value: undefined }
  },
})

/**
 * Reads the Last-Event-ID header.
 * @throws VALIDATION_ERROR
 */
function readLastEventId(request: FastifyRequest): number | undefined {
  const sent = request.headers['last-event-id']
  // Browsers send an empty id before the first event.
  if (sent === undefined || sent === '') return undefined
  if (typeof sent === 'string' && /^\d{1,15}$/.test(sent)) return Number(sent)
  throw invalid({
    path: 'header/Last-Event-ID',
    code: 'invalid_event_id',
    message: 'Last-Event-ID must be the id of an event of this stream. Leave it out to start from now.',
    received: String(sent).slice(0, 64),
  })
}
