/** Finds a file by its path. */
import { readFilePath } from '../../contract/file-path.ts'
import { type DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { read, type Scope } from '../core/scope.ts'
import { type Db, statement, timed } from '../storage/database/client.ts'
import { FILE_COLUMNS, type FileRow } from './file.ts'
import type { Place } from './policy.ts'

/** A file, as a request addresses it. */
export type FileAddress = Place & { readonly path: string }

const FIND_FILE = timed(
  statement(
    'find_file',
    `SELECT ${FILE_COLUMNS} FROM plinth.file
     WHERE base_id = $1 AND file_type = $2 AND path = $3 AND deleted_at IS NULL`,
  ),
)
const LOCK_FILE = timed(statement('lock_file', `${FIND_FILE.text} FOR NO KEY UPDATE`))

/** @throws NOT_FOUND */
export async function findFile(scope: Scope, address: FileAddress): Promise<FileRow> {
  const [row] = await read<FileRow>(scope, FIND_FILE, keyOf(address))
  if (!row) throw fileNotFound(address.path)
  return row
}

/** The file, locked until the transaction ends; undefined if there is none. */
export const lockFile = async (tx: Db, address: FileAddress): Promise<FileRow | undefined> =>
  (await tx.query<FileRow>(LOCK_FILE, keyOf(address)))[0]

export const keyOf = ({ baseId, fileType, path }: FileAddress) => [baseId, fileType, path] as const

/**
 * The path in its canonical form.
 * @throws VALIDATION_ERROR
 */
export function requirePath(text: string, at = '/path'): string {
  const found = readFilePath(text)
  if ('path' in found) return found.path
  throw invalid({ path: at, code: 'invalid_path', message: found.fault })
}

export const fileNotFound = (path: string): DomainError =>
  oneFault('NOT_FOUND', `There is no file "${path}".`, {
    path: '/path',
    code: 'file_not_found',
    message: 'List the files of the type, or send this one first.',
  })

/** Error for a path that another file has. */
export const pathTaken = (path: string) =>
  oneFault('CONFLICT', `There is already a file "${path}".`, {
    path: '/path',
    code: 'exists',
    message: 'Delete or move that file first, or choose another path.',
  })
