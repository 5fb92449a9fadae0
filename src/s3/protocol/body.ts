/** The body of a request: decoded, and checked against all that the request says about it. */

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { own } from '../../foundation/own.ts'
import { ByteReader, incomplete, malformed } from './byte-reader.ts'
import { Checksums } from './checksums.ts'
import { S3Fault } from './fault.ts'
import { type Claim, hmac, isEqual, type Proof } from './signature.ts'

export type Body = {
  /** Ends only if everything held. */
  readonly bytes: AsyncIterable<Buffer>
  /** The same as a stream. */
  stream(): Readable
  /** The declared length. */
  readonly size: number
  readonly checksums: Checksums
}

/** Ways to send a body, by their names in the signature. Any other one is the digest of the body. */
const WAYS: Readonly<Record<string, { chunked: boolean; signed: boolean; trailers: boolean }>> = {
  'UNSIGNED-PAYLOAD': { chunked: false, signed: false, trailers: false },
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER': { chunked: true, signed: false, trailers: true },
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD': { chunked: true, signed: true, trailers: false },
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER': { chunked: true, signed: true, trailers: true },
}
const DIGEST = /^[0-9a-f]{64}$/

/** @throws S3Fault */
export async function openBody(
  raw: IncomingMessage,
  headers: IncomingHttpHeaders,
  { payload }: Claim,
  proof: Proof,
): Promise<Body> {
  const way = own(WAYS, payload)
  const digest = DIGEST.test(payload) ? payload : undefined
  if (!way && digest === undefined)
    throw new S3Fault('NotImplemented', `This server does not support the payload "${payload.slice(0, 64)}".`)
  const isChunked = way?.chunked === true
  const size = readLength(
    headers[isChunked ? 'x-amz-decoded-content-length' : 'content-length'],
    hasBody(raw.headers),
  )
  const checksums = await Checksums.of(headers)
  const source: AsyncIterable<Buffer> = raw.iterator({ destroyOnReturn: false })
  const decoded = isChunked
    ? joined(
        decodeChunks(source, {
          proof: way.signed ? proof : undefined,
          hasTrailers: way.trailers,
          onTrailers: (trailers) => checksums.trailers(trailers),
        }),
      )
    : source
  const bytes = checked(decoded, size, digest, checksums)
  return { bytes, stream: () => Readable.from(bytes, { objectMode: false }), size, checksums }
}

/** Whether the message has a body. How much of it has arrived says nothing of its length. */
const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** @throws S3Fault for a body without a length */
function readLength(header: string | string[] | undefined, isSent: boolean): number {
  if (header === undefined && !isSent) return 0
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header)
  throw new S3Fault('MissingContentLength', 'Send the length of the body.')
}

async function* checked(
  source: AsyncIterable<Buffer>,
  size: number,
  digest: string | undefined,
  checksums: Checksums,
): AsyncGenerator<Buffer> {
  const hash = digest === undefined ? undefined : createHash('sha256')
  let left = size
  for await (const chunk of source) {
    left -= chunk.length
    if (left < 0) throw new S3Fault('InvalidRequest', 'The body has more bytes than the request declares.')
    hash?.update(chunk)
    checksums.update(chunk)
    yield chunk
  }
  if (left > 0) throw incomplete()
  if (hash && hash.digest('hex') !== digest)
    throw new S3Fault('XAmzContentSHA256Mismatch', 'The body has another digest than X-Amz-Content-SHA256.')
  await checksums.check()
}

// The encoding aws-chunked: chunks with signatures or without, and trailers after them.

const SIGNATURE = 'x-amz-trailer-signature'
const EMPTY_SHA256 = createHash('sha256').digest('hex')

type Chunked = {
  /** Signs each chunk, and the trailers; undefined for an unsigned body. */
  proof: Proof | undefined
  hasTrailers: boolean
  /** Called with the trailers other than their signature, before the end. */
  onTrailers: (trailers: ReadonlyMap<string, string>) => void
}

/**
 * Decodes a body. Bytes are passed on before the signature of their chunk is checked, so they must not be used
 * before the end.
 * @throws S3Fault
 */
async function* decodeChunks(
  source: AsyncIterable<Buffer>,
  { proof, hasTrailers, onTrailers }: Chunked,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source)
  let previous = proof?.signature ?? ''
  for (let isLast = false; !isLast; ) {
    const { size, signature } = readHead(await reader.line(LIMITS.s3LineBytes))
    const hash = proof && createHash('sha256')
    for await (const part of reader.bytes(size)) {
      hash?.update(part)
      yield part
    }
    isLast = size === 0
    if (proof && hash) {
      const digest = hash.digest('hex')
      requireSigned(proof, 'PAYLOAD', [previous, EMPTY_SHA256, digest], signature)
      previous = signature
    }
    if (!isLast && (await reader.line(LIMITS.s3LineBytes)) !== '')
      throw malformed('a chunk is longer than its size')
  }
  const lines = await readTrailers(reader)
  await reader.end()
  if (lines.length > 0 && !hasTrailers) throw malformed('it has trailers that were not announced')
  const all = lines.map(trailerOf)
  const trailers = all.filter(([name]) => name !== SIGNATURE)
  if (proof && hasTrailers) {
    const signed = trailers.map(([name, value]) => `${name}:${value}\n`).join('')
    const digest = createHash('sha256').update(signed).digest('hex')
    const signature = all.find(([name]) => name === SIGNATURE)?.[1] ?? ''
    requireSigned(proof, 'TRAILER', [previous, digest], signature)
  }
  onTrailers(new Map(trailers))
}

/** Joins small parts: each one that is passed on costs the whole way to the store. */
async function* joined(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const part of parts) {
    if (turnIsOver()) await nextTurn()
    held.push(part)
    bytes += part.length
    if (bytes < LIMITS.s3JoinedBytes) continue
    yield held.length === 1 ? part : Buffer.concat(held)
    held = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(held)
}

const HEAD = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/

function readHead(line: string): { size: number; signature: string } {
  const [, size, signature = ''] = HEAD.exec(line) ?? []
  if (size === undefined) throw malformed('a chunk begins with its size in hex, and its signature')
  return { size: Number.parseInt(size, 16), signature }
}

async function readTrailers(reader: ByteReader): Promise<string[]> {
  const lines: string[] = []
  for (;;) {
    const line = await reader.line(LIMITS.s3LineBytes)
    if (line === '') return lines
    if (lines.push(line) > LIMITS.s3Trailers)
      throw malformed(`it has more than ${LIMITS.s3Trailers} trailers`)
  }
}

function trailerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon <= 0) throw malformed('a trailer is a name, a colon and a value')
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
}

function requireSigned(
  { key, longDate, scope }: Proof,
  what: 'PAYLOAD' | 'TRAILER',
  parts: readonly string[],
  signature: string,
): void {
  const text = [`AWS4-HMAC-SHA256-${what}`, longDate, scope, ...parts].join('\n')
  if (!isEqual(hmac(key, text), signature))
    throw new S3Fault('SignatureDoesNotMatch', 'The signature of a part of the body does not match.')
}
