import { DomainError } from '../../errors.ts'
import { statement } from '../db.ts'
import { compileSchema } from '../json-schema/index.ts'
import type { WriteScope } from '../write.ts'

const PAGE = 1000
const SAMPLES = 10

const NEXT_LINKS = statement(
  'hold_next_links',
  `SELECT id, created_at::text AS created_at, data, valid FROM plinth.relationship
   WHERE base_id = $1 AND rel_type = $2 AND (created_at, id) > ($3::timestamptz, $4)
   ORDER BY created_at, id LIMIT ${PAGE}`,
)
const FLAG_LINKS = statement(
  'hold_flag_links',
  `UPDATE plinth.relationship r SET valid = f.valid FROM unnest((SELECT $2::text[]), (SELECT $3::boolean[])) AS f (id, valid)
   WHERE r.base_id = $1 AND r.id = ANY ((SELECT $2::text[])::text[]) AND r.id = f.id COLLATE "C"`,
)

type Row = { id: string; created_at: string; data: unknown; valid: boolean }

/**
 * Holds the data of links that exist to a schema that is about to be their type's. The caller has the type's row locked.
 * @throws CONFLICT with the count of those it refuses and ten of them, unless they are allowed
 */
export async function holdData(
  scope: WriteScope,
  baseId: string,
  relType: string,
  dataSchema: object,
  allowsInvalid: boolean,
): Promise<void> {
  const schema = compileSchema(dataSchema, '/data_schema')
  const samples: object[] = []
  let count = 0
  for (let after = ['-infinity', ''], more = true; more; ) {
    const rows = await scope.db.query<Row>(NEXT_LINKS, [baseId, relType, ...after])
    more = rows.length === PAGE
    const last = rows.at(-1)
    if (last) after = [last.created_at, last.id]
    const judged = rows.map((row) => ({ row, fault: schema.validate(row.data, '/data')[0] }))
    for (const { row, fault } of judged) {
      if (!fault) continue
      count++
      if (samples.length < SAMPLES) samples.push({ id: row.id, path: fault.path, message: fault.message })
    }
    if (count === 0 || allowsInvalid) await flag(scope, baseId, judged)
  }
  if (count > 0 && !allowsInvalid) throw refused(count, samples)
}

async function flag(scope: WriteScope, baseId: string, judged: readonly { row: Row; fault: unknown }[]) {
  const flagged = judged.filter(({ row, fault }) => row.valid === (fault !== undefined))
  if (flagged.length === 0) return
  await scope.db.query(FLAG_LINKS, [
    baseId,
    flagged.map(({ row }) => row.id),
    flagged.map(({ fault }) => fault === undefined),
  ])
}

function refused(count: number, samples: object[]): DomainError {
  const message = `${count} relationship${count === 1 ? '' : 's'} would no longer be valid. Nothing was changed.`
  const hint = 'Send on_invalid=allow to keep them as they are, or write them anew first.'
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/data_schema', code: 'relationships_invalid', message, hint, count, samples }],
  })
}
