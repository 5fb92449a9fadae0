/** The text of a file in a tool result: as many lines as fit into the tokens, the whole as a resource link. */
import { readLineRange } from '../../../contract/line-range.ts'
import { trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Context } from '../../../graphql/context.ts'
import { BYTES_OF_TOKEN } from '../../budget/fit.ts'
import { ReadResult } from '../../budget/read-result.ts'
import { sizeOf } from '../../budget/truncate-json.ts'
import { fileUri } from '../../protocol/resource-uri.ts'
import type { Content } from '../../protocol/result.ts'
import { read } from './operations.ts'

type FileAddress = { base: string; fileType: string; path: string }
type Asked = { version?: number | undefined; lines?: string | undefined; tokens: number }

/** Tokens of the warning, of the hint, and of the commas between. */
const SPARE_BYTES = 300
const TRIES = 5

/** @throws VALIDATION_ERROR for malformed or absent lines */
export async function readText(address: FileAddress, asked: Asked, context: Context): Promise<ReadResult> {
  const { version, tokens } = asked
  const range = asked.lines === undefined ? {} : rangeOf(asked.lines)
  const maxSize = tokens * BYTES_OF_TOKEN - SPARE_BYTES
  let maxBytes = Math.min(maxSize, LIMITS.inlineContentBytes)
  for (let tries = 1; ; tries++) {
    const given = { ...address, ...range, ...(version !== undefined && { version }), maxBytes }
    const { file, ...text } = (await read(given, context)).found
    const body = { ...trim(file), ...text }
    const over = sizeOf(body) - maxSize
    if (over > 0 && text.text && tries < TRIES) {
      // JSON escapes characters, so a text takes more room than its bytes.
      const share = Buffer.byteLength(text.text) / sizeOf(text.text)
      maxBytes = Math.max(1, Math.floor((sizeOf(text.text) - over) * share))
      continue
    }
    const isWhole = !text.binary && !text.has_more && text.from <= 1 && text.to === (text.lines ?? -1)
    const hint = hintOf(file.size, text)
    const result = { ...body, ...(hint && { hint }) }
    return new ReadResult(result, isWhole ? {} : { links: linkTo(address, file) })
  }
}

/** @throws VALIDATION_ERROR */
function rangeOf(lines: string): { from: number; to?: number } {
  // Models also write spaces.
  const ends = lines.split('-').map((end) => end.trim())
  const range = readLineRange(ends.join('-'))
  if (range) return range
  throw invalid({
    path: '/lines',
    code: 'malformed',
    message: 'lines must be a range, such as "10-20", or "10-" to the end.',
    received: lines.slice(0, 64),
  })
}

type Shown = { binary: boolean; has_more: boolean; text: string | null; to: number; lines: number | null }

function hintOf(size: number, { binary, has_more, text, to, lines }: Shown): string | null {
  const next = `lines: "${to + 1}-" goes on`
  if (has_more && !text?.endsWith('\n'))
    return `Line ${to} is cut. Send a larger max_tokens, or download the file over REST${to === lines ? '' : `; ${next} after it`}.`
  if (has_more) return `Cut to max_tokens. ${next}.`
  if (!binary) return null
  return size > LIMITS.resourceFileBytes
    ? 'The content is too large for a resource. Download it over REST.'
    : 'The content is not text. Read the linked resource.'
}

type Linked = { path: string; content_type: string; size: number }

/** The link to the whole content, unless it is too large for a resource. */
function linkTo({ base, fileType, path }: FileAddress, { content_type, size }: Linked): Content[] {
  if (size > LIMITS.resourceFileBytes) return []
  const uri = fileUri(base, fileType, path)
  return [{ type: 'resource_link', uri, name: path, mimeType: content_type, size }]
}
