import { oneFault } from '../../../foundation/errors.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { REWRITE } from '../../data/ledger/put.ts'
import { violatedConstraint } from '../../storage/database/errors.ts'
import { affectedBy } from './affected-records.ts'
import { recordsOf } from './existing-records.ts'
import { flagRecords } from './lock-records.ts'
import { openValidation, recordsRefused, type Validated } from './migrate-and-validate.ts'
import type { MigrationStep, OnInvalid } from './migration.ts'
import { possiblyInvalidOf } from './possibly-invalid-records.ts'

type Repair = {
  readonly onInvalid: OnInvalid
  readonly steps: readonly MigrationStep[]
  /** The changes that the steps revert, by the ids of their records. */
  readonly causes?: ReadonlyMap<string, number> | undefined
}
type Type = { readonly baseId: string; readonly id: string; readonly jsonSchema: unknown }

/**
 * Validates existing records against a new schema. The caller has the type's row locked.
 * @returns how many records the steps rewrote
 * @throws CONFLICT with the count of invalid records and ten samples, unless they are allowed or migrated
 */
export async function reconcile(
  scope: WriteScope,
  current: Type,
  jsonSchema: object,
  { onInvalid, steps, causes }: Repair,
): Promise<number> {
  const validation = openValidation({ jsonSchema, steps })
  const affected = steps.length > 0 ? 'all' : affectedBy(current.jsonSchema as object, jsonSchema)
  const suspects = await possiblyInvalidOf(scope, current.baseId, [{ id: current.id, affected }])
  const pages = recordsOf(scope, current, affected, suspects)
  let rewritten = 0
  for await (const rows of pages) {
    const validated = await validation.page(rows)
    if (validation.refused.count > 0 && onInvalid !== 'allow') continue
    rewritten += await apply(scope, current, validated, causes)
  }
  if (validation.refused.count > 0 && onInvalid !== 'allow')
    throw recordsRefused(validation.refused, steps.length > 0)
  return rewritten
}

async function apply(
  scope: WriteScope,
  type: Type,
  validated: readonly Validated[],
  causes: Repair['causes'],
): Promise<number> {
  const rewritten = validated.filter((one) => one.isRewritten)
  if (rewritten.length > 0) {
    const documents = JSON.stringify(
      rewritten.map(({ row: { id }, data, isValid }) => ({
        id,
        data,
        valid: isValid,
        cause: causes?.get(id),
      })),
    )
    try {
      await scope.db.query(REWRITE, [type.baseId, type.id, documents, ...authorship(scope)])
    } catch (thrown) {
      throw violatedConstraint(thrown) === 'record_index_unique' ? repairRepeats() : thrown
    }
  }
  const others = validated.filter(({ row, isValid, isRewritten }) => !isRewritten && row.valid !== isValid)
  await flagRecords(
    scope.db,
    type.baseId,
    others.map(({ row, isValid }) => ({ recordType: type.id, id: row.id, isValid })),
  )
  return rewritten.length
}

const repairRepeats = () =>
  oneFault('CONFLICT', 'The migration gives several records the same value in a unique index.', {
    path: '/migration',
    code: 'duplicate_value',
    message:
      'Send a migration that gives each record another value, or remove the unique index from this change.',
  })
