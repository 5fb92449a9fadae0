import { isDeepStrictEqual } from 'node:util'
import { type Detail, type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { mapInTurns } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { Allowance } from '../../schema/json-schema/compile.ts'
import type { ExistingRow } from './existing-records.ts'
import { schemaOf } from './fields.ts'
import { type MigrationStep, migrate } from './migration.ts'

/** A record, its data after the migration, and whether the schema accepts it. */
export type Validated = {
  readonly row: ExistingRow
  readonly data: unknown
  readonly isValid: boolean
  readonly isRewritten: boolean
}

type Refused = { count: number; samples: object[] }

export type Validation = {
  /** The invalid records so far: their count, and the first ten. */
  readonly refused: Refused
  /** How many records the steps have changed so far. */
  rewritten(): number
  page(rows: readonly ExistingRow[]): Promise<Validated[]>
}

/** Migrates and validates records, with one budget of time for all of them. */
export function openValidation({
  jsonSchema,
  steps,
}: {
  jsonSchema: object
  steps: readonly MigrationStep[]
}): Validation {
  const schema = schemaOf({ jsonSchema })
  const allowance = new Allowance(LIMITS.recheckSteps, tooManyChecks)
  const refused: Refused = { count: 0, samples: [] }
  let rewritten = 0
  const validate = (row: ExistingRow): Validated => {
    const data = migrate(row.data, steps)
    const isValid = schema.isValid(data, allowance)
    if (!isValid && refused.count++ < LIMITS.samples)
      refused.samples.push(sample(row, schema.validate(data, '/data')))
    const isRewritten = steps.length > 0 && !isDeepStrictEqual(data, row.data)
    if (isRewritten) rewritten++
    return { row, data, isValid, isRewritten }
  }
  return {
    refused,
    rewritten: () => rewritten,
    page: (rows) => mapInTurns(rows, validate),
  }
}

const sample = (row: ExistingRow, faults: readonly Detail[]) => ({
  id: row.id,
  path: faults[0]?.path,
  message: faults[0]?.message,
})

const tooManyChecks = () =>
  invalid({
    path: '/json_schema',
    code: 'too_complex',
    message:
      'Validating the existing records against this schema takes too long. Simplify the schema, or delete records first.',
  })

/** The error for a schema that existing records violate. */
export function recordsRefused({ count, samples }: Refused, isMigrated: boolean): DomainError {
  const message = `${count} record${count === 1 ? '' : 's'} would not be valid. Nothing was changed.`
  const hint = isMigrated
    ? 'Extend "migration" until these records validate.'
    : 'Send on_invalid=allow to keep them as they are, or a "migration" that repairs them.'
  return oneFault('CONFLICT', message, {
    path: '/json_schema',
    code: 'records_invalid',
    hint,
    count,
    samples,
  })
}
