import { graphql } from '../../../graphql/document.ts'
import { compile } from '../../../graphql/execute.ts'
import { ToolFile } from './operations.ts'

/** Finds files by the words of their paths and texts. */
export const search = compile(
  graphql(
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
  ),
)
