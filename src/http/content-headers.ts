/** Headers of a content that a body carries. */
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../foundation/errors.ts'
import { refuseEncoding } from './body.ts'

/**
 * The SHA-256 that the content must have, in hex; undefined if none is declared.
 * @throws VALIDATION_ERROR for a compressed content, a part of one, and another digest
 */
export function readContentHeaders(headers: IncomingHttpHeaders): string | undefined {
  refuseEncoding(headers)
  refusePart(headers)
  return readDigest(headers['content-digest'])
}

/** RFC 9110 §14.5: a server must refuse a part that it cannot apply. */
function refusePart(headers: IncomingHttpHeaders): void {
  if (headers['content-range'] === undefined) return
  throw invalid({
    path: 'header/Content-Range',
    code: 'unsupported',
    message: 'A PUT sends the whole file. Leave Content-Range out.',
  })
}

const DIGEST = /(?:^|,)\s*sha-256\s*=\s*:([A-Za-z0-9+/]{43}=):/

/** The SHA-256 of `Content-Digest`, in hex. Source: RFC 9530. */
function readDigest(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const [, base64] = DIGEST.exec(String(header)) ?? []
  if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex')
  throw invalid({
    path: 'header/Content-Digest',
    code: 'malformed',
    message: 'Content-Digest must have a sha-256 digest: sha-256=:<base64>:.',
    allowed: ['sha-256'],
  })
}

/** Whether `If-None-Match` matches the ETag, by weak comparison. Source: RFC 9110 §13.1.2. */
export const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
