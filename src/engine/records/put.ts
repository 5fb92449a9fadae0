import { DomainError, invalid } from '../../errors.ts'
import { demand } from '../access.ts'
import { AUTHOR_COLUMNS } from '../changes.ts'
import type { CompiledType } from '../compiled-type.ts'
import { statement } from '../db.ts'
import { alreadyExists, type Expectation, versionMismatch } from '../expectation.ts'
import { demandType, typeOrBaseNotFound } from '../record-types/index.ts'
import { authorship } from '../scope.ts'
import { reloadType } from '../types-cache.ts'
import { uuidv7 } from '../uuid.ts'
import type { WriteScope } from '../write.ts'
import {
  dataText,
  demandRecordId,
  type Pair,
  type PairInput,
  type RecordItem,
  type RecordRow,
  readPair,
  recordNotFound,
  toRecord,
} from './record.ts'

/**
 * One upsert in one statement. It holds the type's row (KEY SHARE) at the version the data was validated against,
 * finds the target by pair, then by id, writes record and change together, and names what happened in `kind`.
 * `retry` means another writer came between; `stale_type` that the schema has changed.
 */
const PUT = statement(
  'put_record',
  `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND version = $10 FOR KEY SHARE),
   s AS MATERIALIZED (SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3),
   p AS MATERIALIZED (
     SELECT * FROM plinth.record
     WHERE $6::text IS NOT NULL AND base_id = $1 AND record_type = $2 AND external_source = $5 AND external_id = $6),
   t AS MATERIALIZED (
     SELECT p.*, true AS by_pair, EXISTS (SELECT FROM s WHERE s.id <> p.id) AS clash FROM p
     UNION ALL SELECT s.*, false, false FROM s WHERE NOT EXISTS (SELECT FROM p)),
   ins AS (
     INSERT INTO plinth.record AS r (base_id, record_type, id, external_source, external_id, data, version)
     SELECT $1, $2, $3, $5, $6, $4::jsonb, 1 + coalesce((
       SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3), 0)
     WHERE EXISTS (SELECT FROM ty) AND NOT EXISTS (SELECT FROM t) AND $7::int[] IS NULL AND NOT $8::bool
     ON CONFLICT DO NOTHING RETURNING r.*),
   upd AS (
     UPDATE plinth.record r SET data = $4::jsonb, version = r.version + 1, updated_at = now(), valid = true,
       external_source = coalesce($5, r.external_source), external_id = coalesce($6, r.external_id)
     FROM t WHERE EXISTS (SELECT FROM ty) AND r.base_id = $1 AND r.record_type = $2 AND r.id = t.id AND NOT t.clash
       AND NOT $9::bool AND ($7::int[] IS NULL OR r.version = ANY ($7))
       AND (NOT t.by_pair OR (r.external_source = $5 AND r.external_id = $6))
       AND (r.data IS DISTINCT FROM $4::jsonb
         OR ($6::text IS NOT NULL AND (r.external_source, r.external_id) IS DISTINCT FROM ($5, $6)))
     RETURNING r.*),
   w AS (SELECT 'create' AS op, ins.* FROM ins UNION ALL SELECT 'update', upd.* FROM upd),
   logged AS (
     INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, external_source, external_id,
       cancelled_at, ${AUTHOR_COLUMNS})
     SELECT $1, 'record', $2, id, op, version, data, external_source, external_id, cancelled_at, $11, $12, $13, $14 FROM w)
   SELECT op || 'd' AS kind, id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at FROM w
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN clash THEN 'pair_taken' WHEN $9 AND by_pair THEN 'pair_taken'
       WHEN $9 THEN 'exists' WHEN $7::int[] IS NOT NULL AND version <> ALL ($7) THEN 'version_mismatch'
       WHEN data = $4::jsonb AND ($6::text IS NULL OR (external_source, external_id) IS NOT DISTINCT FROM ($5, $6)) THEN 'unchanged'
       ELSE 'retry' END,
     id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at
     FROM t WHERE NOT EXISTS (SELECT FROM w)
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN $7::int[] IS NOT NULL OR $8 THEN 'not_found' ELSE 'retry' END,
     $3, NULL, NULL, 0, NULL, true, now(), now()
     WHERE NOT EXISTS (SELECT FROM t) AND NOT EXISTS (SELECT FROM w)`,
)

