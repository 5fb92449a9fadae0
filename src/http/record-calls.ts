import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../foundation/errors.ts'
import { type Context, recordCall, type Surface } from '../graphql/context.ts'
import { CLIENT_GONE } from './request-log.ts'

/** A call that a surface found in a request. Undefined: as the request has it. */
export type FoundCall = {
  readonly tool: string | null
  readonly route: string | null
  readonly id: string | null
  readonly outcome: string
  readonly message: string | null
  readonly ms?: number | undefined
  readonly arguments: unknown
  /** The base that the arguments name. */
  readonly base: string | null
  /** Its end, if it goes on after the answer. */
  readonly later?: Promise<CallEnd> | undefined
}

/** How a call ended that goes on after its answer. */
export type CallEnd = Pick<FoundCall, 'outcome' | 'message'> & { readonly ms: number }

/** A call that the request ended before: the reason is that of the request. */
export const REFUSED = 'refused'

/** Records the calls of a request that is over: those that its surface found, else itself. Requests without a token leave none. */
export function recordCalls(request: FastifyRequest, reply: FastifyReply, status: number): void {
  const { failure, id: requestId, routeOptions } = request
  const caller: Context | undefined = request.caller
  if (caller === undefined) return
  const { actor, via, access } = caller.scope
  const surface = surfaceOf(routeOptions.url)
  const address = addressOf(request, surface)
  const found = [...(request.calls?.(status) ?? [])]
  const { toolCalls } = request.server
  const count = ({ outcome }: Pick<FoundCall, 'outcome'>) =>
    toolCalls.set(outcome, (toolCalls.get(outcome) ?? 0) + 1)
  for (const { tool, outcome, later } of found)
    if (later) void later.then(count)
    else if (tool !== null) count({ outcome })
  const whole = {
    tool: null,
    route: `${request.method} ${routeOptions.url ?? ''}`,
    id: null,
    outcome: failure?.code ?? outcomeOf(status),
    message: failure?.message ?? null,
    arguments: undefined,
    base: null,
  }
  // A stream lasts as long as its reader wants.
  const ms = reply.hasHeader('x-accel-buffering') ? 0 : reply.elapsedTime
  const calls: readonly FoundCall[] =
    request.calls === undefined || (found.length === 0 && status >= 400) ? [whole] : found
  const [bytesIn, bytesOut] = [receivedOf(request) / calls.length, sentOf(request, reply) / calls.length]
  for (const { base, id, later, ...call } of calls) {
    const baseId = address.base ?? base
    // Who has nothing to do with a base leaves no trace in it.
    if (baseId === null || !access.knows(baseId)) continue
    const isRefused = call.outcome === REFUSED && failure !== undefined
    const made = {
      ...call,
      ...(isRefused && { outcome: failure.code, message: failure.message }),
      baseId,
      actor,
      via,
      surface,
      endpoint: address.endpoint,
      requestId,
      callId: id,
      ms: call.ms ?? ms,
      bytesIn: Math.round(bytesIn),
      bytesOut: Math.round(bytesOut),
    }
    const record = (end?: CallEnd) => recordCall(caller, { ...made, ...end }, calls.length)
    if (later) void later.then(record)
    else record()
  }
}

const outcomeOf = (status: number): string =>
  status === CLIENT_GONE ? 'cancelled' : status >= 400 ? REFUSED : 'ok'

function surfaceOf(url = ''): Surface {
  if (url.startsWith('/v1/')) return 'rest'
  if (url.startsWith('/mcp')) return 'mcp'
  return url.startsWith('/graphql') ? 'graphql' : 's3'
}

type Params = { base_id?: string; id?: string; endpoint_id?: string; base?: string; endpoint?: string }

/** The base and the endpoint of the address. */
function addressOf(
  request: FastifyRequest,
  surface: Surface,
): { base: string | null; endpoint: string | null } {
  const { base_id, id, endpoint_id, base, endpoint } = (request.params ?? {}) as Params
  switch (surface) {
    case 'rest':
      return {
        base: base_id ?? (request.routeOptions.url?.startsWith(BASE) ? id : null) ?? null,
        endpoint: null,
      }
    case 'mcp':
      return { base: base_id ?? null, endpoint: endpoint_id ?? null }
    default:
      return { base: base ?? request.calledBase?.() ?? null, endpoint: endpoint ?? null }
  }
}
const BASE = '/v1/bases/:id'

/** Bytes of the body. Those of one without a length are counted on its connection. */
const receivedOf = ({ headers, readBefore, raw }: FastifyRequest): number =>
  headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : raw.socket.bytesRead - readBefore

/** Bytes of the answer. Those of one without a length are counted on its connection. */
function sentOf({ method, sentBefore, raw }: FastifyRequest, reply: FastifyReply): number {
  const length = reply.getHeader('content-length')
  if (length !== undefined) return method === 'HEAD' ? 0 : Number(length)
  return Math.max(0, raw.socket.bytesWritten - sentBefore)
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Calls of MCP tools so far, by outcome. */
    toolCalls: Map<string, number>
  }
  interface FastifyRequest {
    /** Returns the calls that the surface found in the request; undefined if the request is the call. */
    calls: ((status: number) => Iterable<FoundCall>) | undefined
    /** The base of the request, if its path does not name it. */
    calledBase: (() => string | undefined) | undefined
    /** Why it was refused. */
    failure: DomainError | undefined
    /** Bytes that its connection had sent and read before it. */
    sentBefore: number
    readBefore: number
  }
}
