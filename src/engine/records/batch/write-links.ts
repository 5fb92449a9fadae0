import { DomainError } from '../../../foundation/errors.ts'
import { authorize } from '../../core/row-policy/apply.ts'
import { addLink } from '../../core/write/deletion-summary.ts'
import { checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import {
  deleteLinks,
  findLinksBetween,
  isLinkWithin,
  notLinked,
  RELATIONSHIP_COLUMNS,
  type RelationshipRow,
  relationshipNotFound,
  writeLinks,
} from '../relationships/index.ts'
import { collect } from './faults.ts'
import type { Failure, Id, LinkOperation } from './operation.ts'
import type { Outcome } from './outcome.ts'

type Upsert = Extract<LinkOperation, { type: 'upsert_relationship' }>
type Delete = Extract<LinkOperation, { type: 'delete_relationship' }>
type IdOf = (id: Id) => string

/** Upserts links in bulk; collects errors in `failures`. */
export async function upsertLinks(
  scope: WriteScope,
  baseId: string,
  operations: readonly Upsert[],
  idOf: IdOf,
  failures: Failure[],
): Promise<Outcome[]> {
  const links = operations.map(({ id, link, source, target }) => ({
    ...link,
    id: id === null ? null : idOf(id),
    source: { recordType: source.recordType, id: idOf(source.id) },
    target: { recordType: target.recordType, id: idOf(target.id) },
  }))
  const written = await writeLinks(scope, baseId, links)
  return operations.flatMap(({ index, type }, n): Outcome[] => {
    const link = written[n]
    if (!link || link instanceof DomainError) {
      if (link) failures.push({ index, error: link })
      return []
    }
    const { id, version, operation = 'unchanged', replaced } = link
    return [{ index, type, operation, id, version, record: null, ...(replaced && { replaced }) }]
  })
}

// Locks in the same order as every link writer, to prevent deadlocks.
const LOCK_LINKS = statement(
  'lock_links',
  `SELECT ${RELATIONSHIP_COLUMNS} FROM plinth.relationship
   WHERE base_id = $1 AND id = ANY ((SELECT $2::text[])::text[]) ORDER BY source_row, rel_type, target_row FOR UPDATE`,
)

/** Locks links by id; returns those that exist. */
export const lockLinks = (
  scope: WriteScope,
  baseId: string,
  ids: readonly string[],
): Promise<RelationshipRow[]> => scope.db.query<RelationshipRow>(LOCK_LINKS, [baseId, ids])

/** Deletes links in bulk, each at most once; collects errors in `failures`. */
export async function removeLinks(
  scope: WriteScope,
  baseId: string,
  operations: readonly Delete[],
  idOf: IdOf,
  failures: Failure[],
): Promise<Outcome[]> {
  const ids = await idsOf(scope, baseId, operations, idOf)
  const rows = await lockLinks(
    scope,
    baseId,
    ids.filter((id) => id !== null),
  )
  const byId = new Map<string, RelationshipRow>()
  for (const row of rows) if (await isLinkWithin(scope, baseId, row)) byId.set(row.id, row)
  const due = operations.flatMap((operation, n) => {
    const { index, type, expected, ends } = operation
    const id = ids[n] ?? ''
    const row = byId.get(id)
    // Another operation may name the same link by its id or its ends.
    byId.delete(id)
    const locked = collect(failures, index, () => {
      if (!row) throw ends ? notLinked(ends.relType) : relationshipNotFound(id)
      return checkRemovable(scope, baseId, row, expected)
    })
    return locked ? [{ index, type, id, locked }] : []
  })
  const { summary } = scope
  if (summary) for (const { locked } of due) addLink(summary, locked)
  const gone = await deleteLinks(
    scope,
    baseId,
    due.map(({ id }) => id),
  )
  const versions = new Map(gone.map(({ id, version }) => [id, version]))
  return due.map(({ index, type, id }) => {
    const version = versions.get(id) ?? 0
    return { index, type, operation: 'deleted', id, version, record: null }
  })
}

/** The ids of the links that operations name by id or by ends; null for one that does not exist. */
async function idsOf(
  scope: WriteScope,
  baseId: string,
  operations: readonly Delete[],
  idOf: IdOf,
): Promise<(string | null)[]> {
  const byEnds = operations.flatMap(({ ends }, n) => (ends ? [{ n, ends }] : []))
  const links = byEnds.map(({ ends: { relType, source, target } }) => ({
    relType,
    sourceRecordType: source.recordType,
    sourceId: idOf(source.id),
    targetRecordType: target.recordType,
    targetId: idOf(target.id),
  }))
  const found = await findLinksBetween(scope, baseId, links)
  const between = new Map(byEnds.map(({ n }, at) => [n, found[at] ?? null]))
  return operations.map(({ id }, n) => (id === null ? (between.get(n) ?? null) : idOf(id)))
}

function checkRemovable(
  scope: WriteScope,
  baseId: string,
  row: RelationshipRow,
  expected: Expectation,
): RelationshipRow {
  for (const recordType of [row.source_record_type, row.target_record_type])
    authorize(scope, 'write', baseId, recordType)
  checkVersion(expected, row.version, `relationship "${row.id}"`)
  return row
}
