/** Version history of configuration, read from the change log. */
import { productionOf } from '../../../contract/ids.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { mapInTurns } from '../../../foundation/event-loop-turns.ts'
import { ACCOUNT } from '../../core/append-change.ts'
import { cursorsOf, openCursor } from '../../core/cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from '../../core/page.ts'
import { read, readPageRows, viewerOf } from '../../core/scope.ts'
import { AUTHOR, type Change, type ChangeRow, callFor, mayRead, toChange } from '../../log/entry.ts'
import { type Db, statement, timed } from '../../storage/database/client.ts'
import { type Kind, nounOf, type ResourceAddress, type Stored, type View } from './kind.ts'
import { missing, rightsTo } from './read.ts'

const ENTRIES = `FROM plinth.change
     WHERE kind NOT IN ('record', 'relationship') AND base_id = $1 AND kind = $2 AND id = $3`

/** Entries before `$4`, newest first: a page, plus one for the diff of its last entry. */
const LIST_VERSIONS = timed(
  statement(
    'list_configuration_versions',
    `SELECT seq::float8 AS seq, at, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, ${AUTHOR}, request_id, call, cause ${ENTRIES} AND ($4::bigint IS NULL OR seq < $4)
     ORDER BY change.seq DESC LIMIT $5 OFFSET $6`,
  ),
)
const SPAN = statement(
  'span_of_configuration_versions',
  `SELECT count(*)::int AS total, min(version) AS first, max(version) AS last ${ENTRIES}`,
)
// Logs of earlier releases may repeat a version after a deletion. The last entry counts.
const GET_VERSION = statement(
  'get_configuration_version',
  `SELECT operation, data ${ENTRIES} AND version = $4 ORDER BY seq DESC LIMIT 1`,
)
/**
 * The last version of a resource, by expressions for what it is, and for the ids of its base and of that of which this is a preview.
 * A base has its log until it is deleted. Its deletion, and that of a preview with it, has the highest version of all.
 */
export const lastVersionOf = (base: string, kind: string, id: string, bases: string): string => `greatest((
     SELECT version FROM plinth.change
     WHERE kind NOT IN ('record', 'relationship') AND base_id = ${base} AND kind = ${kind} AND id = ${id} COLLATE "C"
     ORDER BY seq DESC LIMIT 1), (
     SELECT max(c.version) FROM unnest((SELECT ${bases}::text[])) AS b (id) CROSS JOIN LATERAL (
       SELECT version FROM plinth.change
       WHERE kind NOT IN ('record', 'relationship') AND base_id = '${ACCOUNT}' AND kind = 'base' AND id = b.id COLLATE "C"
       ORDER BY seq DESC LIMIT 1) c), 0)`
const LAST_VERSIONS = statement(
  'last_configuration_versions',
  `SELECT k.id, ${lastVersionOf('$1', '$2', 'k.id', '$4')} AS version FROM unnest((SELECT $3::text[])) AS k (id)`,
)

type Span = { total: number; first: number; last: number }

/**
 * Lists the retained versions, newest first, also of a deleted resource. Omits versions that name types the
 * token may not read.
 */
export async function history<F extends object, R extends Stored>(
  address: ResourceAddress<F, R>,
  args: PageArgs,
): Promise<Page<Change>> {
  const { kind, scope, baseId, id } = address
  rightsTo(kind).read(scope, baseId, id)
  const page = readPage(args)
  const key = [baseId, kind.name, id]
  const boundTo = ['history', ...key, scope.access.grants]
  const before = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor).values[0] : null
  const asked = [...key, before, page.limit + 1, page.offset]
  const { rows, isCut } = await readPageRows<ChangeRow>(scope, LIST_VERSIONS, asked, { atLeast: 2 })
  const needsCount = page.includeTotal || rows.length === 0
  const [span] = needsCount ? await read<Span>(scope, SPAN, key) : []
  if (span?.total === 0) throw await missing(address)
  const shown = isCut ? rows.slice(0, -1) : rows
  const found = toPage(shown, page, page.includeTotal ? (span?.total ?? null) : null, isCut)
  const changes = await mapInTurns(found.data, (row, i) =>
    callFor(viewerOf(scope), baseId, toChange({ ...row, before: rows[i + 1] ?? null })),
  )
  const visible = changes.filter((change) => mayRead(scope.access, baseId, change))
  if (changes.length > 0 && visible.length === 0) throw await missing(address)
  const positions = cursorsOf(scope.keys.cursor, boundTo, found, ({ seq }) => ({ id, values: [seq] }))
  return { ...found, ...positions, data: visible }
}

/**
 * Reads the resource at a version.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR
 */
export async function getVersion<F extends object, R extends Stored>(
  address: ResourceAddress<F, R>,
  version: number,
): Promise<View<F>> {
  const { kind, scope, baseId, id } = address
  const rights = rightsTo(kind)
  rights.read(scope, baseId, id)
  if (version < 1) throw outOfRange(version)
  const key = [baseId, kind.name, id]
  const [entry] = await scope.db.query<{ operation: string; data: object | null }>(GET_VERSION, [
    ...key,
    version,
  ])
  if (entry?.data && entry.operation !== 'delete') {
    // Fields that were added later have their defaults.
    const view = rights.shown(scope, { ...kind.defaults(id), ...entry.data } as View<F>)
    if (view) return view
    throw await missing(address)
  }
  const [span] = await scope.db.query<Span>(SPAN, key)
  if (!span || span.total === 0) throw await missing(address)
  throw entry ? isDeletion(kind, id, version) : noSuchVersion(kind, id, version, span)
}

/**
 * Last versions of resource ids, also after their deletion, or that of the base. Versions go on from there, so that
 * an old ETag never matches a resource of the same id. 0 for one that never existed.
 */
export async function lastVersions(
  db: Db,
  { name }: Pick<Kind, 'name'>,
  baseId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const values = [baseId, name, ids, [baseId, productionOf(baseId)]]
  const rows = await db.query<{ id: string; version: number }>(LAST_VERSIONS, values)
  return new Map(rows.map(({ id, version }) => [id, version]))
}

const outOfRange = (received: number) =>
  invalid({
    path: '/version',
    code: 'out_of_range',
    message: 'Versions count from 1. Send the number of a version in the history.',
    received,
  })

const isDeletion = (kind: Kind, id: string, version: number) =>
  absent(`Version ${version} of ${nounOf(kind)} "${id}" is its deletion.`, {
    path: '/version',
    code: 'version_deleted',
    message: `Read version ${version - 1}, which is what was deleted.`,
    hint: String(version - 1),
  })

const noSuchVersion = (kind: Kind, id: string, received: number, { first, last }: Span) =>
  absent(`There is no version ${received} of ${nounOf(kind)} "${id}".`, {
    path: '/version',
    code: 'version_not_found',
    message: `Send a version from ${first} to ${last}; the history of the ${nounOf(kind)} lists them.`,
    received,
    expected: { from: first, to: last },
  })

const absent = (message: string, detail: Detail) =>
  new DomainError('NOT_FOUND', message, { details: [detail] })
