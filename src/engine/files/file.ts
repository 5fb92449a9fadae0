/** A file: its row, its form in responses, and its entries in the change log. */
import { digest } from '../../contract/canonical-hash.ts'
import { appendChange } from '../core/append-change.ts'
import type { Scope } from '../core/scope.ts'

/** A file as the statements of this folder select it. */
export type FileRow = {
  id: string
  file_type: string
  path: string
  version: number
  content_sha256: string
  size: number
  content_type: string
  metadata: Readonly<Record<string, unknown>>
  label: string | null
  created_at: string
  updated_at: string
}

/** Columns of `FileRow`. */
export const FILE_COLUMNS = `id, file_type, path, version, content_sha256, size::float8 AS size, content_type, metadata,
  label, created_at, updated_at`

const shown = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A file as returned by all surfaces. */
export type File = {
  readonly path: string
  readonly fileType: string
  /** Number of its content version. */
  readonly version: number
  readonly contentSha256: string
  readonly size: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly label: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly operation?: 'created' | 'updated' | 'unchanged'
}

export const toFile = (row: FileRow): File => ({
  path: row.path,
  fileType: row.file_type,
  version: row.version,
  contentSha256: row.content_sha256,
  size: row.size,
  contentType: row.content_type,
  metadata: row.metadata,
  label: row.label,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** The state of a file in the change log, as `toFile` makes it of a row. */
export const FILE_STATE = `jsonb_build_object('path', path, 'fileType', file_type, 'version', version,
  'contentSha256', content_sha256, 'size', size, 'contentType', content_type, 'metadata', metadata, 'label', label,
  'createdAt', ${shown('created_at')}, 'updatedAt', ${shown('updated_at')})`

/** Whether the file has these properties. */
export const hasProperties = (
  row: FileRow,
  { contentType, label, metadata }: Pick<File, 'contentType' | 'label' | 'metadata'>,
): boolean =>
  row.content_type === contentType && row.label === label && digest(row.metadata) === digest(metadata)

/** Id of a file in the change log. */
const logId = ({ file_type, path }: Pick<FileRow, 'file_type' | 'path'>): string => `${file_type}/${path}`

/** Logs a change of a file. `more` is kept in the entry beside the state. */
export const logFile = (
  scope: Scope,
  baseId: string,
  row: FileRow,
  operation: 'create' | 'update' | 'delete' | 'restore',
  more: object = {},
): Promise<void> =>
  appendChange(scope, {
    baseId,
    kind: 'file',
    id: logId(row),
    operation,
    version: row.version,
    state: { ...toFile(row), ...more },
  })
