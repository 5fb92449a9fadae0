import { oneFault } from '../../foundation/errors.ts'
import { requireType } from '../configuration/record-types/index.ts'
import type { TypePolicy } from '../core/policy.ts'
import { policyOn } from '../core/row-policy/apply.ts'
import { checkVisible, keepHidden, visibleData } from '../core/row-policy/project-data.ts'
import { redacted } from '../core/row-policy/redact-errors.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { LOCK } from '../data/ledger/read-statements.ts'
import { dataText, type RecordItem, type RecordRow, recordNotFound } from '../data/ledger/record.ts'
import { areWithin, type BoundedType } from './query/policy-read.ts'
import type { RecordWrite } from './upsert.ts'

/**
 * Whether the record matches the row policy, if there is one. Runs under the record's lock, as a new
 * statement with a current snapshot.
 */
export const isWithin = async (
  scope: Scope,
  policy: TypePolicy | undefined,
  type: BoundedType,
  id: string,
): Promise<boolean> => !policy || areWithin(scope, policy.filter, type, [id])

/** The row redacted by the field policy. */
export const seenRow = (policy: TypePolicy | undefined, row: RecordRow): RecordRow =>
  policy ? { ...row, data: visibleData(policy, row.data) } : row

type Content = Pick<RecordWrite, 'pair' | 'data' | 'text'>

/**
 * Merges the caller's content, based on the visible data, with the hidden data.
 * @throws VALIDATION_ERROR
 */
export function wholeContent(
  policy: TypePolicy | undefined,
  row: RecordRow,
  content: Content,
  maxBytes: number,
): Content {
  if (!policy?.visible) return content
  checkVisible(policy, content.data)
  const data = keepHidden(policy, row.data, content.data)
  return { pair: content.pair, data, text: dataText(data, maxBytes) }
}

/**
 * Runs a write under a policy, in a transaction. The result must match its filter for writes, and is redacted.
 * @throws FORBIDDEN when it does not match
 */
export async function boundedWrite(
  scope: Scope,
  policy: TypePolicy | undefined,
  type: BoundedType,
  write: () => Promise<RecordItem>,
): Promise<RecordItem> {
  if (!policy) return write()
  const record = await redacted(policy, write)
  // Without a change, the record is as it was found within the policy.
  const isWritten = record.operation !== 'unchanged'
  if (isWritten && !(await areWithin(scope, policy.writeFilter, type, [record.id]))) throw outOfBounds()
  return { ...record, data: visibleData(policy, record.data) }
}

type Key = readonly [baseId: string, recordType: string, id: string]

/**
 * Runs work on one record. Under a policy, locks the record in a transaction and checks that it matches.
 * @throws NOT_FOUND
 */
export async function whereBounded<T>(
  scope: WriteScope,
  [baseId, recordType, id]: Key,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T> {
  const policy = policyOn(scope, baseId, recordType)
  if (!policy) return work(scope)
  const type = await requireType(scope, baseId, recordType)
  return scope.db.statements(async (tx) => {
    const within = { ...scope, db: tx }
    const guarded = await tx.query(LOCK, [baseId, recordType, id])
    if (guarded.length === 0 || !(await areWithin(within, policy.filter, type, [id])))
      throw recordNotFound(recordType, id)
    return work(within)
  })
}

/**
 * Variant that also checks the record after the work.
 * @throws NOT_FOUND, FORBIDDEN
 */
export const onBounded = (
  scope: WriteScope,
  key: Key,
  work: (scope: WriteScope) => Promise<RecordItem>,
): Promise<RecordItem> =>
  whereBounded(scope, key, async (within) => {
    const [baseId, recordType] = key
    const policy = policyOn(within, baseId, recordType)
    if (!policy) return work(within)
    return boundedWrite(within, policy, await requireType(within, baseId, recordType), () => work(within))
  })

export const outOfBounds = () =>
  oneFault(
    'FORBIDDEN',
    'The new values would move the record outside the filter of this endpoint. Nothing was written.',
    {
      path: '/data',
      code: 'out_of_bounds',
      message: 'Send values that match the filter of the endpoint, or use an address with more access.',
    },
  )
