import { DomainError, oneFault, withPaths } from '../../foundation/errors.ts'
import { deleteRows } from '../configuration/cascade/delete-rows.ts'
import { type CascadedRecord, lockCascade, rootsOf } from '../configuration/cascade/find-cascade.ts'
import { findRestricting, limitLinks } from '../configuration/cascade/restrict.ts'
import { summarizeRecords } from '../configuration/cascade/summarize.ts'
import { requireType } from '../configuration/record-types/read.ts'
import { authorize, policyOn } from '../core/row-policy/apply.ts'
import { authorship, type Scope } from '../core/scope.ts'
import { type Expectation, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { recordNotFound } from '../data/ledger/record.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { areWithin } from './query/policy-read.ts'
import { absentRecord } from './relationships/missing-ends.ts'

type RecordToDelete = { recordType: string; id: string; expected: Expectation }
/** A deleted record; `version` is that of its last log entry. */
type DeletedRecord = { recordType: string; id: string; version: number }

const FIND = statement(
  'find_records_to_delete',
  `SELECT i.n::int - 1 AS n, r.row_no::text
   FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) WITH ORDINALITY AS i (record_type, id, n)
   CROSS JOIN LATERAL (
     SELECT row_no FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = i.record_type COLLATE "C" AND r.id = i.id COLLATE "C" LIMIT 1) r`,
)

/**
 * Deletes distinct records and cascades over their links, atomically. Returns the deleted records: first the
 * targets in order, then the cascaded ones.
 * @throws NOT_FOUND or CONFLICT with details at `/<index of the target>/…`, for all targets that fail
 */
export async function deleteRecords(
  scope: WriteScope,
  baseId: string,
  targets: readonly RecordToDelete[],
): Promise<DeletedRecord[]> {
  for (const type of new Set(targets.map(({ recordType }) => recordType))) {
    authorize(scope, 'write', baseId, type)
    await requireType(scope, baseId, type)
  }
  return scope.db.transaction(async (tx) => {
    const rows = await findRows(tx, baseId, targets)
    const roots = rows.filter((row) => row !== undefined)
    const cascaded = new Map((await lockCascade(tx, baseId, roots)).map((each) => [each.rowNo, each]))
    const found = rows.map((row) => (row === undefined ? undefined : cascaded.get(row)))
    const [only, ...others] = targets
    // Of one record, the error knows its id if the external id was sent.
    if (only && others.length === 0 && !found[0])
      refuse([await absentRecord({ ...scope, db: tx }, baseId, only.recordType, only.id)])
    refuse(targets.map((target, index) => faultOf(target, found[index])))
    await limitLinks(tx, [...cascaded.values()])
    await refuseOutsidePolicy({ ...scope, db: tx }, baseId, [...cascaded.values()])
    const rootOf = await rootsOf(tx, baseId, roots, [...cascaded.values()])
    const standing = await findRestricting(tx, { access: scope.access, baseId }, rootOf)
    refuse(roots.map((root) => standing.get(root)))
    const ordered = [...new Set([...roots.flatMap((root) => cascaded.get(root) ?? []), ...cascaded.values()])]
    await summarizeRecords({ ...scope, db: tx }, baseId, ordered)
    await deleteRows(tx, baseId, ordered, rootOf, authorship(scope))
    return ordered.map(({ recordType, id, version }) => ({ recordType, id, version: version + 1 }))
  })
}

async function findRows(
  tx: Db,
  baseId: string,
  targets: readonly RecordToDelete[],
): Promise<(string | undefined)[]> {
  const types = targets.map(({ recordType }) => recordType)
  const found = await tx.query<{ n: number; row_no: string }>(FIND, [
    baseId,
    types,
    targets.map(({ id }) => id),
  ])
  const rows: (string | undefined)[] = new Array(targets.length).fill(undefined)
  for (const { n, row_no } of found) rows[n] = row_no
  return rows
}

function faultOf({ recordType, id, expected }: RecordToDelete, locked: CascadedRecord | undefined) {
  if (!locked) return recordNotFound(recordType, id)
  const { versions } = expected
  return versions && !versions.includes(locked.version)
    ? versionMismatch(locked.version, versions)
    : undefined
}

/** Throws the first error, with the details of all errors under the index of their target. */
function refuse(faults: readonly (DomainError | undefined)[]): void {
  const located = faults.flatMap((fault, index) => {
    const moved = fault && withPaths(fault, (path) => `/${index}${path}`)
    return moved instanceof DomainError ? [moved] : []
  })
  const [first] = located
  if (first)
    throw new DomainError(first.code, first.message, { details: located.flatMap(({ details }) => details) })
}

/**
 * Checks a deletion under a row policy.
 * @throws FORBIDDEN when it cascades to other records
 */
async function refuseOutsidePolicy(
  scope: Scope,
  baseId: string,
  cascaded: readonly CascadedRecord[],
): Promise<void> {
  if (!scope.policy) return
  for (const [recordType, records] of Map.groupBy(cascaded, (each) => each.recordType)) {
    if (scope.access.allows('write', baseId, recordType)) continue
    const policy = policyOn(scope, baseId, recordType)
    if (!policy || !scope.policy.access.allows('write', baseId, recordType)) throw cascadesOutsidePolicy()
    const type = await requireType(scope, baseId, recordType)
    const ids = records.map(({ id }) => id)
    if (!(await areWithin(scope, policy.filter, type, ids))) throw cascadesOutsidePolicy()
  }
}

const cascadesOutsidePolicy = () =>
  oneFault(
    'FORBIDDEN',
    'The deletion would cascade to records that this endpoint has no access to. Nothing was deleted.',
    {
      path: '/id',
      code: 'out_of_bounds',
      message: 'Delete it at an address with access to these records too.',
    },
  )
