import { isDeepStrictEqual } from 'node:util'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { nextTurn, turnIsOver } from '../../../foundation/turns.ts'
import { RECORD_LOG_COLUMNS } from '../../change-log/entry.ts'
import { pageWithin } from '../../core/page.ts'
import { authorship, type Scope } from '../../core/scope.ts'
import { statement } from '../../database/client.ts'
import { violatedConstraint } from '../../database/errors.ts'
import { entriesOf } from '../../indexes/index.ts'
import { Allowance, type CompiledSchema } from '../../json-schema/compile.ts'
import { schemaOf } from './fields.ts'
import { type MigrationStep, migrate, type OnInvalid } from './migration.ts'

const PAGE = 1000

const NEXT_RECORDS = statement(
  'reconcile_next',
  pageWithin(
    'id',
    `SELECT id, data, valid FROM plinth.record
     WHERE base_id = $1 AND record_type = $2 AND id > $3 ORDER BY id LIMIT ${PAGE}`,
    '$4',
  ),
)
const FLAG = statement(
  'reconcile_flag',
  `UPDATE plinth.record r SET valid = f.valid FROM unnest($3::text[], $4::boolean[]) AS f (id, valid)
   WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = f.id`,
)
const REWRITE = statement(
  'reconcile_rewrite',
  `WITH w AS (
     UPDATE plinth.record r SET data = n.data, version = r.version + 1, updated_at = now(), valid = true
     FROM jsonb_to_recordset($3::jsonb) AS n (id text, data jsonb)
     WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = n.id RETURNING r.*),
   ${entriesOf('w')}
   INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
   SELECT base_id, 'record', record_type, id, 'update', version, data, external_source, external_id, cancelled_at, created_at,
     $4, $5, $6, $7, $8::jsonb FROM w`,
)

type Row = { id: string; data: unknown; valid: boolean }
export type Repair = {
  onInvalid: OnInvalid
  steps: readonly MigrationStep[]
  /** Only counts, without a lock. */
  isCheck?: true
}

/**
 * Validates existing records against a new schema. Unless it is a check, the caller has the type's row locked.
 * @throws CONFLICT with the count of invalid records and ten samples, unless they are allowed or migrated
 */
export async function reconcile(
  scope: Scope,
  baseId: string,
  typeId: string,
  jsonSchema: object,
  { onInvalid, steps, isCheck }: Repair,
) {
  const schema = schemaOf({ jsonSchema })
  const allowance = new Allowance(LIMITS.recheckSteps, tooManyChecks)
  const refused: { count: number; samples: object[] } = { count: 0, samples: [] }
  for (let after = '', more = true; more; ) {
    const rows = await scope.db.query<Row>(NEXT_RECORDS, [baseId, typeId, after, scope.limits.recordBytes])
    more = rows.length > 0
    after = rows.at(-1)?.id ?? after
    const judged: Judged[] = []
    for (const row of rows) {
      if (turnIsOver()) await nextTurn()
      const one = judge(row, schema, steps, allowance)
      judged.push(one)
      if (one.isValid) continue
      refused.count++
      if (refused.samples.length < LIMITS.samples)
        refused.samples.push(sample(row, schema.validate(one.data, '/data')))
    }
    if (isCheck || (refused.count > 0 && onInvalid !== 'allow')) continue
    await apply(scope, baseId, typeId, judged)
  }
  if (refused.count > 0 && onInvalid !== 'allow') throw recordsRefused(refused, onInvalid)
}

type Judged = ReturnType<typeof judge>

function judge(row: Row, schema: CompiledSchema, steps: readonly MigrationStep[], allowance: Allowance) {
  const data = migrate(row.data, steps)
  return {
    row,
    data,
    isValid: schema.isValid(data, allowance),
    changed: steps.length > 0 && !isDeepStrictEqual(data, row.data),
  }
}

async function apply(scope: Scope, baseId: string, typeId: string, judged: readonly Judged[]) {
  const rewritten = judged.filter((one) => one.changed)
  if (rewritten.length > 0) {
    const documents = JSON.stringify(rewritten.map(({ row, data }) => ({ id: row.id, data })))
    try {
      await scope.db.query(REWRITE, [baseId, typeId, documents, ...authorship(scope)])
    } catch (thrown) {
      throw violatedConstraint(thrown) === 'record_index_unique' ? repairRepeats() : thrown
    }
  }
  const flagged = judged.filter(({ row, isValid, changed }) => !changed && row.valid !== isValid)
  if (flagged.length > 0)
    await scope.db.query(FLAG, [
      baseId,
      typeId,
      flagged.map(({ row }) => row.id),
      flagged.map(({ isValid }) => isValid),
    ])
}

const tooManyChecks = () =>
  invalid({
    path: '/json_schema',
    code: 'too_complex',
    message:
      'Validating the existing records against this schema takes too long. Simplify the schema, or delete records first.',
  })

const repairRepeats = () =>
  new DomainError('CONFLICT', 'The migration gives several records the same value in a unique index.', {
    details: [
      {
        path: '/migration',
        code: 'duplicate_value',
        message:
          'Send a migration that gives each record another value, or remove the unique index from this change.',
      },
    ],
  })

const sample = (row: Row, faults: readonly Detail[]) => ({
  id: row.id,
  path: faults[0]?.path,
  message: faults[0]?.message,
})

function recordsRefused(
  { count, samples }: { count: number; samples: object[] },
  onInvalid: OnInvalid,
): DomainError {
  const message = `${count} record${count === 1 ? '' : 's'} would no longer be valid. Nothing was changed.`
  const hint =
    onInvalid === 'migrate'
      ? 'Extend "migration" until these records validate.'
      : 'Send on_invalid=allow to keep them as they are, or migrate=true with a "migration" that repairs them.'
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/json_schema', code: 'records_invalid', message, hint, count, samples }],
  })
}
