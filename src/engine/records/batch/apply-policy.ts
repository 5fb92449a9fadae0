import type { DomainError } from '../../../foundation/errors.ts'
import type { TypePolicy } from '../../core/policy.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import { visibleData, withEndpointDefaults } from '../../core/row-policy/project-data.ts'
import { redact } from '../../core/row-policy/redact-errors.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dataText, type RecordRow } from '../../data/ledger/record.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { outOfBounds, wholeContent } from '../policy-write.ts'
import { idsWithin } from '../query/policy-read.ts'
import { withDefaults } from '../upsert.ts'
import { refuse } from './faults.ts'
import type { LockedRecords } from './locked-records.ts'
import type { Content } from './operation.ts'
import type { Outcome } from './outcome.ts'
import { faultsOf } from './prepare.ts'

/** Marks locked records that are outside the row policy of their type. */
export async function markOutside(
  scope: Scope,
  baseId: string,
  type: CompiledType | undefined,
  locked: LockedRecords,
): Promise<void> {
  const policy = type && policyOn(scope, baseId, type.id)
  if (!policy) return
  const ids = [...locked.all()].flatMap(([recordType, row]) => (recordType === type.id ? [row.id] : []))
  const within = new Set(await idsWithin(scope, policy.filter, type, ids))
  for (const id of ids) if (!within.has(id)) locked.hide(type.id, id)
}

type Known = { scope: WriteScope; policy: TypePolicy | undefined; type: CompiledType; recordBytes: number }

/**
 * Applies the row policy to a full write: hidden properties are kept, and omitted ones of a new record get
 * defaults.
 * @throws VALIDATION_ERROR
 */
export function wholeWrite(write: Content, row: RecordRow | undefined, known: Known): Content {
  const { scope, policy, type, recordBytes } = known
  if (!policy) return write
  const data = row ? null : withEndpointDefaults(policy, write.data)
  const bounded = row
    ? wholeContent(policy, row, write, recordBytes)
    : { pair: write.pair, data, text: dataText(data, recordBytes) }
  const whole = withDefaults(scope, type, bounded)
  const faults = faultsWithin(scope, policy, type, whole.data)
  if (faults) throw faults
  return whole
}

/** Validation errors of the data, redacted by the row policy. */
export function faultsWithin(
  scope: WriteScope,
  policy: TypePolicy | undefined,
  type: CompiledType,
  data: unknown,
): DomainError | undefined {
  const faults = faultsOf(scope, type, data)
  return faults && policy?.visible ? redact(faults, policy.visible) : faults
}

/**
 * Projects outcomes to visible fields. Hides records that have left the row policy from later operations.
 * @throws FORBIDDEN for a record that does not match the filter for writes
 */
export async function boundedOutcomes(
  scope: Scope,
  type: CompiledType,
  outcomes: readonly Outcome[],
  locked: LockedRecords,
): Promise<readonly Outcome[]> {
  const policy = policyOn(scope, type.baseId, type.id)
  if (!policy) return outcomes
  const written = outcomes.filter(({ operation }) => operation !== 'unchanged')
  const ids = [...new Set(written.map(({ id }) => id))]
  const allowed = new Set(await idsWithin(scope, policy.writeFilter, type, ids))
  refuse(written.flatMap(({ index, id }) => (allowed.has(id) ? [] : [{ index, error: outOfBounds() }])))
  if (policy.writeFilter !== policy.filter) {
    const within = new Set(await idsWithin(scope, policy.filter, type, ids))
    for (const id of ids) if (!within.has(id)) locked.hide(type.id, id)
  }
  return outcomes.map(({ record, recordText: _, ...outcome }) => ({
    ...outcome,
    record: record && { ...record, data: visibleData(policy, record.data) },
  }))
}
