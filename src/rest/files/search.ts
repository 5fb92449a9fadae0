/** Route that finds files by words, in all file types of a base. */
import { z } from 'zod'
import { pageBody, trim } from '../../contract/response-bodies.ts'
import { graphql } from '../../graphql/document.ts'
import { listOf } from '../route/page.ts'
import { flag, pageQuery } from '../route/query.ts'
import { route } from '../route/route.ts'
import { baseId, onBase } from '../route/shapes.ts'
import { File, FileFields } from './shapes.ts'

const SearchFiles = graphql(
  `query SearchFiles($base: String!, $search: String!, $fileType: String, $prefix: String, $match: SearchMatch, $snippets: Boolean,
    $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
    page: searchFiles(base: $base, search: $search, fileType: $fileType, prefix: $prefix, match: $match, snippets: $snippets,
      limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
      data { file { ...FileFields } _search_score: searchScore _snippets: snippets { field text matches truncated } }
      hasMore truncated limit offset total nextCursor
    }
  }`,
  [FileFields],
)

const FoundFile = File.omit({ operation: true, dry_run: true })
  .extend({
    _search_score: z.number().meta({ description: 'How well the file matches. Higher is better.' }),
    _snippets: z
      .array(
        z.object({
          field: z.enum(['text', 'path']),
          text: z.string(),
          matches: z.array(z.string()),
          truncated: z.literal(true).optional(),
        }),
      )
      .optional()
      .meta({ description: 'With `snippets`: what was found.' }),
  })
  .meta({ id: 'FoundFile' })

export const searchRoute = route('GET /:base_id/files', {
  summary: 'Find files by words of their paths and texts, best first',
  need: onBase('read'),
  params: z.strictObject({ base_id: baseId() }),
  query: pageQuery.extend({
    search: z
      .string('Send the words in search. The files of a type are at /v1/{base_id}/files/{file_type}.')
      .meta({ description: 'The words. A typo or two still find.' }),
    file_type: z.string().optional().meta({ description: 'Only files of this type.' }),
    prefix: z.string().optional().meta({ description: 'The beginning of the paths, literally.' }),
    match: z
      .enum(['all', 'any'])
      .optional()
      .meta({ description: 'Whether all words must be there, which is the default, or any.' }),
    snippets: flag('Add `_snippets`: what was found.'),
  }),
  operation: SearchFiles,
  renamed: { id: 'file_type' },
  reply: ({ page }) => ({
    body: pageBody({
      ...page,
      data: page.data.map(({ file, _search_score, _snippets }) => ({
        ...file,
        _search_score,
        ...(_snippets && { _snippets: _snippets.map(trim) }),
      })),
    }),
  }),
  answers: listOf(FoundFile),
})
