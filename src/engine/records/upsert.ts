import { type DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { checkJson } from '../../json/parse.ts'
import { refreshType, requireType } from '../configuration/record-types/index.ts'
import { authorship, type Scope } from '../core/scope.ts'
import { alreadyExists, type Expectation, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { guardUnique, variantFor } from '../data/indexes/index.ts'
import { PUT, type WrittenRow } from '../data/ledger/put.ts'
import { dataText, type Pair, type RecordItem, recordNotFound, toRecord } from '../data/ledger/record.ts'
import { CREATING } from '../data/ledger/request-batching.ts'
import { refuseSourcePair } from '../data/ledger/source-pair.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { tooManyWriters } from '../storage/database/retry-races.ts'
import { writeOne } from '../storage/database/write-together.ts'
import { warningsOf } from './meant-links.ts'

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
type Row = WrittenRow & { kind: Kind }

/** A record to write; `text` is `data` as JSON. */
export type RecordWrite = {
  id: string
  /** The server generated the id for this write, so it has no earlier record. */
  isNewId?: boolean
  /** Only the pair names it, and the id is for a new record. */
  isByPair?: boolean
  pair: Pair | null
  data: unknown
  text: string
  /** The data as the caller named its properties, to warn of misspelt ones. */
  sent?: unknown
  expected: Expectation
  /** The result of a patch: absent properties stay absent. */
  isPatched?: boolean
}

/** Validates the data and writes it. Retries after a schema change or a lost race. */
export async function upsert(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  target: RecordWrite,
): Promise<RecordItem> {
  let type = await requireType(scope, baseId, recordType)
  return scope.db.retry(async () => {
    for (let tries = 0; tries < LIMITS.raceTries; tries++) {
      if (!target.isPatched) refuseSourcePair(type, target.pair)
      const whole = target.isPatched ? target : withDefaults(scope, type, target)
      if (turnIsOver()) await nextTurn()
      checkData(scope, type, whole.data)
      const row = await guardUnique(type, () => attempt(scope, type, whole), whole)
      if (row.kind === 'stale_type') type = await refreshType(scope, baseId, recordType)
      else if (row.kind !== 'retry')
        return warned(scope, resultOf(scope, row, recordType, whole), type, target.sent)
    }
    throw tooManyWriters()
  })
}

/** The record, with warnings about the data that was sent. */
async function warned(
  scope: Scope,
  record: RecordItem,
  type: CompiledType,
  sent: unknown,
): Promise<RecordItem> {
  const warnings = await warningsOf(scope, type, sent)
  return warnings.length > 0 ? { ...record, warnings } : record
}

/**
 * Fills in the defaults of the schema, and prints the data again if that changed it. The write itself stays as
 * it was sent, because a retry may meet another schema.
 * @throws VALIDATION_ERROR when the data becomes too large
 */
export function withDefaults<W extends Pick<RecordWrite, 'data' | 'text'>>(
  { checks, limits }: Pick<WriteScope, 'checks' | 'limits'>,
  { schema }: Pick<CompiledType, 'schema'>,
  write: W,
): W {
  const data = schema.fill ? schema.fill(write.data, limits.recordBytes, checks) : write.data
  if (data === write.data) return write
  checkJson(data, '/data')
  return { ...write, data, text: dataText(data, limits.recordBytes) }
}

/** @throws VALIDATION_ERROR for data that the schema refuses */
export function checkData({ checks }: Pick<WriteScope, 'checks'>, type: CompiledType, data: unknown): void {
  const [first, ...rest] = type.schema.validate(data, '/data', checks)
  if (first) throw invalid(first, ...rest)
}

async function attempt(scope: WriteScope, type: CompiledType, target: RecordWrite): Promise<Row> {
  const { id, pair, data, text, expected, isNewId = false, isByPair = false } = target
  const author = authorship(scope)
  const write = { type, id, pair, data, text, author }
  const { batching, db } = scope
  if (expected.absent) {
    const create = isNewId && !pair ? batching.createNew : batching.createRecord
    const row = db.isTransaction ? await writeOne(db, CREATING, write) : await create(write)
    if (row) return { ...row, kind: 'created' }
  } else if (!expected.versions && !expected.exists && !db.isTransaction && (isByPair || !pair)) {
    const row = await (isByPair ? batching.putRecordByPair(write) : batching.putRecord(write))
    if (row) return row
  }
  const [row] = await scope.db.query<Row>(variantFor(PUT, type), [
    type.baseId,
    type.id,
    id,
    text,
    pair?.externalSource ?? null,
    pair?.externalId ?? null,
    expected.versions && [...expected.versions],
    expected.exists,
    expected.absent,
    type.revision,
    ...author,
  ])
  if (!row) throw new Error('put_record answered nothing')
  return row
}

function resultOf(
  scope: WriteScope,
  row: Row,
  recordType: string,
  { id, pair, data, expected }: RecordWrite,
): RecordItem {
  switch (row.kind) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return { ...toRecord(recordType, { ...row, data }), operation: row.kind }
    case 'pair_taken':
      throw pairTaken(scope, pair, row.id)
    case 'version_mismatch':
      throw versionMismatch(row.version, expected.versions ?? [])
    case 'not_found':
      throw recordNotFound(recordType, id)
    default:
      throw alreadyExists(`record "${id}"`)
  }
}

/**
 * Error for a pair that belongs to another record.
 * @param holder the id of that record, which is named unless a policy could hide it from the caller
 */
export function pairTaken(
  { policy }: Pick<Scope, 'policy'>,
  pair: Pair | null,
  holder?: string,
): DomainError {
  const owner = policy ? undefined : holder
  const other = owner === undefined ? 'another record' : `the record "${owner}"`
  return oneFault('CONFLICT', `The external_id belongs to ${other}.`, {
    path: '/external_id',
    code: 'duplicate_external_id',
    message: `This external_id with this external_source belongs to ${other}. Write to that one, or use another pair.`,
    ...(pair && { received: pair.externalId }),
    ...(owner !== undefined && { samples: [owner] }),
  })
}
