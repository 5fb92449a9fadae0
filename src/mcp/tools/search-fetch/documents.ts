/** Maps records to documents (id, title, url, text) for clients that only know `search` and `fetch`. */

import { isRecordId, isTypeId } from '../../../contract/ids.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { BYTES_OF_TOKEN } from '../../budget/token-estimate.ts'
import { shrink } from '../../budget/truncate-json.ts'
import { recordUri } from '../../protocol/resource-uri.ts'
import { NOTICE } from '../../protocol/result.ts'
import { titleOf } from '../../resources/record-title.ts'

export type Named = { recordType: string; id: string }
/** Base and public URL, for the URLs of documents. */
type Where = { base: string; publicUrl: string | undefined }

type Held = { data: unknown } & Record<string, unknown>

const encode = encodeURIComponent

/** The document as a search result. */
export const resultOf = ({ recordType, id }: Named, data: object, where: Where) => ({
  id: `${encode(recordType)}/${encode(id)}`,
  title: titleOf(recordType, id, data),
  url: urlOf(where, recordType, id),
})

/** REST URL if the server has a public address, else the resource URI. */
const urlOf = ({ base, publicUrl }: Where, recordType: string, id: string): string =>
  publicUrl === undefined
    ? recordUri(base, recordType, id)
    : `${publicUrl}/v1/${encode(base)}/records/${encode(recordType)}/${encode(id)}`

/**
 * The whole document, truncated to `LIMITS.documentTokens`; the truncated paths are listed. The text begins
 * with the prompt injection warning.
 */
export function documentOf(named: Named, record: Held, where: Where) {
  const { id: _, data, ...about } = record
  const truncated: string[] = []
  const shown = shrink({ value: data, path: '' }, LIMITS.documentTokens * BYTES_OF_TOKEN, truncated)
  const { id, title, url } = resultOf(named, data as object, where)
  const said = Object.entries(about).filter(([, value]) => value !== null)
  const cut = truncated.length > 0 && { truncated: truncated.slice(0, LIMITS.truncatedPaths) }
  return {
    ...{ id, title, text: `${NOTICE}\n${JSON.stringify(shown)}`, url },
    metadata: { ...Object.fromEntries(said), ...cut },
  }
}

/**
 * Parses a document id.
 * @throws VALIDATION_ERROR
 */
export function readDocumentId(named: string): Named {
  const [recordType, id, ...more] = named.split('/').map(decode)
  if (recordType && id && more.length === 0 && isTypeId(recordType) && isRecordId(id))
    return { recordType, id }
  throw invalid({
    path: '/id',
    code: 'invalid_id',
    message: 'id must be an id that search returned: the record type, a slash, and the id of the record.',
    received: named.slice(0, 128),
  })
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
