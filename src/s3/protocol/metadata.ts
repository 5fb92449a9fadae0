/** User metadata of S3, `x-amz-meta-*`, as metadata of files. */
import type { IncomingHttpHeaders } from 'node:http'

const PREFIX = 'x-amz-meta-'

/** The metadata in the headers. Values are texts. */
export const readMetadata = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && name.length > PREFIX.length
        ? [[name.slice(PREFIX.length), Buffer.from(String(value), 'latin1').toString()]]
        : [],
    ),
  )

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/i
const PRINTABLE = /^[\x20-\x7e]*$/

/**
 * The metadata as headers. A value that is no text is in JSON, and one that a header cannot have is encoded as RFC 2047
 * says. Names that are no header names are counted.
 */
export function metadataHeaders(metadata: Readonly<Record<string, unknown>>): Record<string, string> {
  const fit = Object.entries(metadata).filter(([name]) => NAME.test(name))
  const missing = Object.keys(metadata).length - fit.length
  return {
    ...Object.fromEntries(fit.map(([name, value]) => [PREFIX + name.toLowerCase(), headerText(value)])),
    ...(missing > 0 && { 'x-amz-missing-meta': String(missing) }),
  }
}

function headerText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return PRINTABLE.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}
