import { type Detail, DomainError } from '../../../foundation/errors.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { ANOTHER, hasUnique, pathOf, refusal, SEVERAL, UniqueViolation } from './unique.ts'

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

// Which of the records `$3` with the data `$6` would have unique values that others have: among them, or of the type but for `$7`.
const TAKEN = statement(
  'unique_values_taken',
  `WITH w AS MATERIALIZED (
     SELECT d.id AS index_id, i.id, e.k1, e.k2, e.k3
     FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS i (id, external_id, external_source, data)
     CROSS JOIN plinth.record_type_index d
     CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, i.id, i.external_id, i.external_source, 1, i.data::jsonb, NULL, now(), now()) e
     WHERE d.base_id = $1 AND d.record_type = $2 AND d.kind = 'unique' AND d.status <> 'failed' AND e.is_whole),
   held AS (
     SELECT x.index_id, x.id, x.k1, x.k2, x.k3 FROM w CROSS JOIN LATERAL (
       SELECT * FROM plinth.record_index x
       WHERE x.base_id = $1 AND x.index_id = w.index_id AND x.k1 = w.k1 AND x.k2 = w.k2 AND x.k3 = w.k3 AND x.is_unique LIMIT 1) x
     WHERE x.id NOT IN (SELECT unnest($7::text[])))
   SELECT DISTINCT w.index_id::text AS index, w.id FROM w
   JOIN (SELECT * FROM held UNION ALL SELECT * FROM w) o USING (index_id, k1, k2, k3) WHERE o.id <> w.id ORDER BY 1, 2`,
)

type Becoming = { readonly id: string; readonly after: { readonly data: unknown } | null }

/**
 * Refusals that records of a type would get if they all became what they are to be: by record, as a write of them together
 * would be refused. Reads only.
 */
export async function duplicatesAmong(
  db: Db,
  type: CompiledType,
  records: readonly Becoming[],
): Promise<{ id: string; detail: Detail }[]> {
  if (!hasUnique(type)) return []
  const written = records.flatMap(({ id, after }) => (after ? [{ id, after: after as Pairing }] : []))
  const rows = await db.query<{ index: string; id: string }>(TAKEN, [
    ...[type.baseId, type.id, written.map(({ id }) => id)],
    written.map(({ after }) => after.external_id ?? null),
    written.map(({ after }) => after.external_source ?? null),
    written.map(({ after }) => JSON.stringify(after.data)),
    records.map(({ id }) => id),
  ])
  return rows.flatMap(({ index, id }) => {
    const named = type.indexes.find((each) => each.id === index)
    return named ? [{ id, detail: refusal(named) }] : []
  })
}
type Pairing = { data: unknown; external_id?: string | null; external_source?: string | null }

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