type Kind =
  | 'created'
  | 'updated'
  | 'unchanged'
  | 'pair_taken'
  | 'exists'
  | 'version_mismatch'
  | 'not_found'
  | 'stale_type'
  | 'retry'
type Row = Omit<RecordRow, 'data'> & { kind: Kind }

export type PutInput = PairInput & { data: unknown }
type Target = { id: string; pair: Pair | null; data: unknown; text: string; expected: Expectation }

/** Upserts the record the pair belongs to, else the one with the id; creates it if absent. Replaces `data` whole. */
export async function putRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  input: PutInput,
  expected: Expectation,
) {
  demand(scope.access, 'write', baseId, recordType)
  demandRecordId(id)
  return upsert(scope, baseId, recordType, { id, pair: readPair(input), ...content(scope, input), expected })
}

/** Upserts by the pair alone, under a server-made id on create. */
export async function putRecordByPair(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput,
  expected: Expectation,
) {
  demand(scope.access, 'write', baseId, recordType)
  const pair = readPair(input)
  if (!pair)
    throw invalid({
      path: '/external_id',
      code: 'required',
      message: 'Without an id in the path, external_id says which record is meant.',
    })
  return upsert(scope, baseId, recordType, { id: uuidv7(), pair, ...content(scope, input), expected })
}

/** Creates a record. @throws CONFLICT when its id or its pair is taken. */
export async function createRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput & { id?: string | null | undefined },
) {
  demand(scope.access, 'write', baseId, recordType)
  const id = input.id ?? uuidv7()
  demandRecordId(id)
  const expected = { versions: null, exists: false, absent: true }
  return upsert(scope, baseId, recordType, { id, pair: readPair(input), ...content(scope, input), expected })
}

const content = (scope: WriteScope, { data }: PutInput) => ({
  data,
  text: dataText(data, scope.limits.recordBytes),
})

/** Validates against the type and writes; again when the schema changed meanwhile or a race was lost. */
export async function upsert(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  target: Target,
): Promise<RecordItem> {
  let type = await demandType(scope, baseId, recordType)
  return scope.db.retry(async () => {
    for (let tries = 0; tries < 50; tries++) {
      validate(type, target.data)
      const row = await attempt(scope, type, target)
      if (row.kind === 'stale_type') {
        const current = await reloadType(scope, baseId, recordType)
        if (!current) throw await typeOrBaseNotFound(scope, baseId, recordType)
        type = current
      } else if (row.kind !== 'retry') return settle(row, recordType, target)
    }
    throw new DomainError('CONFLICT', 'Too many writers met on the same record. Send the request again.')
  })
}

function validate(type: CompiledType, data: unknown): void {
  const [first, ...rest] = type.schema.validate(data, '/data')
  if (first) throw invalid(first, ...rest)
}

async function attempt(
  scope: WriteScope,
  type: CompiledType,
  { id, pair, text, expected }: Target,
): Promise<Row> {
  const rows = await scope.db.query<Row>(PUT, [
    type.baseId,
    type.id,
    id,
    text,
    pair?.externalSource ?? null,
    pair?.externalId ?? null,
    expected.versions && [...expected.versions],
    expected.exists,
    expected.absent,
    type.version,
    ...authorship(scope),
  ])
  const [row] = rows
  if (!row) throw new Error('put_record answered nothing')
  return row
}

function settle(row: Row, recordType: string, { id, pair, data, expected }: Target): RecordItem {
  switch (row.kind) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return { ...toRecord(recordType, { ...row, data }), operation: row.kind }
    case 'pair_taken':
      throw pairTaken(pair)
    case 'version_mismatch':
      throw versionMismatch(row.version, expected.versions ?? [])
    case 'not_found':
      throw recordNotFound(recordType, id)
    default:
      throw alreadyExists(`record "${id}"`)
  }
}

const pairTaken = (pair: Pair | null) =>
  new DomainError('CONFLICT', 'The external_id belongs to another record.', {
    details: [
      {
        path: '/external_id',
        code: 'duplicate_external_id',
        message:
          'This external_id with this external_source belongs to another record. Write to that one, or use another pair.',
        ...(pair && { received: pair.externalId }),
      },
    ],
  })
