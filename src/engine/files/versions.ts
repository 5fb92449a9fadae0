/** Content versions of a file. */
import { invalid, oneFault } from '../../foundation/errors.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import { read, readPageRows, type Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { type Db, statement, timed } from '../storage/database/client.ts'
import type { FileRow } from './file.ts'
import { type FileAddress, findFile, requirePath } from './find.ts'
import { policyOf } from './policy.ts'

const ADD_VERSION = statement(
  'add_file_version',
  `INSERT INTO plinth.file_version (base_id, file_id, version, content_sha256, size, content_type, label, created_by)
   VALUES ($1, $2, $3, $4, $5::bigint, $6, $7, $8)`,
)
const DROP_VERSIONS = statement(
  'drop_file_versions',
  'DELETE FROM plinth.file_version WHERE base_id = $1 AND file_id = $2 AND version <= $3',
)
const RELABEL = statement(
  'relabel_file_version',
  'UPDATE plinth.file_version SET content_type = $4, label = $5 WHERE base_id = $1 AND file_id = $2 AND version = $3',
)
const COLUMNS =
  'version, content_sha256, size::float8 AS size, content_type, label, created_at, created_by FROM plinth.file_version'
const LIST_VERSIONS = timed(
  statement(
    'list_file_versions',
    `SELECT ${COLUMNS} WHERE base_id = $1 AND file_id = $2 AND ($3::int IS NULL OR version < $3)
     ORDER BY version DESC LIMIT $4 OFFSET $5`,
  ),
)
const COUNT_VERSIONS = statement(
  'count_file_versions',
  `SELECT count(*)::int AS total, min(version) AS first FROM plinth.file_version WHERE base_id = $1 AND file_id = $2`,
)
const GET_VERSION = timed(
  statement('get_file_version', `SELECT ${COLUMNS} WHERE base_id = $1 AND file_id = $2 AND version = $3`),
)

type VersionRow = {
  version: number
  content_sha256: string
  size: number
  content_type: string
  label: string | null
  created_at: string
  created_by: string
}

/** A content version as returned by all surfaces. */
export type FileVersion = {
  readonly version: number
  readonly contentSha256: string
  readonly size: number
  readonly contentType: string
  readonly label: string | null
  readonly createdAt: string
  readonly createdBy: string
}

const toVersion = (row: VersionRow): FileVersion => ({
  version: row.version,
  contentSha256: row.content_sha256,
  size: row.size,
  contentType: row.content_type,
  label: row.label,
  createdAt: row.created_at,
  createdBy: row.created_by,
})

/** Adds the content of a file as its newest version, and drops the oldest ones above the number to keep. */
export async function addVersion(
  { db, actor }: WriteScope,
  baseId: string,
  file: FileRow,
  keep: number | null,
): Promise<void> {
  const { id, version, content_sha256, size, content_type, label } = file
  const values = [baseId, id, version, content_sha256, size, content_type, label, actor.tokenId ?? actor.name]
  await db.query(ADD_VERSION, values)
  if (keep !== null && version > keep) await db.query(DROP_VERSIONS, [baseId, id, version - keep])
}

/** Writes the type and the label of a file to its current version. */
export const relabelVersion = async (tx: Db, baseId: string, file: FileRow): Promise<void> =>
  void (await tx.query(RELABEL, [baseId, file.id, file.version, file.content_type, file.label]))

/**
 * Lists the content versions that are kept, newest first.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function fileVersions(
  scope: Scope,
  address: FileAddress,
  args: PageArgs,
): Promise<Page<FileVersion>> {
  const file = await requireFile(scope, address)
  const page = readPage(args)
  const boundTo = ['file versions', address.baseId, file.id, scope.access.grants]
  const before = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor).values[0] : null
  const values = [address.baseId, file.id, before, page.limit + 1, page.offset]
  const { rows, isCut } = await readPageRows<VersionRow>(scope, LIST_VERSIONS, values)
  const [count] = page.includeTotal
    ? await read<{ total: number }>(scope, COUNT_VERSIONS, [address.baseId, file.id])
    : []
  const found = toPage(rows.map(toVersion), page, count?.total ?? null, isCut)
  const positionOf = ({ version }: FileVersion) => ({ id: file.id, values: [version] })
  return { ...found, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
}

/** @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR */
export async function requireFile(scope: Scope, { path, ...place }: FileAddress): Promise<FileRow> {
  await policyOf(scope, 'read', place)
  return findFile(scope, { ...place, path: requirePath(path) })
}

/** @throws NOT_FOUND; VALIDATION_ERROR */
export async function requireVersion(
  scope: Scope,
  baseId: string,
  file: FileRow,
  version: number,
  at = '/version',
): Promise<FileVersion> {
  if (version < 1)
    throw invalid({
      path: at,
      code: 'out_of_range',
      message: 'Versions count from 1. Send the number of a version of the file.',
    })
  const [row] = await read<VersionRow>(scope, GET_VERSION, [baseId, file.id, version])
  if (row) return toVersion(row)
  const [kept] = await read<{ first: number }>(scope, COUNT_VERSIONS, [baseId, file.id])
  const from = kept?.first ?? file.version
  throw oneFault('NOT_FOUND', `There is no version ${version} of file "${file.path}".`, {
    path: at,
    code: 'version_not_found',
    message: `Send a version from ${from} to ${file.version}; the history of the file lists them.`,
    received: version,
    expected: { from, to: file.version },
  })
}
