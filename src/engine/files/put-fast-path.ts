/** The fast path of a PUT: a small content without a precondition is one statement, which concurrent requests share. */

import { uuidv7 } from '../../foundation/uuid.ts'
import type { Caches } from '../core/caches.ts'
import { isRow, storedContents } from '../core/contents/reference.ts'
import { authorship } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { foldText, wordsOf } from '../data/search/words.ts'
import type { Authorship } from '../log/entry.ts'
import { authorOf, logResources } from '../log/log-rows.ts'
import { statement, timed } from '../storage/database/client.ts'
import type { SharedWrite } from '../storage/database/write-together.ts'
import type { Content } from './content.ts'
import { FILE_COLUMNS, FILE_STATE, type File, type FileRow, toFile } from './file.ts'
import type { FileExpectation } from './file-preconditions.ts'
import type { FileAddress } from './find.ts'
import type { FilePolicy } from './policy.ts'
import { entryOf, INDEX_OF_FILES, textEntered } from './text-index.ts'
import { lookUp, remember } from './word-cache.ts'

/** The entries whose words are looked for: one for all of the index whose words are known, as `$20` has those that are not. */
const ENTRIES = `(SELECT DISTINCT base_id, index_id, field, CASE WHEN index_id <> $19::bigint OR $19 IS NULL THEN words END AS words FROM text_entered)`
const WORDS = `CASE WHEN e.words IS NULL THEN $20::text[] ELSE string_to_array(btrim(e.words), ' ') END`

/**
 * Locks in the order of all writes of files: the type, the contents, the files. Each step counts the rows of the one before, so
 * that it comes after it. Writes no file that has this content, or that another request creates. The contents are one value, from
 * which each file takes its own. The arrays are in subqueries, because the planner would create a custom plan for each array length.
 */
const PUT = timed(
  statement(
    'put_files',
    `WITH type AS MATERIALIZED (SELECT 1 FROM plinth.file_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE),
     sent AS MATERIALIZED (
       SELECT i.*, substring($5::bytea FROM start FOR size) AS bytes
       FROM unnest((SELECT $3::text[]), (SELECT $4::text[]), (SELECT $21::int[]), (SELECT $22::int[]), (SELECT $6::text[]), (SELECT $7::text[]),
         (SELECT $8::json[]), (SELECT $9::text[]), (SELECT $13::text[]), (SELECT $17::text[]), (SELECT $18::jsonb[]))
         AS i (path, sha256, start, size, new_id, content_type, metadata, label, words, request_id, call)),
     ${storedContents('sent', 'type')},
     present AS MATERIALIZED (
       SELECT id, path FROM plinth.file
       WHERE (SELECT count(*) FROM stored) >= 0 AND base_id = $1 AND file_type = $2 AND path = ANY ((SELECT $3::text[])::text[])
         AND deleted_at IS NULL
       ORDER BY path FOR NO KEY UPDATE),
     created AS (
       INSERT INTO plinth.file (base_id, file_type, path, id, version, content_sha256, size, content_type, metadata, label)
       SELECT $1, $2, i.path, i.new_id, 1 + coalesce((
         SELECT max(version) FROM plinth.file f
         WHERE f.base_id = $1 AND f.file_type = $2 AND f.path = i.path COLLATE "C" AND f.deleted_at IS NOT NULL), 0),
         i.sha256, i.size, i.content_type, i.metadata, i.label
       FROM sent i
       WHERE EXISTS (SELECT FROM type) AND (SELECT count(*) FROM present) < cardinality((SELECT $3::text[]))
         AND i.path COLLATE "C" NOT IN (SELECT path FROM present)
       ORDER BY i.path COLLATE "C"
       ON CONFLICT (base_id, file_type, path) WHERE deleted_at IS NULL DO NOTHING RETURNING *),
     updated AS (
       UPDATE plinth.file f SET version = f.version + 1, content_sha256 = i.sha256, size = i.size,
         content_type = i.content_type, metadata = i.metadata, label = i.label, updated_at = now()
       FROM present p JOIN sent i ON i.path COLLATE "C" = p.path
       WHERE NOT $10::bool AND f.base_id = $1 AND f.id = ANY (ARRAY(SELECT id FROM present)) AND f.id = p.id
         AND f.content_sha256 <> i.sha256 COLLATE "C" RETURNING f.*),
     written AS MATERIALIZED (
       SELECT w.*, i.words, i.request_id, i.call
       FROM (SELECT 'create' AS operation, created.* FROM created UNION ALL SELECT 'update', updated.* FROM updated) AS w
         JOIN sent i ON i.path COLLATE "C" = w.path),
     versioned AS (
       INSERT INTO plinth.file_version (base_id, file_id, version, content_sha256, size, content_type, label, created_by)
       SELECT base_id, id, version, content_sha256, size, content_type, label, $11 FROM written),
     dropped AS (
       DELETE FROM plinth.file_version v
       WHERE v.base_id = $1 AND v.file_id = ANY (ARRAY(SELECT id FROM written WHERE version > $12::int))
         AND v.version <= (SELECT w.version FROM written w WHERE w.id = v.file_id) - $12::int),
     ${textEntered('written', 'words', WORDS, ENTRIES)},
     logged AS (${logResources({
       ...{
         kind: "'file'",
         id: "file_type || '/' || path",
         operation: 'operation',
         data: FILE_STATE,
         from: 'written',
       },
       author: authorOf('$14', '$15', '$16', 'request_id', 'call'),
     })})
     SELECT operation, ${INDEX_OF_FILES}::text AS index_id, ${FILE_COLUMNS} FROM written`,
  ),
)

