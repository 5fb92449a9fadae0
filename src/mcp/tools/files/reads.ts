/** Tools that read files: list_files and get_file. */
import { z } from 'zod'
import { pageBody, trim } from '../../../contract/response-bodies.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { BY_CURSOR, ReadResult } from '../../budget/read-result.ts'
import { answerOutput, pageArguments, pageOutput } from '../../tool/page-arguments.ts'
import { reading, tool } from '../../tool/tool.ts'
import { readText } from './inline-text.ts'
import { compare, history, list, listTypes, one, target } from './operations.ts'
import { search } from './search.ts'

export const readingTools = [
  tool('list_files', {
    title: 'List files',
    description: 'Files by path; search: by words, best first. Without file_type: the types.',
    permission: 'read',
    ofFiles: true,
    hints: { idempotent: true },
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
      const page = { base: base_id, limit, ...(cursor !== undefined && { cursor }) }
      const within = {
        ...(file_type !== undefined && { fileType: file_type }),
        ...(prefix !== undefined && { prefix }),
      }
      if (words !== undefined) {
        if (depth !== undefined)
          throw refused('depth', 'depth cannot be combined with search, which finds files. Leave it out.')
        const found = (await search({ ...page, ...within, search: words, snippets: true }, context)).page
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
        const types = (await listTypes(page, context)).page
        return new ReadResult(pageBody(types), { ...BY_CURSOR, cursors: types.cursors })
      }
      const given = { ...page, ...within, fileType: file_type, ...(depth !== undefined && { depth }) }
      const found = (await list(given, context)).page
      const rows = found.data.map(({ kind, path, file }) => ({ kind, path, ...(file && trim(file)) }))
      return new ReadResult(pageBody({ ...found, data: rows }), { ...BY_CURSOR, cursors: found.cursors })
    },
  }),
  tool('get_file', {
    title: 'Get file',
    description: 'A text, other contents as a link. lines: "10-20". compare: versions "1-2".',
    permission: 'read',
    ofFiles: true,
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      ...one,
      version: z.int32().min(1).optional(),
      lines: z.string().optional(),
      history: z.boolean().optional(),
      compare: z.string().optional(),
      ...reading,
    }),
    output: answerOutput,
    run: async ({ version, lines, history: all, compare: both, max_tokens, ...key }, context) => {
      const at = target(key)
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
