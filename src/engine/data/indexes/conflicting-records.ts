import { DomainError } from '../../../foundation/errors.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { ANOTHER, pathOf, refusal, SEVERAL, UniqueViolation } from './unique.ts'

// The records that have the values of a record, by index: `$3` is its id, `$6` its data.
const HOLDERS = statement(
  'unique_holders',
  `SELECT d.id::text AS index, x.id
   FROM plinth.record_type_index d
   CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, $3, $4, $5, 1, $6::jsonb, NULL, now(), now()) e
   CROSS JOIN LATERAL (
     SELECT x.id FROM plinth.record_index x
     WHERE x.base_id = d.base_id AND x.index_id = d.id AND x.k1 = e.k1 AND x.k2 = e.k2 AND x.k3 = e.k3
       AND x.is_unique AND x.id <> $3 LIMIT 1) x
   WHERE d.base_id = $1 AND d.record_type = $2 AND d.kind = 'unique' AND d.status <> 'failed' AND e.is_whole`,
)

/**
 * Adds the id of the record in the way to the refusal of a unique index. It runs after the rollback of the write,
 * because a failed transaction answers no query. The caller may read all records of the type.
 */
export async function nameConflictingRecord(db: Db, thrown: unknown): Promise<unknown> {
  const violation = thrown instanceof DomainError ? violationOf(thrown) : undefined
  if (!(thrown instanceof DomainError) || !violation) return thrown
  const { type, written } = violation
  const { id, pair, text } = written
  const values = [
    type.baseId,
    type.id,
    id ?? '',
    pair?.externalId ?? null,
    pair?.externalSource ?? null,
    text,
  ]
  const rows = await db.query<{ index: string; id: string }>(HOLDERS, values)
  // A holder that has gone since leaves the refusal as it is.
  if (rows.length === 0) return thrown
  const holders = new Map(rows.map((row) => [row.index, row.id]))
  const found = type.indexes.flatMap((index) => {
    const holder = holders.get(index.id)
    return holder === undefined
      ? []
      : [{ path: pathOf(index), message: withHolder(refusal(index).message, holder), holder }]
  })
  const details = thrown.details.flatMap((detail) => {
    if (detail.code !== 'duplicate_value') return [detail]
    const own = found.find(({ path }) => detail.path.endsWith(path))
    return own ? [{ ...detail, message: own.message, samples: [own.holder] }] : []
  })
  const [first] = found
  const message = first
    ? withHolder(thrown.message.replace(SEVERAL, first.message), first.holder)
    : thrown.message
  return new DomainError(thrown.code, message, { details, cause: violation.cause })
}

const withHolder = (message: string, holder: string): string =>
  message.replace(
    ANOTHER,
    `the record "${holder}" has this value. Write to that record, or send another value.`,
  )

/** The violation among the causes of an error: batches and SQL wrap it. */
function violationOf(thrown: DomainError): UniqueViolation | undefined {
  let cause: unknown = thrown.cause
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if (cause instanceof UniqueViolation) return cause
    cause = cause.cause
  }
  return undefined
}
