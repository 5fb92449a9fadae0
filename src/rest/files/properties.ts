/** The properties of a file in the headers of its upload. */
import type { IncomingHttpHeaders } from 'node:http'
import { UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { ContentType, FileMetadata, VersionLabel } from '../../contract/file-shapes.ts'
import { check } from '../../contract/validate.ts'
import { invalid } from '../../foundation/errors.ts'
import { parseJson, pointer } from '../../json/parse.ts'

export type Properties = { contentType: string; metadata: Record<string, unknown>; label: string | null }

/** @throws VALIDATION_ERROR at the header */
export function readProperties(headers: IncomingHttpHeaders): Properties {
  const contentType = headers['content-type'] ?? UNKNOWN_CONTENT
  const metadata = textOf(headers, 'X-File-Metadata')
  const label = textOf(headers, 'X-Service-Label')
  return {
    contentType: check(ContentType, contentType, at('Content-Type')),
    metadata:
      metadata === undefined
        ? {}
        : check(FileMetadata, parseJson(metadata, 'header/X-File-Metadata'), at('X-File-Metadata')),
    label: label === undefined ? null : check(VersionLabel, label, at('X-Service-Label')),
  }
}

const at = (name: string) => (path: readonly PropertyKey[]) => `header/${name}${pointer(...path.map(String))}`

/** The text of a header, which Node reads as Latin-1 and clients send as UTF-8. */
function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const sent = headers[name.toLowerCase()]
  if (sent === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(String(sent), 'latin1'))
  } catch {
    throw invalid({ path: `header/${name}`, code: 'invalid_text', message: 'The header must be UTF-8.' })
  }
}
