/**
 * Admission control of large bodies. Reading, validating and writing a JSON body takes several times its size
 * in memory, so all large bodies in flight share a memory budget. If none is left, the request waits before
 * its body is read, and TCP backpressure stops the client.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { busy, type DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { memoryOfMachine } from '../foundation/machine-memory.ts'
import { hasStreamedBody } from './streamed-bodies.ts'

type Waiting = { readonly token: string; readonly bytes: number; readonly go: () => void }

/**
 * The memory budget: a share of the machine's memory, within limits. One body of maximum size always fits.
 */
export const roomFor = (bodyBytes: number, machine: number = memoryOfMachine()): number =>
  Math.max(bodyBytes, Math.min(LIMITS.largeBodiesBytes, Math.floor(machine / 64)))

/** Bytes of large bodies in flight. One token may use half of the budget, or one body. */
export class BodyRoom {
  #taken = 0
  readonly #ofToken = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  readonly #room: number

  constructor(room: number) {
    this.#room = room
  }

  /**
   * Calls `go` when there is room. The returned function releases the room, or cancels the wait; it is
   * idempotent.
   */
  take(token: string, bytes: number, go: () => void): () => void {
    const one = { token, bytes, go }
    let isOver = false
    this.#waiting.add(one)
    this.#admit()
    return () => {
      if (isOver) return
      isOver = true
      if (!this.#waiting.delete(one)) this.#add(token, -bytes)
      this.#admit()
    }
  }

  #admit(): void {
    for (const one of this.#waiting) {
      const own = this.#ofToken.get(one.token) ?? 0
      const isFair = own === 0 || own + one.bytes <= this.#room / 2
      if (!isFair || this.#taken + one.bytes > this.#room) continue
      this.#waiting.delete(one)
      this.#add(one.token, one.bytes)
      one.go()
    }
  }

  #add(token: string, bytes: number): void {
    this.#taken += bytes
    const own = (this.#ofToken.get(token) ?? 0) + bytes
    if (own > 0) this.#ofToken.set(token, own)
    else this.#ofToken.delete(token)
  }
}

/**
 * Applies the budget to the bodies of all routes.
 * @throws RATE_LIMITED after a timeout
 */
export function admitLargeBodies(app: FastifyInstance, bodyBytes: number): void {
  const ofTokens = new BodyRoom(roomFor(bodyBytes))
  // Whoever has no token must not take the room of those who have.
  const ofOthers = new BodyRoom(roomFor(bodyBytes, memoryOfMachine() / 4))
  app.addHook('preParsing', (request, reply, payload, done) => {
    request.response = reply.raw
    const bytes = announced(request.headers, request.routeOptions.bodyLimit ?? bodyBytes)
    if (bytes < LIMITS.largeBodyBytes || hasStreamedBody(request)) return done(null, payload)
    whenAdmitted(request.caller ? ofTokens : ofOthers, request, bytes, () => done(null, payload), done)
  })
}

/**
 * Calls `go` when there is room for the body, and releases it when the response is. After a timeout calls `refuse`
 * instead.
 */
export function whenAdmitted(
  room: BodyRoom,
  { caller, response, ip }: FastifyRequest,
  bytes: number,
  go: () => void,
  refuse: (error: DomainError) => void,
): void {
  const late = setTimeout(() => {
    release()
    refuse(
      busy(
        'Too many large request bodies at the same time.',
        'Send fewer large bodies at once, or smaller ones.',
      ),
    )
  }, LIMITS.largeBodyWaitMs)
  const release = room.take(caller?.scope.actor.tokenId ?? ip, bytes, () => {
    clearTimeout(late)
    go()
  })
  response?.once('close', () => {
    clearTimeout(late)
    release()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before a body is read: what is held for a body is held until its response ends. */
    response: ServerResponse | undefined
  }
}

/** Declared body size; for chunked bodies the limit of the route. */
function announced(headers: Record<string, unknown>, most: number): number {
  if (headers['transfer-encoding'] !== undefined) return most
  return Math.min(most, Number(headers['content-length'] ?? 0))
}
