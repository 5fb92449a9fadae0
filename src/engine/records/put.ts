/** PUT and POST of one record: authorise, read, lock, write, add links, check the claim. */
import { invalid } from '../../foundation/errors.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { requireType } from '../configuration/record-types/index.ts'
import { authorize } from '../core/row-policy/apply.ts'
import { type Expectation, NO_EXPECTATION, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { checkRecordId, dataText, type PairInput, type RecordItem, readPair } from '../data/ledger/record.ts'
import { keepClaim } from './claims/claim-guard.ts'
import { addLinks, type RecordLink, readOwnLinks } from './links.ts'
import { putBounded } from './policy-put.ts'
import { compareReadOnly, lockReplaced } from './read-only-fields.ts'
import { type RecordWrite, upsert } from './upsert.ts'

export type PutInput = PairInput & {
  data: unknown
  /** Links to add with the record. */
  relationships?: readonly RecordLink[] | null | undefined
}

/** How a request names its record. */
type Named = Pick<RecordWrite, 'id' | 'isNewId' | 'isByPair' | 'expected'>

/**
 * Upserts the record with the pair, else the one with the id. Creates it if absent. Replaces `data` whole.
 */
export const putRecord = (
  scope: WriteScope,
  baseId: string,
  recordType: string,
  id: string,
  input: PutInput,
  expected: Expectation,
) => put(scope, baseId, recordType, { id, expected }, input)

/** Upserts by pair only. A new record gets a server-generated id. */
export const putRecordByPair = (
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput,
  expected: Expectation,
) => put(scope, baseId, recordType, { id: uuidv7(), isByPair: true, expected }, input)

/**
 * Creates a record.
 * @throws CONFLICT when its id or its pair is taken
 */
export const createRecord = (
  scope: WriteScope,
  baseId: string,
  recordType: string,
  input: PutInput & { id?: string | null | undefined },
) =>
  put(
    scope,
    baseId,
    recordType,
    { id: input.id ?? uuidv7(), isNewId: input.id == null, expected: MUST_BE_ABSENT },
    input,
  )

const MUST_BE_ABSENT: Expectation = { ...NO_EXPECTATION, absent: true }

/** The pipeline of a write. Without links, claim, read-only fields and policy it is one statement. */
async function put(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  named: Named,
  input: PutInput,
): Promise<RecordItem> {
  const policy = authorize(scope, 'write', baseId, recordType)
  const read = readTarget(scope, named, input)
  // Under a policy, a near name could be that of a hidden property.
  const target = policy ? read : { ...read, sent: input.data }
  const links = readOwnLinks(scope, baseId, input.relationships)
  const { claim, stated } = named.expected
  if (!policy && !links && claim === null && !stated)
    return counted(scope, await upsert(scope, baseId, recordType, target))
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const record = policy
      ? await putBounded(within, policy, baseId, recordType, target)
      : await upsert(within, baseId, recordType, await lockStated(within, baseId, recordType, target))
    const linked = links && (await addLinks(within, baseId, record, links))
    if (claim !== null) await keepClaim(within, baseId, claim, record)
    return linked ? { ...record, linked } : record
  })
}

/** Counts what a write has changed with its only statement. */
function counted({ db, changeSet, writes }: WriteScope, record: RecordItem): RecordItem {
  if (db.isTransaction || changeSet !== undefined) return record
  writes.counted++
  if (record.operation !== 'unchanged') writes.changes++
  return record
}

function readTarget(scope: WriteScope, named: Named, input: PutInput): RecordWrite {
  checkRecordId(named.id)
  const pair = readPair(input)
  if (named.isByPair && !pair)
    throw invalid({
      path: '/external_id',
      code: 'required',
      message: 'external_id is required when the path has no id.',
    })
  return { ...named, pair, data: input.data, text: dataText(input.data, scope.limits.recordBytes) }
}

/** With read-only fields in the request, locks the target and compares them. The write then expects this version. */
async function lockStated(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  target: RecordWrite,
): Promise<RecordWrite> {
  const { stated, versions } = target.expected
  if (!stated) return target
  await requireType(scope, baseId, recordType)
  const [row] = await lockReplaced(scope.db, [baseId, recordType], target)
  compareReadOnly(recordType, row, stated)
  const version = row?.version ?? 0
  if (versions && !versions.includes(version)) throw versionMismatch(version, versions)
  return { ...target, expected: { ...NO_EXPECTATION, versions: [version], exists: true } }
}
