/** What a request addresses: a bucket and a key in its path, and the parameters of its query. */
import { isBaseId } from '../../contract/ids.ts'
import { S3_ROOT } from '../../contract/s3-shapes.ts'
import { S3Fault } from './fault.ts'

export type Address = {
  /** The path as sent, without the query. */
  readonly path: string
  /** The path is at the root of the host of the gateway. */
  readonly isAtRoot: boolean
  /** Empty for the service itself. */
  readonly bucket: string
  /** Empty for the bucket itself. */
  readonly key: string
  /** Parameters in their order, decoded. */
  readonly query: readonly (readonly [name: string, value: string])[]
}

/**
 * The URL of a request to the host of the gateway, as one below `/s3`. A bucket can be a part of the name of the host.
 */
export function belowS3Root(url: string, host = '', s3Host?: string): string {
  if (s3Host === undefined) return url
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (name === s3Host) return `${S3_ROOT}${url}`
  const bucket = name.endsWith(`.${s3Host}`) ? name.slice(0, -s3Host.length - 1) : ''
  return isBaseId(bucket) ? `${S3_ROOT}/${bucket}${url}` : url
}

/**
 * Reads the address from a URL below `/s3`. Path and query are decoded once.
 * @param sent the URL as it was sent
 * @throws S3Fault InvalidURI
 */
export function readAddress(url: string, sent: string): Address {
  const [, path = '', search = ''] = PARTS.exec(url) ?? []
  const [, bucket = '', key = ''] = /^\/?([^/]*)\/?(.*)$/s.exec(path.slice(S3_ROOT.length)) ?? []
  return {
    path: PARTS.exec(sent)?.[1] ?? '',
    isAtRoot: sent !== url,
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

const PARTS = /^([^?]*)\??(.*)$/s

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new S3Fault('InvalidURI', 'The URL must be percent-encoded UTF-8 without NUL.')
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
