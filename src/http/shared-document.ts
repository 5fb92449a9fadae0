import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import negotiator from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)
const ENCODINGS = ['br', 'gzip', 'identity']
/** Enough for small responses. Higher levels take seconds for megabytes of script. */
const BROTLI_QUALITY = 5

/** `brotli` is the body as compressed before. */
type Made = { type: string; body: string | Uint8Array; brotli?: Buffer }
type Document = { type: string; body: Buffer; etag: string; encoded: Map<string, Promise<Buffer>> }

/**
 * A static document, shared by all clients: created at the first request, compressed once per encoding in the
 * thread pool, and sent from the same buffer.
 */
export class SharedDocument {
  readonly #make: () => Made | Promise<Made>
  readonly #cacheControl: string
  #document: Promise<Document> | undefined

  /** Without a version in the URL, clients revalidate by ETag on each request. */
  constructor(make: () => Made | Promise<Made>, cacheControl = 'no-cache') {
    this.#make = make
    this.#cacheControl = cacheControl
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#document ??= this.#open()
    const document = await this.#document
    addVary(reply, 'Accept-Encoding')
    reply.header('etag', document.etag).header('cache-control', this.#cacheControl)
    if (isFresh(request.headers['if-none-match'], document.etag)) return reply.code(304).send()
    const encoding = negotiator.negotiate(request.headers['accept-encoding'] ?? 'identity', ENCODINGS)
    reply.type(document.type)
    if (encoding !== 'br' && encoding !== 'gzip') return sendSlices(reply, document.body)
    return sendSlices(reply.header('content-encoding', encoding), await encoded(document, encoding))
  }

  async #open(): Promise<Document> {
    const { type, body: made, brotli } = await this.#make()
    const body = typeof made === 'string' ? Buffer.from(made) : view(made)
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22)
    // A weak ETag, because all encodings share it.
    return { type, body, etag: `W/"${hash}"`, encoded: new Map(brotli && [['br', Promise.resolve(brotli)]]) }
  }
}

const view = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/**
 * Sends a buffer in slices, in turns: one write of megabytes would block the event loop while the kernel copies it, and so
 * would slices to a hundred clients, as each write that the kernel takes at once asks for the next slice.
 */
export function sendSlices(reply: FastifyReply, bytes: Buffer): FastifyReply {
  if (bytes.length <= LIMITS.documentSliceBytes) return reply.send(bytes)
  let sent = 0
  const slices = new Readable({
    async read() {
      if (turnIsOver()) await nextTurn()
      this.push(sent < bytes.length ? bytes.subarray(sent, sent + LIMITS.documentSliceBytes) : null)
      sent += LIMITS.documentSliceBytes
    },
  })
  return reply.header('content-length', bytes.length).send(slices)
}

function encoded(document: Document, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const bytes = document.encoded.get(encoding) ?? compress(document.body, encoding)
  document.encoded.set(encoding, bytes)
  return bytes
}

function compress(body: Buffer, encoding: 'br' | 'gzip'): Promise<Buffer> {
  if (encoding === 'gzip') return toGzip(body)
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return toBrotli(body, {
    params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: body.length },
  })
}

const isFresh = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*') ?? false

/** Adds a header name to `Vary`. */
export function addVary(reply: FastifyReply, field: string): void {
  const known = reply.getHeader('vary')
  if (known === undefined) reply.header('vary', field)
  else if (!String(known).toLowerCase().split(', ').includes(field.toLowerCase()))
    reply.header('vary', `${known}, ${field}`)
}
