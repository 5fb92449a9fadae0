import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'

type UnsentResponse = { readonly tokenId: string; bytes: number }

/**
 * Backpressure for responses: counts the bytes that are read for a response or wait for the client, by token
 * and in total. A response counts from its first megabyte of rows until it is sent or its connection closes.
 */
export class Unsent {
  readonly #ofToken = new Map<string, number>()
  readonly #unsent = new WeakMap<ServerResponse, UnsentResponse>()
  readonly #most: { readonly ofToken: number; readonly inAll: number }
  #inAll = 0

  constructor(most: { ofToken: number; inAll: number }) {
    this.#most = most
  }

  /**
   * Admits a request.
   * @throws RATE_LIMITED if the token has reached its limit of unsent bytes
   */
  admit(tokenId: string): void {
    if (this.#inAll > 0 && (this.#ofToken.get(tokenId) ?? 0) >= this.#most.ofToken) throw unread()
  }

  /**
   * Counts bytes read for a response.
   * @throws RATE_LIMITED above the limit of the token or of the process
   */
  read(tokenId: string, { raw }: FastifyReply, bytes: number): void {
    // What a call reads that goes on after its response waits for no client.
    if (raw.closed) return
    const { ofToken, inAll } = this.#most
    if ((this.#ofToken.get(tokenId) ?? 0) + bytes > ofToken) throw unread()
    if (this.#inAll + bytes > inAll) throw full()
    this.#add(this.#open(raw, tokenId), bytes)
  }

  /**
   * Counts the serialized response, unless nobody waits for it, and replaces the bytes read for it. One always fits.
   * @throws RATE_LIMITED above a limit, for a response that `canRefuse`
   */
  sends(tokenId: string, { raw }: FastifyReply, bytes: number, canRefuse: boolean): void {
    const known = this.#unsent.get(raw)
    if (raw.closed || (!known && bytes < LIMITS.countedAnswerBytes)) return
    const more = bytes - (known?.bytes ?? 0)
    const own = this.#ofToken.get(tokenId) ?? 0
    const { ofToken, inAll } = this.#most
    if (canRefuse && more > 0) {
      if (own > (known?.bytes ?? 0) && own + more > ofToken) throw unread()
      if (this.#inAll > (known?.bytes ?? 0) && this.#inAll + more > inAll) throw full()
    }
    this.#add(known ?? this.#open(raw, tokenId), more)
  }

  #open(raw: ServerResponse, tokenId: string): UnsentResponse {
    const known = this.#unsent.get(raw)
    if (known) return known
    const unsent = { tokenId, bytes: 0 }
    this.#unsent.set(raw, unsent)
    raw.once('close', () => {
      this.#unsent.delete(raw)
      this.#add(unsent, -unsent.bytes)
    })
    return unsent
  }

  #add(unsent: UnsentResponse, bytes: number): void {
    unsent.bytes += bytes
    this.#inAll += bytes
    const ofToken = (this.#ofToken.get(unsent.tokenId) ?? 0) + bytes
    if (ofToken > 0) this.#ofToken.set(unsent.tokenId, ofToken)
    else this.#ofToken.delete(unsent.tokenId)
  }
}

/** Counts every response to a token when it is sent. In place of one that has no room, a read is refused. */
export function countAnswers(app: FastifyInstance, unsent: Unsent): void {
  app.addHook('onSend', (request: FastifyRequest, reply, payload, done) => {
    const bytes = sizeOf(payload)
    if (bytes === undefined || !request.caller) return done()
    const { actor, writes } = request.caller.scope
    try {
      unsent.sends(actor.tokenId ?? '', reply, bytes, writes.begun === 0)
    } catch (thrown) {
      reply.removeHeader('etag')
      return done(thrown as DomainError)
    }
    done()
  })
}

/** Size of a buffered payload. Streams apply their own backpressure. */
function sizeOf(payload: unknown): number | undefined {
  if (typeof payload === 'string')
    return payload.length < LIMITS.countedAnswerBytes / 4 ? payload.length : Buffer.byteLength(payload)
  return Buffer.isBuffer(payload) ? payload.length : undefined
}

const unread = () =>
  new DomainError('RATE_LIMITED', 'Earlier responses to this token have not been read.', {
    retryAfterSeconds: 1,
    details: [
      {
        path: '',
        code: 'unread_answers',
        message:
          'Read the open responses, or close their connections. Send fewer requests at once, or request smaller pages.',
      },
    ],
  })

const full = () =>
  new DomainError('RATE_LIMITED', 'The server has reached its memory limit for responses in progress.', {
    retryAfterSeconds: 1,
    details: [
      {
        path: '',
        code: 'unsent_answers',
        message: 'Wait for Retry-After, or request a smaller page.',
      },
    ],
  })
