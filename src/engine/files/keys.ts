/** Lists the files of all types of a base by their keys, `<file_type>/<path>`. */
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { requireBase } from '../core/existing-base.ts'
import { read, type Scope } from '../core/scope.ts'
import { requireFiles } from '../storage/access/access.ts'
import { statement } from '../storage/database/client.ts'
import type { File } from './file.ts'
import { after, readEntries, readPrefix } from './list.ts'

/** A file by its key, or a folder whose key ends in "/". */
type FileKey = {
  readonly key: string
  readonly file: File | null
}

/** `more` says whether there are keys after these. */
export type FileKeys = { readonly entries: readonly FileKey[]; readonly more: boolean }

export type KeyArgs = {
  prefix: string
  /** The keys after this one only. With folders, a key that ends in "/" is the folder with all its files. */
  after: string
  /** Whether folders replace the files that are deeper than the prefix. */
  folders: boolean
  limit: number
}

const FILE_TYPES = statement(
  'file_types_by_key',
  `SELECT id FROM plinth.file_type WHERE base_id = $1 AND starts_with(id || '/', $2) ORDER BY id || '/'`,
)

/**
 * Lists keys in the order of their bytes. Leaves out the file types that the caller may not read.
 * @throws FORBIDDEN if it may read none; NOT_FOUND without base; VALIDATION_ERROR
 */
export async function listKeys(scope: Scope, baseId: string, args: KeyArgs): Promise<FileKeys> {
  if (args.limit < 0 || args.limit > LIMITS.pageMax) throw badLimit(args.limit)
  const prefix = readPrefix(args.prefix)
  const last = readPrefix(args.after, '/after')
  const entries: FileKey[] = []
  for (const id of await fileTypesAt(scope, 'read', baseId, prefix)) {
    const left = args.limit - entries.length
    const root = `${id}/`
    const isFolder = args.folders && !prefix.startsWith(root)
    if (isFolder) {
      if (isBefore(last, root)) entries.push({ key: root, file: null })
    } else {
      const found = await keysOf(
        scope,
        { baseId, fileType: id },
        { ...args, prefix, after: last, limit: left },
      )
      entries.push(...found.entries)
      if (found.more) return { entries, more: true }
    }
    if (entries.length > args.limit) return { entries: entries.slice(0, args.limit), more: true }
  }
  return { entries, more: false }
}

/**
 * The file types whose keys can have the prefix and that the caller has the permission on, in the order of their keys.
 * @throws FORBIDDEN if there is none for lack of the permission; NOT_FOUND without base
 */
export async function fileTypesAt(
  scope: Scope,
  permission: 'read' | 'write',
  baseId: string,
  prefix: string,
): Promise<string[]> {
  const slash = prefix.indexOf('/')
  const ids =
    slash >= 0
      ? [prefix.slice(0, slash)]
      : (await read<{ id: string }>(scope, FILE_TYPES, [baseId, prefix])).map(({ id }) => id)
  const allowed = ids.filter((id) => scope.access.allowsFiles(permission, baseId, id))
  if (allowed.length === 0) {
    requireFiles(scope.access, permission, baseId, ids[0] ?? '')
    await requireBase(scope, baseId)
  }
  return allowed
}

async function keysOf(
  scope: Scope,
  place: { baseId: string; fileType: string },
  { prefix, after: last, folders, limit }: KeyArgs,
): Promise<FileKeys> {
  const root = `${place.fileType}/`
  const inType = prefix.startsWith(root) ? prefix.slice(root.length) : ''
  const from = startIn(root, inType, last, folders)
  if (from === undefined) return { entries: [], more: false }
  const { rows, isCut } = await readEntries(scope, {
    ...place,
    prefix: inType,
    from,
    depth: folders ? 1 : null,
    take: limit + 1,
    skip: 0,
  })
  const entries = rows.slice(0, limit).map(({ path, file }) => ({ key: root + path, file }))
  return { entries, more: isCut || rows.length > limit }
}

/** Where the list of a type starts; undefined if all of its keys come before. */
function startIn(root: string, prefix: string, last: string, folders: boolean): string | undefined {
  if (isBefore(last, root)) return prefix
  if (!last.startsWith(root)) return undefined
  const path = last.slice(root.length)
  if (path === '') return folders ? undefined : prefix
  const from = folders ? after(path) : `${path}\u0001`
  return isBefore(from, prefix) ? prefix : from
}

/** Whether a key comes before another, in the order of their bytes in UTF-8. */
const isBefore = (one: string, other: string): boolean =>
  Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0

const badLimit = (received: number) =>
  invalid({
    path: '/limit',
    code: 'out_of_range',
    message: `limit must be a whole number from 0 to ${LIMITS.pageMax}.`,
    received,
  })
