/** The encoding aws-chunked: chunks with signatures or without, and trailers after them. */
import { createHash } from 'node:crypto'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { ByteReader, malformed } from './byte-reader.ts'
import { S3Fault } from './fault.ts'
import { hmac, isEqual, type Proof } from './signature.ts'

const SIGNATURE = 'x-amz-trailer-signature'
const LINE_BYTES = 1024
const TRAILERS = 8
const JOINED_BYTES = 16 * 1024
const EMPTY_SHA256 = createHash('sha256').digest('hex')

export type Chunked = {
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
export async function* decodeChunks(
  source: AsyncIterable<Buffer>,
  { proof, hasTrailers, onTrailers }: Chunked,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source)
  let previous = proof?.signature ?? ''
  for (let isLast = false; !isLast; ) {
    const { size, signature } = readHead(await reader.line(LINE_BYTES))
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
    if (!isLast && (await reader.line(LINE_BYTES)) !== '') throw malformed('a chunk is longer than its size')
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
export async function* joined(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const part of parts) {
    if (turnIsOver()) await nextTurn()
    held.push(part)
    bytes += part.length
    if (bytes < JOINED_BYTES) continue
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
    const line = await reader.line(LINE_BYTES)
    if (line === '') return lines
    if (lines.push(line) > TRAILERS) throw malformed(`it has more than ${TRAILERS} trailers`)
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
