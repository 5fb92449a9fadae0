import { DomainError, withPaths } from '../../foundation/errors.ts'
import { deleteRows } from '../cascade/delete-rows.ts'
import { type CascadedRecord, lockCascade, rootsOf } from '../cascade/find-cascade.ts'
import { findRestricting, limitLinks } from '../cascade/restrict.ts'
import { summarizeRecords } from '../cascade/summarize.ts'
import { requireType } from '../configuration/record-types/read.ts'
import { authorship, type Scope } from '../core/scope.ts'
import { type Db, statement } from '../database/client.ts'
import { areWithin } from '../query/policy-read.ts'
import { recordNotFound } from '../record-store/record.ts'
import { authorize, policyOn } from '../row-policy/apply.ts'
import { type Expectation, versionMismatch } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'

type DeleteTarget = { recordType: string; id: string; expected: Expectation }
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
  targets: readonly DeleteTarget[],
): Promise<DeletedRecord[]> {
  for (const type of new Set(targets.map(({ recordType }) => recordType))) {
    authorize(scope, 'write', baseId, type)
    await requireType(scope, baseId, type)
  }
  return scope.db.transaction(async (tx) => {
    const rows = await findRows(tx, baseId, targets)
    const roots = rows.filter((row) => row !== undefined)
    const going = new Map((await lockCascade(tx, baseId, roots)).map((each) => [each.rowNo, each]))
    const found = rows.map((row) => (row === undefined ? undefined : going.get(row)))
    refuse(targets.map((target, index) => faultOf(target, found[index])))
    await limitLinks(tx, [...going.values()])
    await refuseOutsidePolicy({ ...scope, db: tx }, baseId, [...going.values()])
    const rootOf = await rootsOf(tx, baseId, roots, [...going.values()])
    const standing = await findRestricting(tx, { access: scope.access, baseId }, rootOf)
    refuse(roots.map((root) => standing.get(root)))
    const ordered = [...new Set([...roots.flatMap((root) => going.get(root) ?? []), ...going.values()])]
    await summarizeRecords({ ...scope, db: tx }, baseId, ordered)
    await deleteRows(tx, baseId, ordered, rootOf, authorship(scope))
    return ordered.map(({ recordType, id, version }) => ({ recordType, id, version: version + 1 }))
  })
}

async function findRows(
  tx: Db,
  baseId: string,
  targets: readonly DeleteTarget[],
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

function faultOf({ recordType, id, expected }: DeleteTarget, held: CascadedRecord | undefined) {
  if (!held) return recordNotFound(recordType, id)
  const { versions } = expected
  return versions && !versions.includes(held.version) ? versionMismatch(held.version, versions) : undefined
}

/** Throws the first error, with the details of all errors under the index of their target. */
function refuse(faults: readonly (DomainError | undefined)[]): void {
  const placed = faults.flatMap((fault, index) => {
    const moved = fault && withPaths(fault, (path) => `/${index}${path}`)
    return moved instanceof DomainError ? [moved] : []
  })
  const [first] = placed
  if (first)
    throw new DomainError(first.code, first.message, { details: placed.flatMap(({ details }) => details) })
}

/**
 * Checks a deletion under a row policy.
 * @throws FORBIDDEN when it cascades to other records
 */
async function refuseOutsidePolicy(
  scope: Scope,
  baseId: string,
  going: readonly CascadedRecord[],
): Promise<void> {
  if (!scope.policy) return
  for (const [recordType, records] of Map.groupBy(going, (each) => each.recordType)) {
    if (scope.access.allows('write', baseId, recordType)) continue
    const policy = policyOn(scope, baseId, recordType)
    if (!policy || !scope.policy.access.allows('write', baseId, recordType)) throw takesOthers()
    const type = await requireType(scope, baseId, recordType)
    const ids = records.map(({ id }) => id)
    if (!(await areWithin(scope, policy, type, ids))) throw takesOthers()
  }
}

const takesOthers = () =>
  new DomainError(
    'FORBIDDEN',
    'The deletion would cascade to records that this endpoint has no access to. Nothing was deleted.',
    {
      details: [
        {
          path: '/id',
          code: 'out_of_bounds',
          message: 'Delete it at an address with access to these records too.',
        },
      ],
    },
  )
