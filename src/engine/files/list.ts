/** Lists files by path: all below a prefix, or the files and folders of some levels. */
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { isSoundText } from '../../json/parse.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import { read, readPageRows, type Scope } from '../core/scope.ts'
import { statement, timed } from '../storage/database/client.ts'
import { FILE_COLUMNS, type File, type FileRow, toFile } from './file.ts'
import { type Place, policyOf } from './policy.ts'

/** A file, or a folder whose path ends in "/". */
export type FileEntry = {
  readonly kind: 'file' | 'folder'
  readonly path: string
  readonly file: File | null
}

// U+10FFFF sorts after every character of a path, "0" directly after "/", and U+0001 before every character.
const LIVE = 'base_id = $1 AND file_type = $2 AND deleted_at IS NULL AND path < $3::text || chr(1114111)'
const LIST = timed(
  statement(
    'list_files',
    `SELECT path AS entry, false AS is_folder, ${FILE_COLUMNS} FROM plinth.file
     WHERE ${LIVE} AND path >= $4 ORDER BY path LIMIT $5 OFFSET $6`,
  ),
)
const COUNT = statement(
  'count_files',
  `SELECT count(*)::int AS total FROM plinth.file WHERE ${LIVE} AND path >= $3`,
)

const nextPath = (from: string) =>
  `SELECT f.path FROM plinth.file f WHERE ${LIVE} AND f.path >= ${from} ORDER BY f.path LIMIT 1`
/** The entry of a path: the folder at level `$5`, or the file itself. */
const ENTRY = `SELECT CASE WHEN cardinality(p.parts) > $5::int THEN $3::text || array_to_string(p.parts[1:$5::int], '/') || '/' ELSE p.path END
    COLLATE "C" AS entry, cardinality(p.parts) > $5::int AS is_folder`
const PARTS = (paths: string) =>
  `(SELECT n.path, string_to_array(substr(n.path, length($3::text) + 1), '/') AS parts FROM (${paths}) n) p`
/** Walks over the entries. Skips the rest of a folder, so the cost is that of the entries, not of the files. */
const walk = (bound: string) => `WITH RECURSIVE walk (entry, is_folder, n) AS (
    SELECT e.entry, e.is_folder, 1 FROM ${PARTS(nextPath('$4'))} CROSS JOIN LATERAL (${ENTRY}) e
    UNION ALL
    SELECT e.entry, e.is_folder, w.n + 1 FROM walk w
    CROSS JOIN LATERAL ${PARTS(nextPath(`(CASE WHEN w.is_folder THEN left(w.entry, -1) || '0' ELSE w.entry || chr(1) END)`))}
    CROSS JOIN LATERAL (${ENTRY}) e ${bound})`
const LIST_LEVELS = timed(
  statement(
    'list_file_levels',
    `${walk('WHERE w.n < $6::int + $7::int')}
     SELECT w.entry, w.is_folder, f.* FROM walk w LEFT JOIN LATERAL (
       SELECT ${FILE_COLUMNS} FROM plinth.file WHERE NOT w.is_folder AND base_id = $1 AND file_type = $2
         AND path = w.entry AND deleted_at IS NULL) f ON true
     WHERE w.n > $7::int ORDER BY w.n`,
  ),
)
const COUNT_LEVELS = statement('count_file_levels', `${walk('')} SELECT count(*)::int AS total FROM walk`)

export type ListArgs = PageArgs & { prefix?: string | null | undefined; depth?: number | null | undefined }
type Row = FileRow & { entry: string; is_folder: boolean }

/**
 * Lists the files of a type in the order of their paths. With `depth`, folders replace the files that are deeper.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function listFiles(scope: Scope, place: Place, args: ListArgs): Promise<Page<FileEntry>> {
  await policyOf(scope, 'read', place)
  const page = readPage(args)
  const prefix = readPrefix(args.prefix ?? '')
  const depth = readDepth(args.depth ?? null)
  const boundTo = ['files', place, prefix, depth, scope.access.grants]
  const last = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor).id : null
  const of = [place.baseId, place.fileType, prefix]
  const from = last === null ? prefix : after(last)
  const [{ rows, isCut }, [count]] = await Promise.all([
    readEntries(scope, { ...place, prefix, from, depth, take: page.limit + 1, skip: page.offset }),
    !page.includeTotal
      ? []
      : depth === null
        ? read<{ total: number }>(scope, COUNT, of)
        : read<{ total: number }>(scope, COUNT_LEVELS, [...of, prefix, depth]),
  ])
  const found = toPage(rows, page, count?.total ?? null, isCut)
  const positionOf = ({ path }: FileEntry) => ({ id: path, values: [] })
  return { ...found, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
}

type EntryRange = Place & { prefix: string; from: string; depth: number | null; take: number; skip: number }

/** Reads entries below a prefix, from a text on. `isCut` if they reached the byte limit of the page. */
export async function readEntries(
  scope: Scope,
  { baseId, fileType, prefix, from, depth, take, skip }: EntryRange,
): Promise<{ rows: FileEntry[]; isCut: boolean }> {
  const of = [baseId, fileType, prefix, from]
  const { rows, isCut } =
    depth === null
      ? await readPageRows<Row>(scope, LIST, [...of, take, skip])
      : await readPageRows<Row>(scope, LIST_LEVELS, [...of, depth, take, skip])
  return { rows: rows.map(toEntry), isCut }
}

/** The first text that sorts after the entry and everything in it. */
export const after = (entry: string): string =>
  entry.endsWith('/') ? `${entry.slice(0, -1)}0` : `${entry}\u0001`

const toEntry = (row: Row): FileEntry =>
  row.is_folder
    ? { kind: 'folder', path: row.entry, file: null }
    : { kind: 'file', path: row.entry, file: toFile(row) }

/** Bytes of a prefix: a path, and a file type before it. */
const PREFIX_BYTES = LIMITS.filePathBytes + 65

/** @throws VALIDATION_ERROR */
export function readPrefix(text: string, at = '/prefix'): string {
  const prefix = text.normalize('NFC')
  if (isSoundText(prefix) && Buffer.byteLength(prefix) <= PREFIX_BYTES) return prefix
  const message = `A prefix must be well-formed Unicode of at most ${PREFIX_BYTES} bytes.`
  throw invalid({ path: at, code: 'invalid_path', message })
}

function readDepth(depth: number | null): number | null {
  if (depth === null || (depth >= 1 && depth <= LIMITS.filePathBytes)) return depth
  const message = `depth must be a whole number from 1 to ${LIMITS.filePathBytes}.`
  throw invalid({ path: '/depth', code: 'out_of_range', message, received: depth })
}
