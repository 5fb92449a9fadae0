/** Conditions of requests, on the ETag and on the time of a file. */
import { matches } from '../../http/content-headers.ts'
import { S3Fault } from '../protocol/fault.ts'
import type { Call } from './operation.ts'

/** The ETag of a content: its quoted SHA-256. */
export const etagOf = (sha256: string): string => `"${sha256}"`
/** The digest in an ETag; empty for an ETag of something else, which matches nothing. */
export const digestIn = (etag: string): string => /^"?([0-9a-f]{64})"?$/.exec(etag.trim())?.[1] ?? ''

/**
 * The preconditions of a write.
 * @throws S3Fault for one that S3 does not have
 */
export function writeConditions({ header }: Call) {
  const [match, noneMatch] = [header('if-match'), header('if-none-match')]
  if (noneMatch !== undefined && noneMatch.trim() !== '*')
    throw new S3Fault('NotImplemented', 'If-None-Match must be * for a write.')
  return { ...readMatch(match), mustBeAbsent: noneMatch !== undefined }
}

/** The condition that ETags, or `*`, put on a file. */
export function readMatch(tags: string | undefined): { expectedHashes: string[] | null; mustExist: boolean } {
  const isAny = tags?.trim() === '*'
  return {
    expectedHashes: tags === undefined || isAny ? null : tags.split(',').map(digestIn),
    mustExist: isAny,
  }
}

type Names = { match: string; noneMatch: string; modified: string; unmodified: string }
export const OF_READ: Names = {
  match: 'if-match',
  noneMatch: 'if-none-match',
  modified: 'if-modified-since',
  unmodified: 'if-unmodified-since',
}
export const OF_SOURCE: Names = {
  match: 'x-amz-copy-source-if-match',
  noneMatch: 'x-amz-copy-source-if-none-match',
  modified: 'x-amz-copy-source-if-modified-since',
  unmodified: 'x-amz-copy-source-if-unmodified-since',
}

/**
 * Evaluates conditions in the order of RFC 9110 §13.2.2. Returns whether the client has the file already.
 * @throws S3Fault if the file is another one than the client expects
 */
export function isCurrent(
  { header }: Call,
  { contentSha256, updatedAt }: { contentSha256: string; updatedAt: unknown },
  names: Names,
): boolean {
  const etag = etagOf(contentSha256)
  const [match, noneMatch] = [header(names.match), header(names.noneMatch)]
  const changed = Math.floor(Date.parse(String(updatedAt)) / 1000) * 1000
  const since = (name: string) => Date.parse(header(name) ?? '')
  const isOther =
    match !== undefined
      ? match.trim() !== '*' && !match.split(',').some((each) => digestIn(each) === contentSha256)
      : changed > since(names.unmodified)
  if (isOther)
    throw new S3Fault('PreconditionFailed', 'The object does not meet the conditions of the request.')
  if (noneMatch !== undefined) return matches(noneMatch, etag) || digestIn(noneMatch) === contentSha256
  return changed <= since(names.modified)
}
