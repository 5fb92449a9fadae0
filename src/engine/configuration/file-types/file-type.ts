/** File types as a kind of configuration. */
import type { z } from 'zod'
import { type FileStorage, FileTypeBody } from '../../../contract/file-shapes.ts'
import { detailsThrownBy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { FileType as Row } from '../../prisma/client.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { droppedProperties } from '../record-types/dropped-properties.ts'
import { checkFiles, deleteFilesOf } from './delete-files.ts'

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
