/** Files as documents of `search` and `fetch`. */
import { encodeFilePath, readFilePath } from '../../../contract/file-path.ts'
import { isTypeId } from '../../../contract/ids.ts'
import { trim } from '../../../contract/response-bodies.ts'
import { withPaths } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Context } from '../../../graphql/context.ts'
import { clean } from '../../../schema-shape/descriptions.ts'
import { BYTES_OF_TOKEN } from '../../budget/fit.ts'
import { fileUri } from '../../protocol/resource-uri.ts'
import { NOTICE } from '../../protocol/result.ts'
import { read } from '../files/operations.ts'
import type { FoundFile } from './search-types.ts'

type Where = { base: string; publicUrl: string | undefined }

const FILES = 'files'
const encode = encodeURIComponent

/** A file as a search result. No id of a record has three parts. */
export const fileResultOf = ({ fileType, path }: FoundFile, { base, publicUrl }: Where) => ({
  id: `${FILES}/${encode(fileType)}/${encode(path)}`,
  title: clean(path, LIMITS.documentTitleChars),
  url:
    publicUrl === undefined
      ? fileUri(base, fileType, path)
      : `${publicUrl}/v1/${encode(base)}/files/${encode(fileType)}/${encodeFilePath(path)}`,
})

/** The file that an id names; undefined for ids of other things. */
export function readFileId(id: string): FoundFile | undefined {
  const [kind, fileType = '', ...path] = id.split('/').map(decode)
  if (kind !== FILES || path.length === 0 || !isTypeId(fileType)) return undefined
  const found = readFilePath(path.join('/'))
  return 'path' in found ? { fileType, path: found.path } : undefined
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The text of the file, cut to `LIMITS.documentTokens`, after the prompt injection warning. */
export async function fileDocument(named: FoundFile, where: Where, context: Context) {
  const maxBytes = LIMITS.documentTokens * BYTES_OF_TOKEN
  const { found } = await read({ base: where.base, ...named, maxBytes }, context).catch((thrown: unknown) => {
    throw withPaths(thrown, (path) => (path === '' ? path : '/id'))
  })
  const { file, text, has_more } = found
  const shown = text ?? 'The content is not text. Download it over REST, or read it as a resource.'
  return {
    ...fileResultOf(named, where),
    text: `${NOTICE}\n${shown}`,
    metadata: { ...trim(file), ...(has_more && { truncated: ['/text'] }) },
  }
}
