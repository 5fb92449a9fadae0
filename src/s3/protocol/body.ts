/** The body of a request: decoded, and checked against all that the request says about it. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { incomplete } from './byte-reader.ts'
import { Checksums } from './checksums.ts'
import { decodeChunks, joined } from './chunked-body.ts'
import { S3Fault } from './fault.ts'
import type { Claim, Proof } from './signature.ts'

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
  const way = Object.hasOwn(WAYS, payload) ? WAYS[payload] : undefined
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