type Written = FileRow & { operation: 'create' | 'update'; index_id: string }

type FileWrite = {
  readonly address: FileAddress
  readonly storage: FilePolicy['storage']
  readonly content: Content & { readonly bytes: Buffer }
  /** The folded form of its path and text, and the words in it. */
  readonly folded: string
  readonly words: readonly string[]
  readonly author: Authorship
  readonly caches: Caches
}

const WRITE: SharedWrite<FileWrite, Written> = {
  isSlowToArrive: true,
  groupOf: ({ address: { baseId, fileType }, storage: { immutable, keep_versions: kept }, author }) =>
    [baseId, fileType, immutable, kept, author[0], author[1], author[2]].join('\n'),
  targetOf: ({ address: { baseId, fileType, path } }) => `${baseId}\n${fileType}\n${path}`,
  async run(db, writes) {
    const [{ address, storage, author, caches }] = writes as [FileWrite]
    const { baseId, fileType } = address
    const { indexId, unknown } = lookUp(
      { caches },
      baseId,
      writes.map(({ words }) => words),
    )
    const rows = await db.query<Written>(PUT, [
      baseId,
      fileType,
      writes.map((write) => write.address.path),
      writes.map(({ content }) => content.sha256),
      // One value: an array of them would be sent as hexadecimal text.
      Buffer.concat(writes.map(({ content }) => content.bytes)),
      writes.map(() => uuidv7()),
      writes.map(({ content }) => content.contentType),
      writes.map(({ content }) => JSON.stringify(content.metadata)),
      writes.map(({ content }) => content.label),
      storage.immutable,
      author[0] ?? author[1],
      storage.keep_versions,
      writes.map(({ folded }) => folded),
      author[0],
      author[1],
      author[2],
      writes.map((write) => write.author[3]),
      writes.some((write) => write.author[4] !== null) ? writes.map((write) => write.author[4]) : null,
      indexId,
      unknown,
      startsOf(writes),
      writes.map(({ content }) => content.size),
    ])
    const byPath = new Map(rows.map((row) => [row.path, row]))
    const [row] = rows
    if (row) {
      // A word of a write that was refused may not be in the index.
      const written = writes.filter((write) => byPath.has(write.address.path)).map(({ words }) => words)
      const { index_id: id } = row
      remember(
        { caches },
        baseId,
        id,
        indexId === id ? common(unknown, written) : [...new Set(written.flat())],
      )
    }
    return writes.map((write) => byPath.get(write.address.path))
  },
}

/** Where each content starts among those of all writes, from 1. */
function startsOf(writes: readonly FileWrite[]): number[] {
  let next = 1
  return writes.map(({ content: { size } }) => {
    next += size
    return next - size
  })
}

/** Those of the words that the texts have. */
function common(words: readonly string[], texts: readonly (readonly string[])[]): string[] {
  if (words.length === 0) return []
  const present = new Set(texts.flat())
  return words.filter((word) => present.has(word))
}

/** Writes a file in the shared statement; undefined if it needs the transaction of `put.ts`. */
export async function putByFastPath(
  scope: WriteScope,
  address: FileAddress,
  { storage }: FilePolicy,
  content: Content,
  expected: FileExpectation,
): Promise<File | undefined> {
  const isBound =
    expected.versions !== null || expected.contents !== null || expected.exists || expected.absent
  const { bytes } = content
  if (scope.db.isTransaction || isBound || !bytes || !isRow(content)) return undefined
  const folded = foldText(entryOf(address.path, content.text))
  const write: FileWrite = {
    address,
    storage,
    content: { ...content, bytes },
    folded,
    words: wordsOf(folded),
    author: authorship(scope),
    caches: scope.caches,
  }
  const row = await scope.db.retry(() => scope.batching.write(WRITE, write))
  return row && { ...toFile(row), operation: `${row.operation}d` }
}
