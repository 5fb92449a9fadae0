import { DomainError, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { requireType } from '../configuration/record-types/index.ts'
import type { TypePolicy } from '../core/policy.ts'
import { checkVisible, withEndpointDefaults } from '../core/row-policy/project-data.ts'
import { alreadyExists, NO_EXPECTATION, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { dataText, type RecordItem, type RecordRow, recordNotFound } from '../data/ledger/record.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { tooManyWriters } from '../storage/database/retry-races.ts'
import { boundedWrite, isWithin, wholeContent } from './policy-write.ts'
import { compareReadOnly, lockReplaced } from './read-only-fields.ts'
import { pairTaken, type RecordWrite, upsert } from './upsert.ts'

/**
 * PUT under a row and field policy, in a transaction: replaces the visible data of the target and keeps the hidden data, or
 * creates the record with the defaults.
 * @throws NOT_FOUND when the target is outside the policy; FORBIDDEN when the result would be; CONFLICT and
 * VALIDATION_ERROR as a put
 */
export async function putBounded(
  scope: WriteScope,
  policy: TypePolicy,
  baseId: string,
  recordType: string,
  target: RecordWrite,
): Promise<RecordItem> {
  checkVisible(policy, target.data)
  for (let tries = 0; tries < LIMITS.raceTries; tries++) {
    const type = await requireType(scope, baseId, recordType)
    const row = await lockPutRecord(scope, type, target)
    const done = await (row ? replaced(scope, policy, type, target, row) : made(scope, policy, type, target))
    if (done) return done
  }
  throw tooManyWriters()
}

/**
 * Locks the record that the PUT replaces.
 * @throws CONFLICT when pair and id belong to two records, or the precondition requires absence
 */
async function lockPutRecord(scope: WriteScope, type: CompiledType, target: RecordWrite) {
  const { id, pair, expected } = target
  const [row, other] = await lockReplaced(scope.db, [type.baseId, type.id], target)
  if (row?.by_pair && (other || expected.absent)) throw pairTaken(scope, pair)
  if (row && expected.absent) throw alreadyExists(`record "${id}"`)
  return row
}

async function replaced(
  scope: WriteScope,
  policy: TypePolicy,
  type: CompiledType,
  { pair, data, text, expected, id }: RecordWrite,
  row: RecordRow,
): Promise<RecordItem> {
  const isConditional = expected.exists || expected.versions !== null
  if (!(await isWithin(scope, policy, type, row.id)))
    throw isConditional ? recordNotFound(type.id, id) : outsidePolicy(type.id)
  if (expected.versions && !expected.versions.includes(row.version))
    throw versionMismatch(row.version, expected.versions)
  if (expected.stated) compareReadOnly(type.id, row, expected.stated)
  const content = wholeContent(policy, row, { pair, data, text }, scope.limits.recordBytes)
  const guarded = { ...NO_EXPECTATION, versions: [row.version], exists: true }
  const whole = { id: row.id, ...content, expected: guarded }
  return boundedWrite(scope, policy, type, () => upsert(scope, type.baseId, type.id, whole))
}

/** Creates the record. Undefined when another writer created it first. */
async function made(
  scope: WriteScope,
  policy: TypePolicy,
  type: CompiledType,
  target: RecordWrite,
): Promise<RecordItem | undefined> {
  const { expected, id } = target
  if (expected.exists || expected.versions) throw recordNotFound(type.id, id)
  if (expected.stated) compareReadOnly(type.id, undefined, expected.stated)
  const data = withEndpointDefaults(policy, target.data)
  const text = dataText(data, scope.limits.recordBytes)
  const whole = { ...target, data, text, expected: { ...NO_EXPECTATION, absent: true } }
  try {
    return await boundedWrite(scope, policy, type, () => upsert(scope, type.baseId, type.id, whole))
  } catch (thrown) {
    if (!expected.absent && isTaken(thrown)) return undefined
    throw thrown
  }
}

const TAKEN = ['exists', 'duplicate_external_id']
const isTaken = (thrown: unknown): boolean =>
  thrown instanceof DomainError && TAKEN.includes(thrown.details[0]?.code ?? '')

/** 404 for an id or pair held by a record outside the policy. */
export const outsidePolicy = (recordType: string) =>
  oneFault(
    'NOT_FOUND',
    `No record of type "${recordType}" with this id is accessible, and none can be created with it.`,
    {
      path: '/id',
      code: 'record_not_found',
      message: 'Use another id or external_id, or leave them to the server.',
    },
  )
