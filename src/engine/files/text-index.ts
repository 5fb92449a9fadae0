/** The text index of the files of a base: the words of their paths and of the beginnings of their texts. */
import { mediaTypeOf } from '../../contract/attachment-rules.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { textWords } from '../data/search/entries.ts'
import { type Db, statement } from '../storage/database/client.ts'
import type { FileRow } from './file.ts'
import { beginningOf, type StoredContent } from './text.ts'

/** The id of the index of the base `$1`. */
export const INDEX_OF_FILES = '(SELECT file_index_id FROM plinth.base WHERE id = $1)'

/** The CTEs that enter the folded text `folded` of the file `id` of `from`, in the base `$1`. `words` are those of `textWords`. */
export const textEntered = (
  from: string,
  folded: string,
  words?: string,
  entries?: string,
): string => `text_entered AS (
     INSERT INTO plinth.record_text AS x (base_id, index_id, field, id, words)
     SELECT $1, ${INDEX_OF_FILES}, 0, id, ${folded} FROM ${from}
     ON CONFLICT (base_id, index_id, field, id) DO UPDATE SET words = excluded.words WHERE x.words <> excluded.words
     RETURNING x.base_id, x.index_id, x.field, x.words),
   ${textWords(words, entries)}`

const ENTER = statement(
  'enter_file_text',
  `WITH ${textEntered('(VALUES ($2)) AS entered (id)', 'plinth.search_fold($3)')} SELECT 1 AS one`,
)
const ENTER_ALL = statement(
  'enter_file_texts',
  `WITH e AS MATERIALIZED (SELECT id, plinth.search_fold(text) AS folded FROM unnest($2::text[], $3::text[]) AS sent (id, text)),
   ${textEntered('e', 'folded')} SELECT 1 AS one`,
)
const REMOVE = statement(
  'remove_file_text',
  `DELETE FROM plinth.record_text WHERE base_id = $1 AND index_id = ${INDEX_OF_FILES} AND field = 0 AND id = $2`,
)

/** Content types that are text, beside `text/*` and those that end in `+json`, `+xml` or `+yaml`. */
const TEXT =
  /^(text\/.+|.+\+(json|xml|yaml)|application\/(json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|sql|javascript|graphql))$/

/**
 * The text of a content that a search reads: its beginning; empty for other types and for bytes that are no text.
 */
export async function searchedText(
  scope: Pick<Scope, 'db' | 'blobs'>,
  content: StoredContent & { readonly contentType: string },
): Promise<string> {
  if (!TEXT.test(mediaTypeOf(content.contentType))) return ''
  const found = await beginningOf(scope, content, LIMITS.searchedFileBytes)
  return found?.text ?? ''
}

export type SearchedFile = Pick<FileRow, 'id' | 'path' | 'content_sha256' | 'size' | 'content_type'>

/** The text of a file that a search reads. */
export const textOfFile = (
  scope: Pick<Scope, 'db' | 'blobs'>,
  file: Omit<SearchedFile, 'id' | 'path'>,
): Promise<string> =>
  searchedText(scope, {
    contentSha256: file.content_sha256,
    size: file.size,
    contentType: file.content_type,
  })

/** What a search reads of a file: its path, then its text. */
export const entryOf = (path: string, text: string): string =>
  `${path}\n${text}`.slice(0, LIMITS.searchedChars).toWellFormed()

/** Enters the text of a file, in the transaction that writes the file. */
export const enterText = async (tx: Db, baseId: string, { id, path }: FileRow, text: string): Promise<void> =>
  void (await tx.query(ENTER, [baseId, id, entryOf(path, text)]))

/** Reads the texts of files of a base and enters them. */
export async function enterTexts(
  scope: Pick<Scope, 'db' | 'blobs'>,
  baseId: string,
  files: readonly SearchedFile[],
): Promise<void> {
  const texts: string[] = []
  for (const file of files) texts.push(entryOf(file.path, await textOfFile(scope, file)))
  await scope.db.query(ENTER_ALL, [baseId, files.map(({ id }) => id), texts])
}

/** Reads the text of a file and enters it. */
export const enterAgain = async (scope: Scope, baseId: string, file: FileRow): Promise<void> =>
  enterText(scope.db, baseId, file, await textOfFile(scope, file))

/** Removes a deleted file from the index. */
export const leaveIndex = async (tx: Db, baseId: string, id: string): Promise<void> =>
  void (await tx.query(REMOVE, [baseId, id]))
