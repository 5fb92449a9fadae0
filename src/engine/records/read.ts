import { requireType } from '../configuration/record-types/index.ts'
import { refusePast } from '../core/change-set/change-set-scope.ts'
import { authorize, refuseWithPolicy, visibleType } from '../core/row-policy/apply.ts'
import type { Scope } from '../core/scope.ts'
import { expandsPast, parseExpand } from '../data/ledger/expansion.ts'
import { GET } from '../data/ledger/read-statements.ts'
import { type RecordItem, type RecordRow, toRecord } from '../data/ledger/record.ts'
import { activeClaimsOf } from './claims/index.ts'
import { type Include, refuseClaims } from './list.ts'
import { asksPast, getPastRecord, type PastArgs, readPast } from './query/point-in-time.ts'
import { readBounded } from './query/policy-read.ts'
import { expandRecords } from './related/expand.ts'
import { absentRecord } from './relationships/missing-ends.ts'

/**
 * Reads the current record, or its state at a point in time.
 * @throws FORBIDDEN outside the grants; NOT_FOUND when base, type or record is absent; VALIDATION_ERROR for
 * `expand`
 */
export async function getRecord(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
  {
    expand,
    include,
    ...past
  }: PastArgs & { expand?: readonly string[] | null | undefined; include?: Include } = {},
): Promise<RecordItem> {
  const policy = authorize(scope, 'read', baseId, recordType)
  const showsClaim = include?.includes('claim') ?? false
  if (showsClaim) refuseClaims(policy, recordType, asksPast(past))
  const paths = expand ? parseExpand(expand, '/expand') : null
  if (asksPast(past)) {
    if (paths) throw expandsPast()
    // Validate the arguments before looking for the record.
    readPast(past, 'UTC')
    refusePast(scope, past.asOf == null ? '/version' : '/as_of')
    refuseWithPolicy(policy, recordType, 'The past of a record')
    const type = await requireType(scope, baseId, recordType)
    return getPastRecord(scope, [baseId, recordType, id], readPast(past, type.timezone))
  }
  const row = policy
    ? await readBounded(scope, policy, visibleType(policy, await requireType(scope, baseId, recordType)), id)
    : await readPlain(scope, baseId, recordType, id)
  if (!row) {
    await requireType(scope, baseId, recordType)
    throw await absentRecord(scope, baseId, recordType, id)
  }
  const record = toRecord(recordType, row)
  if (paths) record.expansion = (await expandRecords(scope, { baseId, recordType }, paths, [id]))[0]
  if (showsClaim) record.claim = (await activeClaimsOf(scope, baseId, recordType, [id])).get(id) ?? null
  return record
}

const readPlain = async ({ db, batching }: Scope, baseId: string, recordType: string, id: string) =>
  db.isTransaction
    ? (await db.query<RecordRow>(GET, [baseId, recordType, id]))[0]
    : batching.readRecord({ baseId, recordType, id })
