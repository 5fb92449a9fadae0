/** Reads the records of a type in steps, for a check against a changed schema. */
import { LIMITS } from '../../../foundation/limits.ts'
import { pageWithin } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { statement } from '../../storage/database/client.ts'
import { type AffectedRecords, affectedValues, isAffected } from './affected-records.ts'
import type { PossiblyInvalid } from './possibly-invalid-records.ts'

export type ExistingRow = { readonly id: string; readonly data: unknown; readonly valid: boolean }

// OFFSET makes the condition a filter of rows in order, so that a step ends at its limit, with any planner statistics.
const NEXT = statement(
  'reconcile_next',
  pageWithin(
    'id',
    `SELECT id, data, valid FROM (
       SELECT id, data, valid FROM plinth.record
       WHERE base_id = $1 AND record_type = $2 AND id > $3 ORDER BY id OFFSET 0) s
     WHERE ${isAffected(5)} LIMIT ${LIMITS.recheckedStep}`,
    '$4',
  ),
)
// LATERAL with OFFSET reads each row by its key, with any planner statistics.
const NAMED = statement(
  'reconcile_named',
  pageWithin(
    'id',
    `SELECT r.id, r.data, r.valid FROM unnest((SELECT $5::text[])) AS k (id) CROSS JOIN LATERAL (
       SELECT id, data, valid FROM plinth.record
       WHERE base_id = $1 AND record_type = $2 AND id = k.id COLLATE "C" AND id > $3 OFFSET 0) r
     ORDER BY r.id LIMIT ${LIMITS.recheckedStep}`,
    '$4',
  ),
)

type Type = { readonly baseId: string; readonly id: string }

/** The affected records of a type, in steps that are bounded in rows and bytes. `suspects` are those of its base. */
export async function* recordsOf(
  scope: Scope,
  type: Type,
  affected: AffectedRecords,
  suspects: PossiblyInvalid,
): AsyncGenerator<ExistingRow[]> {
  if (affected === 'none') return
  const ids = affected === 'all' ? null : suspects.get(type.id)
  if (ids !== null) {
    yield* recordsNamed(scope, type, ids ?? [])
    return
  }
  yield* steps((after) =>
    read<ExistingRow>(scope, NEXT, [
      ...[type.baseId, type.id, after, scope.limits.recordBytes],
      ...affectedValues(affected),
    ]),
  )
}

/** The records of a type that have these ids. */
export async function* recordsNamed(
  scope: Scope,
  type: Type,
  ids: readonly string[],
): AsyncGenerator<ExistingRow[]> {
  const sorted = [...ids].sort()
  for (let from = 0; from < sorted.length; from += LIMITS.recheckedStep) {
    const named = sorted.slice(from, from + LIMITS.recheckedStep)
    yield* steps((after) =>
      read<ExistingRow>(scope, NAMED, [type.baseId, type.id, after, scope.limits.recordBytes, named]),
    )
  }
}

async function* steps(next: (after: string) => Promise<ExistingRow[]>): AsyncGenerator<ExistingRow[]> {
  for (let after = ''; ; ) {
    const rows = await next(after)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)?.id ?? after
  }
}
