import type { DomainError } from '../../foundation/errors.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { TypeLens } from '../core/policy.ts'
import type { Scope } from '../core/scope.ts'
import { idsWithin } from '../query/policy-read.ts'
import { dataText, type RecordRow } from '../record-store/record.ts'
import { outOfBounds, wholeContent } from '../records/policy-write.ts'
import { lensOn } from '../row-policy/apply.ts'
import { showData, withDefaults } from '../row-policy/project-data.ts'
import { redact } from '../row-policy/redact-errors.ts'
import type { WriteScope } from '../write/write.ts'
import { refuse } from './failures.ts'
import type { Held } from './locked-records.ts'
import type { Content } from './operation.ts'
import type { Outcome } from './outcome.ts'
import { faultsOf } from './prepare.ts'

/** Marks locked records that are outside the row policy of their type. */
export async function markOutside(
  scope: Scope,
  baseId: string,
  type: CompiledType | undefined,
  held: Held,
): Promise<void> {
  const lens = type && lensOn(scope, baseId, type.id)
  if (!lens) return
  const ids = [...held.all()].flatMap(([recordType, row]) => (recordType === type.id ? [row.id] : []))
  const within = new Set(await idsWithin(scope, lens.filter, type, ids))
  for (const id of ids) if (!within.has(id)) held.hide(type.id, id)
}

type Known = { scope: WriteScope; lens: TypeLens | undefined; type: CompiledType; recordBytes: number }

/**
 * Applies the row policy to a full write: hidden properties are kept, and omitted ones of a new record get
 * defaults.
 * @throws VALIDATION_ERROR
 */
export function wholeWrite(write: Content, row: RecordRow | undefined, known: Known): Content {
  const { scope, lens, type, recordBytes } = known
  if (!lens) return write
  const data = row ? null : withDefaults(lens, write.data)
  const whole = row
    ? wholeContent(lens, row, write, recordBytes)
    : { pair: write.pair, data, text: dataText(data, recordBytes) }
  const faults = faultsWithin(scope, lens, type, whole.data)
  if (faults) throw faults
  return whole
}

/** Validation errors of the data, redacted by the row policy. */
export function faultsWithin(
  scope: WriteScope,
  lens: TypeLens | undefined,
  type: CompiledType,
  data: unknown,
): DomainError | undefined {
  const faults = faultsOf(scope, type, data)
  return faults && lens?.shown ? redact(faults, lens.shown) : faults
}

/**
 * Projects outcomes to visible fields.
 * @throws FORBIDDEN for a record that now is outside the row policy
 */
export async function boundedOutcomes(
  scope: Scope,
  type: CompiledType,
  outcomes: readonly Outcome[],
): Promise<readonly Outcome[]> {
  const lens = lensOn(scope, type.baseId, type.id)
  if (!lens) return outcomes
  const ids = [...new Set(outcomes.map(({ id }) => id))]
  const within = new Set(await idsWithin(scope, lens.filter, type, ids))
  refuse(outcomes.flatMap(({ index, id }) => (within.has(id) ? [] : [{ index, error: outOfBounds() }])))
  return outcomes.map(({ record, recordText: _, ...outcome }) => ({
    ...outcome,
    record: record && { ...record, data: showData(lens, record.data) },
  }))
}
