/** The commonest write of a file, in one statement: a small content at a path, without a precondition. */

import { uuidv7 } from '../../foundation/uuid.ts'
import { AUTHOR_COLUMNS } from '../change-log/entry.ts'
import { isRow, storedContent } from '../contents/keep.ts'
import { authorship } from '../core/scope.ts'
import { statement, timed } from '../database/client.ts'
import { foldWords } from '../search/words.ts'
import type { WriteScope } from '../write/write.ts'
import type { Content } from './content.ts'
import { FILE_COLUMNS, FILE_STATE, type File, type FileRow, toFile } from './file.ts'
import type { FileExpectation } from './file-preconditions.ts'
import { type FileAddress, keyOf } from './find.ts'
import { lookUp, remember } from './known-words.ts'
import type { FilePolicy } from './policy.ts'
import { entryOf, INDEX_OF_FILES, textEntered } from './text-index.ts'

/** The words to look for: those not known of the index, if it is the one that they are known of. */
const WORDS = `CASE WHEN e.index_id = $20::bigint THEN $21::text[] ELSE string_to_array(btrim(e.words), ' ') END`

/**
 * Locks in the order of all writes of files: the type, the content, the file. Each step counts the rows of the one before, so
 * that it comes after it. Writes nothing when the file has this content, or another request creates it.
 */
const PUT = timed(
  statement(
    'put_file',
    `WITH type AS MATERIALIZED (SELECT 1 FROM plinth.file_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE),
     ${storedContent('$4', '$5', 'type')},
     present AS MATERIALIZED (
       SELECT id FROM plinth.file
       WHERE (SELECT count(*) FROM stored) >= 0 AND base_id = $1 AND file_type = $2 AND path = $3 AND deleted_at IS NULL
       FOR NO KEY UPDATE),
     created AS (
       INSERT INTO plinth.file (base_id, file_type, path, id, version, content_sha256, size, content_type, metadata, label)
       SELECT $1, $2, $3, $6, 1 + coalesce((
         SELECT max(version) FROM plinth.file WHERE base_id = $1 AND file_type = $2 AND path = $3 AND deleted_at IS NOT NULL), 0),
         $4, $7::bigint, $8, $9::json, $10
       FROM type WHERE NOT EXISTS (SELECT FROM present)
       ON CONFLICT (base_id, file_type, path) WHERE deleted_at IS NULL DO NOTHING RETURNING *),
     updated AS (
       UPDATE plinth.file f SET version = f.version + 1, content_sha256 = $4, size = $7::bigint, content_type = $8, metadata = $9::json,
         label = $10, updated_at = now()
       WHERE NOT $11::bool AND f.base_id = $1 AND f.id = (SELECT id FROM present) AND f.content_sha256 <> $4 RETURNING f.*),
     written AS (SELECT 'create' AS operation, created.* FROM created UNION ALL SELECT 'update', updated.* FROM updated),
     versioned AS (
       INSERT INTO plinth.file_version (base_id, file_id, version, content_sha256, size, content_type, label, created_by)
       SELECT base_id, id, version, content_sha256, size, content_type, label, $12 FROM written),
     dropped AS (
       DELETE FROM plinth.file_version
       WHERE base_id = $1 AND file_id = (SELECT id FROM written) AND version <= (SELECT version FROM written) - $13::int),
     ${textEntered('written', '$14', WORDS)},
     logged AS (
       INSERT INTO plinth.change (base_id, kind, id, operation, version, data, ${AUTHOR_COLUMNS})
       SELECT $1, 'file', file_type || '/' || path, operation, version, ${FILE_STATE}, $15, $16, $17, $18, $19::jsonb FROM written)
     SELECT operation, ${INDEX_OF_FILES}::text AS index_id, ${FILE_COLUMNS} FROM written`,
  ),
)

type Written = FileRow & { operation: 'create' | 'update'; index_id: string }

/** The file; undefined if the write needs the steps of a transaction. */
export async function putAtOnce(
  scope: WriteScope,
  address: FileAddress,
  { storage }: FilePolicy,
  content: Content,
  expected: FileExpectation,
): Promise<File | undefined> {
  const isBound =
    expected.versions !== null || expected.contents !== null || expected.exists || expected.absent
  if (scope.db.isTransaction || isBound || !content.bytes || !isRow(content)) return undefined
  const { actor, db } = scope
  const words = foldWords(entryOf(address.path, content.text))
  const { indexId, unknown } = lookUp(scope, address.baseId, words)
  const [row] = await db.query<Written>(PUT, [
    ...keyOf(address),
    content.sha256,
    content.bytes,
    uuidv7(),
    content.size,
    content.contentType,
    JSON.stringify(content.metadata),
    content.label,
    storage.immutable,
    actor.tokenId ?? actor.name,
    storage.keep_versions,
    ` ${words.map((word) => `${word} `).join('')}`,
    ...authorship(scope),
    indexId,
    unknown,
  ])
  if (!row) return undefined
  remember(scope, address.baseId, row.index_id, indexId === row.index_id ? unknown : [...new Set(words)])
  return { ...toFile(row), operation: `${row.operation}d` }
}
