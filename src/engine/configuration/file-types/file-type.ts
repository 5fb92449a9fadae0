/** File types as a kind of configuration. */
import type { z } from 'zod'
import { type FileStorage, FileTypeBody } from '../../../contract/file-shapes.ts'
import { DomainError, detailsThrownBy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { authorship, type Scope } from '../../core/scope.ts'
import { addCounts, addNamed, type Counted } from '../../core/write/deletion-summary.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { authorAt, logResources } from '../../log/log-rows.ts'
import type { FileType as Row } from '../../prisma/client.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { DataCheck, DeleteOptions, FieldsOf, Found, Kind } from '../lifecycle/kind.ts'
import { lockType } from '../lifecycle/lock.ts'
import { droppedProperties } from '../record-types/dropped-properties.ts'

const HAS_FILES = statement(
  'type_holds_files',
  'SELECT 1 AS one FROM plinth.file WHERE base_id = $1 AND file_type = $2 AND deleted_at IS NULL LIMIT 1',
)
const COUNT_FILES = statement(
  'count_files_of_type',
  `SELECT $2::text AS type, count(*)::int AS count FROM plinth.file
   WHERE base_id = $1 AND file_type = $2 AND deleted_at IS NULL`,
)
// The deletion of each file is logged before that of the type.
const DELETE_FILES = statement(
  'delete_type_files',
  `WITH gone AS (
     UPDATE plinth.file SET deleted_at = now() WHERE base_id = $1 AND file_type = $2 AND deleted_at IS NULL RETURNING *),
   unindexed AS (
     DELETE FROM plinth.record_text WHERE base_id = $1 AND index_id = (SELECT file_index_id FROM plinth.base WHERE id = $1)
       AND field = 0 AND id = ANY (ARRAY(SELECT id FROM gone)))
   ${logResources({
     ...{
       kind: "'file'",
       id: "file_type || '/' || path",
       operation: "'delete'",
       author: authorAt(3),
       from: 'gone',
     },
     data: `jsonb_build_object(
     'path', path, 'fileType', file_type, 'version', version, 'contentSha256', content_sha256, 'size', size,
     'contentType', content_type, 'metadata', metadata, 'label', label,
     'createdAt', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
     'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
   })}`,
)

/** Deletes the files of the type with their log entries. Existing files require the type's id in `confirm`. */
async function deleteFilesOf(
  scope: WriteScope,
  current: Row,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db, summary } = scope
  const { baseId, id } = current
  await lockType(db, 'file_type', baseId, id)
  if (!scope.planning && confirm !== id) await refuseFiles(db, current)
  if (summary) {
    addNamed(summary, 'fileTypes', current)
    addCounts(summary, 'files', await db.query<Counted>(COUNT_FILES, [baseId, id]))
  }
  checkPlan()
  await db.query(DELETE_FILES, [baseId, id, ...authorship(scope)])
}

/** Checks that types which are deleted have no files. A change of a type leaves its files as they are. */
async function checkFiles(
  { db }: Scope,
  baseId: string,
  checks: readonly DataCheck<object>[],
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { id, next } of checks)
    try {
      if (next === null) await refuseFiles(db, { baseId, id })
      found.push({})
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      found.push({ fault: thrown })
    }
  return found
}

/** @throws CONFLICT when the type has files */
async function refuseFiles(db: Db, { baseId, id }: { baseId: string; id: string }): Promise<void> {
  if ((await db.query(HAS_FILES, [baseId, id])).length > 0)
    throw confirmFirst(id, `File type "${id}" has files`, "the type's")
}

/** The storage policy of a file type, with every member set. */
export type Storage = {
  [Name in keyof z.output<typeof FileStorage>]-?: Exclude<z.output<typeof FileStorage>[Name], undefined>
}
type Fields = Omit<FieldsOf<typeof FileTypeBody>, 'storage' | 'metadataSchema'> & {
  storage: Storage
  metadataSchema: object
}

const DEFAULT_STORAGE: Storage = {
  max_bytes: LIMITS.fileBytes,
  content_types: [],
  keep_versions: null,
  immutable: false,
}

/** File types: what a group of files stores, and the schema of their metadata. */
export const FILE_TYPE: Kind<Fields, Row> = {
  name: 'file_type',
  label: 'a file type',
  codes: { notFound: 'file_type_not_found', unknown: 'unknown_file_type' },
  body: FileTypeBody,
  defaults: (id) => ({ name: id, description: null, storage: DEFAULT_STORAGE, metadataSchema: {} }),
  table: ({ orm }) => orm.fileType,
  normalize: (fields) => ({
    ...fields,
    storage: {
      max_bytes: fields.storage.max_bytes ?? DEFAULT_STORAGE.max_bytes,
      content_types: (fields.storage.content_types ?? []).map((type) => type.toLowerCase()),
      keep_versions: fields.storage.keep_versions ?? null,
      immutable: fields.storage.immutable ?? false,
    },
  }),
  warnings: (before, next) => [
    ...droppedProperties(before?.metadataSchema, next.metadataSchema).map(
      ({ name }) =>
        `The property "${name}" is no longer in metadata_schema. Files keep what they hold of it.`,
    ),
    ...compileSchema(next.metadataSchema, '/metadata_schema').warnings,
  ],
  // A policy holds for what is written from now on. Files that exist stay as they are.
  check: async (_loaded, { next }) => ({
    faults: detailsThrownBy(() => compileSchema(next.metadataSchema, '/metadata_schema')),
  }),
  checkData: checkFiles,
  beforeDelete: deleteFilesOf,
}
