/** Tools that read files: list_files and get_file. */
import { z } from 'zod'
import { readLineRange } from '../../../contract/file-shapes.ts'
import { pageBody, trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Context } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { BYTES_OF_TOKEN } from '../../budget/fit.ts'
import { BY_CURSOR, ReadResult } from '../../budget/read-result.ts'
import { sizeOf } from '../../budget/truncate-json.ts'
import { fileUri } from '../../protocol/resource-uri.ts'
import type { Content } from '../../protocol/result.ts'
import { byName } from '../../tool/by-name.ts'
import { pageArguments, pageOutput } from '../../tool/page-arguments.ts'
import { reading, tool } from '../../tool/tool.ts'
import { compare, history, list, listTypes, one, read, ToolFile } from './operations.ts'

/** Finds files by the words of their paths and texts. */
export const search = staticOperation(
  `query ToolSearchFiles($base: String!, $search: String!, $fileType: String, $prefix: String, $snippets: Boolean, $match: SearchMatch,
    $limit: Int, $cursor: String) {
    page: searchFiles(base: $base, search: $search, fileType: $fileType, prefix: $prefix, snippets: $snippets, match: $match,
      limit: $limit, cursor: $cursor) {
      data {
        file { ...ToolFile } _search_score: searchScore _snippets: snippets { field text matches truncated }
      }
      hasMore limit offset total nextCursor cursors
    }
  }`,
  [ToolFile],
)

const ofFiles = { permission: 'read', ofWhole: 'read', ofFiles: true } as const
export const readingTools = [
  tool('list_files', {
    title: 'List files',
    description: 'Files by path; search: by words, best first. Without file_type: the types.',
    ...ofFiles,
    showsRecords: true,
    input: z.strictObject({
      file_type: z.string().optional(),
      prefix: z.string().optional(),
      depth: z.int32().min(1).optional(),
      search: z.string().max(LIMITS.searchChars).optional(),
      limit: pageArguments.limit,
      cursor: pageArguments.cursor,
      ...reading,
    }),
    output: pageOutput,
    run: async ({ base_id, file_type, search: words, prefix, depth, limit, cursor }, context) => {
      const page = { base_id, prefix, limit, cursor }
      if (words !== undefined) {
        if (depth !== undefined)
          throw refused('depth', 'depth cannot be combined with search, which finds files. Leave it out.')
        const asked = { ...page, file_type, search: words, snippets: true }
        const found = (await search(byName(asked), context)).page
        const rows = found.data.map(({ file, _search_score, _snippets }) => ({
          ...trim(file),
          _search_score,
          ...(_snippets && { _snippets: _snippets.map(trim) }),
        }))
        return new ReadResult(pageBody({ ...found, data: rows }), { ...BY_CURSOR, cursors: found.cursors })
      }
      if (file_type === undefined) {
        if (prefix !== undefined) throw needsType('prefix')
        if (depth !== undefined) throw needsType('depth')
        const types = (await listTypes(byName(page), context)).page
        return new ReadResult(pageBody(types), { ...BY_CURSOR, cursors: types.cursors })
      }
      const found = (await list(byName({ ...page, file_type, depth }), context)).page
      const rows = found.data.map(({ kind, path, file }) => ({ kind, path, ...(file && trim(file)) }))
      return new ReadResult(pageBody({ ...found, data: rows }), { ...BY_CURSOR, cursors: found.cursors })
    },
  }),
  tool('get_file', {
    title: 'Get file',
    description: 'A text, other contents as a link. lines: "10-20". compare: versions "1-2".',
    ...ofFiles,
    showsRecords: true,
    input: z.strictObject({
      ...one,
      version: z.int32().min(1).optional(),
      lines: z.string().optional(),
      history: z.boolean().optional(),
      compare: z.string().optional(),
      ...reading,
    }),
    run: async ({ version, lines, history: all, compare: both, max_tokens, ...key }, context) => {
      const at = byName(key)
      const ofText = lines === undefined ? { version } : { lines }
      const asked = Object.entries({ history: all, compare: both, ...ofText }).filter(([, value]) => value)
      const [first, second] = asked
      if (first && second)
        throw refused(
          second[0],
          `${second[0]} cannot be combined with ${first[0]}: ask for the text, the history or a comparison.`,
        )
      if (all) {
        const found = (await history({ ...at, limit: LIMITS.pageMax }, context)).page
        return new ReadResult(pageBody(found), { ...BY_CURSOR, cursors: found.cursors })
      }
      if (both !== undefined)
        return new ReadResult((await compare({ ...at, ...versionsOf(both) }, context)).found)
      return readText(at, { version, lines, tokens: max_tokens ?? LIMITS.answerTokens }, context)
    },
  }),
]

/** @throws VALIDATION_ERROR */
function versionsOf(both: string): { from: number; to: number } {
  const [, from, to] = /^\s*(\d{1,9})\s*-\s*(\d{1,9})\s*$/.exec(both) ?? []
  if (from !== undefined && to !== undefined) return { from: Number(from), to: Number(to) }
  throw refused('compare', 'compare must name two versions, such as "1-2".', 'malformed')
}

const refused = (argument: string, message: string, code = 'exclusive') =>
  invalid({ path: `/${argument}`, code, message })

const needsType = (argument: string) =>
  refused(argument, `${argument} is for the files of a type. Send file_type too.`)

// The text of a file in a tool result: as many lines as fit into the tokens, the whole as a resource link.

type FileAddress = { base: string; fileType: string; path: string }
type Asked = { version?: number | undefined; lines?: string | undefined; tokens: number }

/** Tokens of the warning, of the hint, and of the commas between. */
const SPARE_BYTES = 300

/** @throws VALIDATION_ERROR for malformed or absent lines */
async function readText(address: FileAddress, asked: Asked, context: Context): Promise<ReadResult> {
  const { version, tokens } = asked
  const range = asked.lines === undefined ? {} : rangeOf(asked.lines)
  const maxSize = tokens * BYTES_OF_TOKEN - SPARE_BYTES
  let maxBytes = Math.min(maxSize, LIMITS.inlineContentBytes)
  for (let tries = 1; ; tries++) {
    const given = { ...address, ...range, ...(version !== undefined && { version }), maxBytes }
    const { file, ...text } = (await read(given, context)).found
    const body = { ...trim(file), ...text }
    const over = sizeOf(body) - maxSize
    if (over > 0 && text.text && tries < LIMITS.textTries) {
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
