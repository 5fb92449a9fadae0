import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { pointer } from '../../../json/parse.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Pair } from '../../data/ledger/record.ts'
import { lockRecords, openLockedRecords, pairKey } from '../../records/batch/locked-records.ts'
import { lockLinks } from '../../records/batch/write-links.ts'

/** A row that a statement found: its id and version, or the key that it found free. */
export type Found = {
  readonly id: string | null
  readonly version: number | null
  readonly pair?: Pair | undefined
}

type Where = { readonly baseId: string; readonly recordType: string | null; readonly isDeleting: boolean }

/**
 * Second look: reads, locks the rows found, and reads again where another writer has changed one. Concurrent
 * updates then wait instead of failing.
 * @throws CONFLICT naming the rows that go on changing
 */
export async function lockAndRetry<T extends { readonly found: readonly Found[] }>(
  scope: WriteScope,
  where: Where,
  look: () => Promise<T>,
): Promise<T> {
  for (let looks = 1; ; looks++) {
    const seen = await look()
    const changed = await lockAndCompare(scope, where, seen.found)
    if (changed.length === 0) return seen
    if (looks === LIMITS.sqlLooks) throw goOnChanging(where, changed)
  }
}

/** Locks the rows; returns those that are not as they were found. */
async function lockAndCompare(
  scope: WriteScope,
  { baseId, recordType, isDeleting }: Where,
  found: readonly Found[],
): Promise<Found[]> {
  if (found.length === 0) return []
  const ids = new Set(found.flatMap(({ id }) => id ?? []))
  if (recordType === null) {
    const rows = await lockLinks(scope, baseId, [...ids])
    const versions = new Map(rows.map(({ id, version }) => [id, version]))
    return found.filter(({ id, version }) => id !== null && versions.get(id) !== version)
  }
  const pairs = new Map(found.flatMap(({ pair }) => (pair ? [[pairKey(pair), pair] as const] : [])))
  const locked = openLockedRecords()
  const wanted = { ids, pairs, withData: false, isDeleting }
  await lockRecords(scope, [baseId, recordType], wanted, locked)
  return found.filter(({ id, version, pair }) => {
    const row = pair ? locked.byPair(recordType, pair) : id === null ? undefined : locked.get(recordType, id)
    return (row?.version ?? null) !== version
  })
}

function goOnChanging({ recordType }: Where, found: readonly Found[]): DomainError {
  const rows = found.map(({ id, pair }) => id ?? pair?.externalId ?? '')
  const [first = '', ...more] = new Set(rows)
  const what = `${recordType ?? 'relationship'} "${first}"${more.length > 0 ? ` and ${more.length} more` : ''}`
  const message = `Other writers changed ${what} each time that the statement read the rows. Nothing was written.`
  const hint = 'Send the request again, with fewer rows at a time or when the other writers are done.'
  return new DomainError('CONFLICT', `${message} ${hint}`, {
    details: [first, ...more].slice(0, LIMITS.errorDetails).map((id) => ({
      path: `/query${pointer(id)}`,
      code: 'version_mismatch',
      message: `Another writer changed the row ${LIMITS.sqlLooks} times while the statement read it.`,
      received: id,
      hint,
    })),
  })
}
