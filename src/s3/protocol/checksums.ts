/** Checksums that a request declares for its body: Content-MD5, and those of S3. */
import type { IncomingHttpHeaders } from 'node:http'
import { CHECKSUMS, type ChecksumName, type Running } from '../../foundation/checksums.ts'
import { S3Fault } from './fault.ts'

const PREFIX = 'x-amz-checksum-'
const isName = (name: string): name is ChecksumName => Object.hasOwn(CHECKSUMS, name)

/** The checksum that a header declares; undefined for one that is not known. */
function checksumOf(header: string): ChecksumName | undefined {
  if (header === 'content-md5') return 'md5'
  const name = header.slice(PREFIX.length)
  return header.startsWith(PREFIX) && name !== 'md5' && isName(name) ? name : undefined
}

/** Headers of that form that are no checksums. */
const ABOUT = ['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']

/** The checksums of one body. */
export class Checksums {
  readonly #declared = new Map<string, string>()
  readonly #running = new Map<string, Running>()

  /**
   * Reads what the headers declare, and which checksum a trailer will.
   * @throws S3Fault for an algorithm that is not known, or a malformed value
   */
  static async of(headers: IncomingHttpHeaders): Promise<Checksums> {
    const all = new Checksums()
    for (const [name, value] of Object.entries(headers)) {
      const isChecksum = name === 'content-md5' || (name.startsWith(PREFIX) && !ABOUT.includes(name))
      if (isChecksum) await all.#open(name, String(value))
    }
    const trailer = headers['x-amz-trailer']
    if (trailer !== undefined)
      for (const name of String(trailer).split(',')) await all.#open(name.trim().toLowerCase(), undefined)
    return all
  }

  async #open(name: string, value: string | undefined): Promise<void> {
    const checksum = requireChecksum(name)
    if (value !== undefined) this.#declare(name, value)
    this.#running.set(name, await CHECKSUMS[checksum].open())
  }

  #declare(name: string, value: string): void {
    requireValue(name, requireChecksum(name), value)
    this.#declared.set(name, value)
  }

  /** @throws S3Fault for a trailer that was not announced */
  trailers(trailers: ReadonlyMap<string, string>): void {
    for (const [name, value] of trailers) {
      if (!this.#running.has(name))
        throw new S3Fault('InvalidRequest', `The trailer "${name}" was not announced.`)
      this.#declare(name, value)
    }
  }

  update(bytes: Buffer): void {
    for (const each of this.#running.values()) each.update(bytes)
  }

  /**
   * Compares the checksums at the end.
   * @throws S3Fault if one differs, or is missing
   */
  async check(): Promise<void> {
    for (const [name, running] of this.#running) {
      const computed = Buffer.from(await running.digest()).toString('base64')
      const declared = this.#declared.get(name)
      if (declared === undefined) throw new S3Fault('InvalidRequest', `The trailer "${name}" is missing.`)
      if (declared !== computed)
        throw new S3Fault(
          'BadDigest',
          `"${name}" is not the checksum of the bytes that arrived: ${computed}.`,
        )
    }
  }

  /** The checksums of S3 that were checked, as headers of the response. */
  headers(): Record<string, string> {
    const checked = [...this.#declared].filter(([name]) => name !== 'content-md5')
    return Object.fromEntries(checked)
  }
}

/** @throws S3Fault for an algorithm that is not known */
function requireChecksum(header: string): ChecksumName {
  const name = checksumOf(header)
  if (name) return name
  throw new S3Fault('InvalidRequest', `"${header}" is not a checksum that this server supports.`)
}

/** @throws S3Fault for a value that is no such checksum */
function requireValue(header: string, name: ChecksumName, value: string): void {
  if (Buffer.from(value, 'base64').length !== CHECKSUMS[name].bytes)
    throw new S3Fault('InvalidDigest', `"${header}" must be a checksum in base64.`)
}

/** The number of parts, at the end of a checksum of their checksums. */
const OF_PARTS = /-\d{1,5}$/

/**
 * The checksum of the whole object that the completion of an upload declares; null for none. `ofParts`: it is one of
 * the checksums of the parts.
 * @throws S3Fault for more than one, or a malformed one
 */
export function readDeclaredChecksum(
  headers: IncomingHttpHeaders,
): { algorithm: ChecksumName; value: string; ofParts: boolean } | null {
  const declared = Object.entries(headers).filter(
    ([name]) => name.startsWith(PREFIX) && !ABOUT.includes(name),
  )
  if (declared.length > 1) throw new S3Fault('InvalidRequest', 'Send one checksum of the object.')
  const [header, sent] = declared[0] ?? []
  if (header === undefined) return null
  const algorithm = requireChecksum(header)
  const value = String(sent).replace(OF_PARTS, '')
  requireValue(header, algorithm, value)
  const type = headers['x-amz-checksum-type']
  const isWhole = type === undefined ? value === sent : String(type).toUpperCase() === 'FULL_OBJECT'
  return { algorithm, value, ofParts: !isWhole }
}

/** The headers without checksums of the object. */
export const withoutChecksums = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(PREFIX)))
