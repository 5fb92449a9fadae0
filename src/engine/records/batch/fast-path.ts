import { policyOn } from '../../core/row-policy/apply.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { hasUnique, variantOf } from '../../data/indexes/index.ts'
import { PUT_BATCH, type PutRow } from '../../data/ledger/put.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { assertDefined } from './lock-all.ts'
import type { DataOperation, RecordOperation } from './operation.ts'
import { type Outcome, outcomeWith } from './outcome.ts'
import { listText, PART_CHARS } from './parts.ts'
import type { Types } from './prepare.ts'

/** An upsert by id that needs no prior read of the record. */
type PlainUpsert = Extract<RecordOperation, { type: 'upsert_record' }> & { readonly id: string }

const isPlain = (operation: DataOperation): operation is PlainUpsert => {
  if (operation.type !== 'upsert_record') return false
  const { id, write, links, keeps, expected } = operation
  return (
    typeof id === 'string' &&
    write.pair === null &&
    links.length === 0 &&
    !keeps &&
    expected.versions === null &&
    expected.claim === null
  )
}

/**
 * Fast path for plain upserts of distinct records of one type: one statement, one round trip. Null when the
 * batch does not qualify; what it returns resolves with null when a concurrent write interferes, and nothing is
 * written then.
 */
export function plainUpserts(
  scope: WriteScope,
  operations: readonly DataOperation[],
  types: Types,
): (() => Promise<Outcome[] | null>) | null {
  if (!operations.every(isPlain)) return null
  const [only, ...others] = types.values()
  if (!only || others.length > 0 || !isPlainType(scope, only)) return null
  const ids = operations.map(({ id }) => id)
  const data = listText(operations.map(({ write }) => write))
  if (new Set(ids).size < ids.length || data.length > PART_CHARS) return null
  const records = operations.map(({ id, write }) => ({ id, data: write.data }))
  const [variant, keys] = variantOf(PUT_BATCH, only, records)
  const values = [only.baseId, only.id, only.revision, ids, data, ...authorship(scope), ...keys]
  return async () => {
    const rows = await scope.db.retry(() => scope.db.query<PutRow>(variant, values))
    if (rows.length < ids.length) return null
    const byId = new Map(rows.map((row) => [row.id, row]))
    return operations.map((operation) => outcomeOf(only.id, operation, assertDefined(byId.get(operation.id))))
  }
}

/**
 * Whether the type has neither unique indexes nor a row policy: attributing their errors to an operation
 * needs more statements.
 */
const isPlainType = (scope: WriteScope, type: CompiledType): boolean =>
  !hasUnique(type) && policyOn(scope, type.baseId, type.id) === undefined

function outcomeOf(recordType: string, { index, type, write }: PlainUpsert, row: PutRow): Outcome {
  const { kind, id, version } = row
  return outcomeWith(
    { index, type, operation: kind, id, version },
    recordType,
    Object.assign(row, { data: write.data }),
    write.text,
  )
}
