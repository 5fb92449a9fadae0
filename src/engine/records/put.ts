/** Upsert of one record by id or external pair. */
import { invalid } from '../../foundation/errors.ts'
import { underClaim } from '../claims/claim-guard.ts'
import { demandType } from '../configuration/record-types/index.ts'
import { uuidv7 } from '../core/uuid.ts'
import { dataText, demandRecordId, type PairInput, readPair } from '../record-store/record.ts'
import { demandWithin, lensOn } from '../row-policy/apply.ts'
import { type Expectation, NO_EXPECTATION, versionMismatch } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { type RecordLink, withLinks } from './links.ts'
import { putBounded } from './policy-put.ts'
import { lockAndCompare } from './read-only-fields.ts'
import { type RecordWrite, upsert } from './upsert.ts'

export type PutInput = PairInput & {
  data: unknown
  /** Links to add with the record. */
  relationships?: readonly RecordLink[] | null | undefined
}
/**
 * Upserts the record with the pair, else the one with the id. Creates it if absent. Replaces `data` whole.
 */
export async function putRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  input: PutInput,
  expected: Expectation,
) {
  demandWithin(scope, 'write', baseId, recordType)
  demandRecordId(id)
  const target = { id, pair: readPair(input), ...content(scope, input), expected }
  return upsertLinked(scope, baseId, recordType, target, input)
}

/** Upserts by pair only. A new record gets a server-generated id. */
export async function putRecordByPair(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput,
  expected: Expectation,
) {
  demandWithin(scope, 'write', baseId, recordType)
  const pair = readPair(input)
  if (!pair)
    throw invalid({
      path: '/external_id',
      code: 'required',
      message: 'external_id is required when the path has no id.',
    })
  const target = { id: uuidv7(), pair, ...content(scope, input), expected }
  return upsertLinked(scope, baseId, recordType, target, input)
}

/**
 * Creates a record.
 * @throws CONFLICT when its id or its pair is taken
 */
export async function createRecord(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput & { id?: string | null | undefined },
) {
  demandWithin(scope, 'write', baseId, recordType)
  const id = input.id ?? uuidv7()
  demandRecordId(id)
  const expected = { ...NO_EXPECTATION, absent: true }
  const isNewId = input.id === undefined || input.id === null
  const target = { id, isNewId, pair: readPair(input), ...content(scope, input), expected }
  return upsertLinked(scope, baseId, recordType, target, input)
}

/** Writes the record with its links, under the claim that the writer names. */
const upsertLinked = (
  scope: WriteScope,
  baseId: string,
  recordType: string,
  target: RecordWrite,
  { relationships }: PutInput,
) =>
  underClaim(scope, baseId, target.expected.claim, (held) =>
    withLinks(held, [baseId, recordType], relationships, (within) => {
      const lens = lensOn(within, baseId, recordType)
      return lens
        ? putBounded(within, lens, baseId, recordType, target)
        : upsertStated(within, baseId, recordType, target)
    }),
  )

/** Writes the record. With read-only fields in the request, compares them under the record's lock first. */
function upsertStated(scope: WriteScope, baseId: string, recordType: string, target: RecordWrite) {
  const { stated, versions } = target.expected
  if (!stated) return upsert(scope, baseId, recordType, target)
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    await demandType(within, baseId, recordType)
    const version = await lockAndCompare(within, [baseId, recordType], target, stated)
    if (versions && !versions.includes(version)) throw versionMismatch(version, versions)
    const expected = { ...NO_EXPECTATION, versions: [version], exists: true }
    return upsert(within, baseId, recordType, { ...target, expected })
  })
}

const content = (scope: WriteScope, { data }: PutInput) => ({
  data,
  text: dataText(data, scope.limits.recordBytes),
})
