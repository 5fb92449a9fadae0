import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { lockRecords } from '../batch/lock-statement.ts'
import { openLockedRecords, pairKey } from '../batch/locked-records.ts'
import { lockLinks } from '../batch/write-links.ts'
import type { Pair } from '../record-store/record.ts'
import type { WriteScope } from '../write/write.ts'

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
 * @throws CONFLICT naming a row that goes on changing
 */
export async function settle<T extends { readonly found: readonly Found[] }>(
  scope: WriteScope,
  where: Where,
  look: () => Promise<T>,
): Promise<T> {
  for (let looks = 1; ; looks++) {
    const seen = await look()
    const changed = await lockAndCompare(scope, where, seen.found)
    if (!changed) return seen
    if (looks === LIMITS.sqlLooks) throw goesOnChanging(where, changed)
  }
}

/** Locks the rows; returns the first that is not as it was found. */
async function lockAndCompare(
  scope: WriteScope,
  { baseId, recordType, isDeleting }: Where,
  found: readonly Found[],
): Promise<Found | undefined> {
  if (found.length === 0) return undefined
  const ids = new Set(found.flatMap(({ id }) => id ?? []))
  if (recordType === null) {
    const rows = await lockLinks(scope, baseId, [...ids])
    const versions = new Map(rows.map(({ id, version }) => [id, version]))
    return found.find(({ id, version }) => id !== null && versions.get(id) !== version)
  }
  const pairs = new Map(found.flatMap(({ pair }) => (pair ? [[pairKey(pair), pair] as const] : [])))
  const locked = openLockedRecords()
  const wanted = { ids, pairs, withData: false, isDeleting }
  await lockRecords(scope, [baseId, recordType], wanted, locked)
  return found.find(({ id, version, pair }) => {
    const row = pair ? locked.byPair(recordType, pair) : id === null ? undefined : locked.get(recordType, id)
    return (row?.version ?? null) !== version
  })
}

function goesOnChanging({ recordType }: Where, { id, pair }: Found): DomainError {
  const name = `${recordType ?? 'relationship'} "${id ?? pair?.externalId}"`
  const message = `${name} goes on changing while the statement reads it. Nothing was written. Send it again.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/query', code: 'version_mismatch', message, received: id ?? pair?.externalId }],
  })
}
