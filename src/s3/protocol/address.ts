/** What a request addresses: a bucket and a key in its path, and the parameters of its query. */
import { S3_ROOT } from '../../contract/s3-shapes.ts'
import { S3Fault } from './fault.ts'

export type Address = {
  /** The path as sent, without the query. */
  readonly path: string
  /** Empty for the service itself. */
  readonly bucket: string
  /** Empty for the bucket itself. */
  readonly key: string
  /** Parameters in their order, decoded. */
  readonly query: readonly (readonly [name: string, value: string])[]
}

/**
 * Reads the address from the URL as it was sent. Path and query are decoded once.
 * @throws S3Fault InvalidURI
 */
export function readAddress(url: string): Address {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const search = mark < 0 ? '' : url.slice(mark + 1)
  const [, bucket = '', key = ''] = /^\/?([^/]*)\/?(.*)$/s.exec(path.slice(S3_ROOT.length)) ?? []
  return {
    path,
    bucket: decode(bucket),
    key: decode(key),
    query: search.split('&').flatMap((part) => {
      if (part === '') return []
      const at = part.indexOf('=')
      return at < 0
        ? [[decode(part), ''] as const]
        : [[decode(part.slice(0, at)), decode(part.slice(at + 1))] as const]
    }),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Fault('InvalidURI', 'The URL must be percent-encoded UTF-8.')
  }
}

/** The file of a key, `<file_type>/<path>`; undefined for a key without a path. */
export function fileOf(key: string): { fileType: string; path: string } | undefined {
  const slash = key.indexOf('/')
  if (slash <= 0 || slash === key.length - 1) return undefined
  return { fileType: key.slice(0, slash), path: key.slice(slash + 1) }
}

/** Percent-encodes a text as S3 does, except for slashes. */
export const encodeKey = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/')
