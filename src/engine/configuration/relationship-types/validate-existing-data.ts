import { type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { pageWithin } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { Allowance, compileSchema } from '../../schema/json-schema/compile.ts'
import { statement } from '../../storage/database/client.ts'
import { affectedBy, affectedValues, isAffected } from '../record-types/affected-records.ts'

// OFFSET makes the condition a filter of rows in order, so that a step ends at its limit, with any planner statistics.
const NEXT_LINKS = statement(
  'lock_next_links',
  pageWithin(
    'created_at::timestamptz, id',
    `SELECT id, created_at::text AS created_at, data, valid FROM (
       SELECT id, created_at, data, valid FROM plinth.relationship
       WHERE base_id = $1 AND rel_type = $2 AND (created_at, id) > ($3::timestamptz, $4)
       ORDER BY relationship.created_at, id OFFSET 0) s
     WHERE ${isAffected(6)} LIMIT ${LIMITS.recheckedLinks}`,
    '$5',
  ),
)
const FLAG_LINKS = statement(
  'lock_flag_links',
  `UPDATE plinth.relationship r SET valid = f.valid FROM unnest((SELECT $2::text[]), (SELECT $3::boolean[])) AS f (id, valid)
   WHERE r.base_id = $1 AND r.id = ANY ((SELECT $2::text[])::text[]) AND r.id = f.id COLLATE "C"`,
)

type Row = { id: string; created_at: string; data: unknown; valid: boolean }
type Validated = { row: Row; isValid: boolean }

/**
 * Validates the data of existing links against a new schema. If it is no check, the caller has the type's row
 * locked. Returns whether links need another flag.
 * @throws CONFLICT with the count of invalid links and ten samples, unless they are allowed
 */
export async function validateExistingData(
  scope: Scope,
  baseId: string,
  relType: string,
  [before, dataSchema]: readonly [before: object, after: object],
  { allowsInvalid, isCheck }: { allowsInvalid: boolean; isCheck: boolean },
): Promise<boolean> {
  const affected = affectedBy(before, dataSchema)
  if (affected === 'none') return false
  const schema = compileSchema(dataSchema, '/data_schema')
  const allowance = new Allowance(LIMITS.recheckSteps, tooManyChecks)
  const samples: object[] = []
  let count = 0
  let isFlagged = false
  for (let after = ['-infinity', ''], more = true; more; ) {
    const from = [baseId, relType, ...after, scope.limits.recordBytes]
    const rows = await read<Row>(scope, NEXT_LINKS, [...from, ...affectedValues(affected)])
    more = rows.length > 0
    const last = rows.at(-1)
    if (last) after = [last.created_at, last.id]
    const validated: Validated[] = []
    for (const row of rows) {
      if (turnIsOver()) await nextTurn()
      const isValid = schema.isValid(row.data, allowance)
      if (row.valid !== isValid) validated.push({ row, isValid })
      if (isValid) continue
      count++
      const [fault] = samples.length < LIMITS.samples ? schema.validate(row.data, '/data') : []
      if (fault) samples.push({ id: row.id, path: fault.path, message: fault.message })
    }
    isFlagged ||= validated.length > 0
    if (!isCheck && (count === 0 || allowsInvalid)) await flag(scope, baseId, validated)
  }
  if (count > 0 && !allowsInvalid) throw refused(count, samples)
  return isFlagged
}

async function flag(scope: Scope, baseId: string, flagged: readonly Validated[]) {
  if (flagged.length === 0) return
  await scope.db.query(FLAG_LINKS, [
    baseId,
    flagged.map(({ row }) => row.id),
    flagged.map(({ isValid }) => isValid),
  ])
}

const tooManyChecks = () =>
  invalid({
    path: '/data_schema',
    code: 'too_complex',
    message: 'Validating the existing relationships against this schema takes too long. Simplify the schema.',
  })

function refused(count: number, samples: object[]): DomainError {
  const message = `${count} relationship${count === 1 ? '' : 's'} would not be valid. Nothing was changed.`
  const hint = 'Send on_invalid=allow to keep them as they are, or update them first.'
  return oneFault('CONFLICT', message, {
    path: '/data_schema',
    code: 'relationships_invalid',
    hint,
    count,
    samples,
  })
}
