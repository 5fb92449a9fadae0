import { setTimeout as pause } from 'node:timers/promises'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { authorize, filterWithPolicy, visibleType } from '../../core/row-policy/apply.ts'
import { seenRecord } from '../../core/row-policy/project-data.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { bindSort } from '../../data/filter/check-fields.ts'
import { adviseNames, adviseValues } from '../../data/filter/unsatisfiable-conditions.ts'
import { type RecordItem, toRecord, written } from '../../data/ledger/record.ts'
import { shaped } from '../../storage/database/client.ts'
import { withCheckedHints } from '../query/check-hints.ts'
import { readFilter } from '../query/compile-query.ts'
import { OLDEST_FIRST, parseSort } from '../query/sort.ts'
import { linkedCandidates } from '../related/linked-candidates.ts'
import { withLinkedEnds } from '../related/linked-conditions.ts'
import { anyFreeStatement, type ClaimQuery, claimStatement, type PickedRow } from './claim-statement.ts'

/** Claim arguments. `filter` and `sort` are JSON as sent; all arguments have defaults. */
export type ClaimArgs = {
  filter?: unknown
  sort?: unknown
  limit?: number | null | undefined
  leaseSeconds?: number | null | undefined
  maxAttempts?: number | null | undefined
}
type Claimed = { record: RecordItem; claim: { id: string; expiresAt: string; attempts: number } }
/**
 * The claimed records, at most `limit`. `truncated` when the byte limit ended the response; `limit` is then
 * their number.
 */
export type ClaimedRecords = {
  data: Claimed[]
  limit: number
  truncated?: boolean
  /** Present if nothing was found, and the filter has a value that the schema excludes. */
  hint?: string | null
}

/**
 * Scan limits of successive attempts. A larger one applies only when all matches of the previous one are
 * taken.
 */
const REACHES = [256, 4096, 65_536, null] as const

/**
 * Claims active, free records that match, each for one caller. Returns an empty list if none is free. Creates
 * no record version.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN without `write`; NOT_FOUND without base or
 * type
 */
export async function claimRecords(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  args: ClaimArgs,
): Promise<ClaimedRecords> {
  const policy = authorize(scope, 'write', baseId, recordType)
  const typeOf = async () => visibleType(policy, await requireType(scope, baseId, recordType))
  const limit = within('limit', args.limit ?? 1, LIMITS.claimRecords)
  const { filter, order } = await withCheckedHints(
    { scope, baseId, recordType },
    async () => {
      const read = readArgs(args)
      return { ...read, filter: await withLinkedEnds(scope, baseId, recordType, read.filter) }
    },
    typeOf,
  )
  const asked = {
    baseId,
    recordType,
    leaseSeconds: readLease(args.leaseSeconds) ?? LIMITS.leaseSeconds,
    maxAttempts:
      typeof args.maxAttempts === 'number'
        ? within('max_attempts', args.maxAttempts, LIMITS.claimAttemptsMax)
        : null,
    tokenId: scope.actor.tokenId ?? '',
    tokenName: scope.actor.name,
    tokenKind: scope.actor.kind ?? null,
  }
  const type = await typeOf()
  const bound = { filter: filterWithPolicy(policy, filter, type), sort: bindSort(order, type) }
  const candidates = await linkedCandidates(scope, bound.filter)
  const query = { ...asked, ...bound, type, candidates }
  const room = scope.answer.room
  const picked = await scope.db.retry(() => pick(scope, query, limit, room))
  scope.answer.spend(picked.bytes)
  const { isFull } = picked
  const data = picked.data.map(({ record, claim }) => ({ record: seenRecord(policy, record), claim }))
  const hint = data.length === 0 ? (adviseValues(filter, type) ?? adviseNames(filter, type)) : null
  return isFull ? { data, limit: data.length, hint, truncated: true } : { data, limit, hint }
}

function readArgs({ filter: raw, sort }: ClaimArgs) {
  const filter = raw === undefined || raw === null ? null : readFilter(raw)
  const isSorted = sort !== undefined && sort !== null
  return { filter, order: isSorted ? parseSort(sort, '/sort', filter) : OLDEST_FIRST }
}

type Picked = { data: Claimed[]; bytes: number; isFull: boolean }

/** Claims records until there are enough, none is free, or the byte limit is reached. */
async function pick(scope: WriteScope, query: ClaimQuery, limit: number, room: number): Promise<Picked> {
  const claimed: Claimed[] = []
  let bytes = 0
  let reach = 0
  for (let tries = 0; tries < LIMITS.raceTries; tries++) {
    const most = REACHES[reach] ?? null
    const ids = Array.from({ length: limit - claimed.length }, uuidv7)
    const left = { ids, bytes: room - bytes, atLeast: claimed.length === 0 ? 1 : 0 }
    const { text, values } = claimStatement(query, left, most)
    const rows = await scope.db.query<PickedRow>(shaped(text), values)
    for (const row of rows) {
      if (row.id === null || row.claim_id === null) continue
      claimed.push(toClaimed(query.recordType, row))
      bytes += row.bytes
    }
    if (claimed.length === limit) break
    if (rows[0]?.is_full && claimed.length > 0) return { data: claimed, bytes, isFull: true }
    const othersCameFirst = rows.some((row) => row.id !== null && row.claim_id === null)
    if (othersCameFirst) continue
    if (rows[0]?.is_cut) reach++
    // A locked record may become free soon. Retry only if the result would be empty.
    else if (claimed.length > 0 || !(await isAnyFree(scope, query, most))) break
    else await pause(Math.random() * LIMITS.claimPauseMs * (tries + 1))
  }
  return { data: claimed, bytes, isFull: false }
}

async function isAnyFree(scope: WriteScope, query: ClaimQuery, most: number | null): Promise<boolean> {
  const { text, values } = anyFreeStatement(query, most)
  return (await scope.db.query(shaped(text), values)).length > 0
}

function toClaimed(recordType: string, row: Extract<PickedRow, { claim_id: string }>): Claimed {
  const { claim_id: id, expires_at, attempts } = row
  return { record: toRecord(recordType, row), claim: { id, expiresAt: written(expires_at), attempts } }
}

/**
 * Validates the lease in seconds; null when omitted.
 * @throws VALIDATION_ERROR
 */
export const readLease = (seconds: number | null | undefined): number | null =>
  typeof seconds === 'number' ? within('lease_seconds', seconds, LIMITS.leaseSecondsMax) : null

function within(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw invalid({
    path: `/${name}`,
    code: 'out_of_range',
    message: `${name} must be a whole number from 1 to ${most}.`,
    received: value,
  })
}
