import type { Pair, RecordRow } from '../../data/ledger/record.ts'

/** A locked record; `data` only if requested. */
export type LockedRow = RecordRow & {
  /** Physical row location (`ctid`); while the row is locked, only this transaction changes it. */
  readonly place: string
  /** Bytes of its data as text, if read. */
  readonly bytes?: number
}

/** The locked records of a batch. */
export type LockedRecords = {
  /** Total bytes of data read. */
  bytes: number
  get(recordType: string, id: string): LockedRow | undefined
  byPair(recordType: string, pair: Pair): LockedRow | undefined
  set(recordType: string, row: LockedRow): void
  remove(recordType: string, id: string): void
  /** Marks a record as outside the caller's row policy. */
  hide(recordType: string, id: string): void
  isHidden(recordType: string, id: string): boolean
  /** Iterates over every record with its type. */
  all(): Iterable<readonly [recordType: string, row: LockedRow]>
}

export const recordKey = (recordType: string, id: string): string => `${recordType}\n${id}`
export const pairKey = ({ externalSource, externalId }: Pair): string => `${externalSource}\n${externalId}`

/** The external id pair of a row, if any. */
const pairOf = ({ external_source, external_id }: RecordRow): Pair | null =>
  external_source === null || external_id === null
    ? null
    : { externalSource: external_source, externalId: external_id }

/** Locked rows of one type, by id and by external id pair. */
type OfType = { rows: Map<string, LockedRow>; pairs: Map<string, string>; hidden: Set<string> }

export function openLockedRecords(): LockedRecords {
  const types = new Map<string, OfType>()
  const of = (recordType: string): OfType => {
    const known = types.get(recordType)
    if (known) return known
    const opened = { rows: new Map(), pairs: new Map(), hidden: new Set<string>() }
    types.set(recordType, opened)
    return opened
  }
  const forget = ({ rows, pairs }: OfType, id: string): void => {
    const row = rows.get(id)
    const pair = row && pairOf(row)
    if (pair) pairs.delete(pairKey(pair))
  }
  return {
    bytes: 0,
    get: (recordType, id) => types.get(recordType)?.rows.get(id),
    byPair: (recordType, pair) => {
      const { rows, pairs } = of(recordType)
      const id = pairs.get(pairKey(pair))
      return id === undefined ? undefined : rows.get(id)
    },
    set: (recordType, row) => {
      const ofType = of(recordType)
      forget(ofType, row.id)
      ofType.rows.set(row.id, row)
      const pair = pairOf(row)
      if (pair) ofType.pairs.set(pairKey(pair), row.id)
    },
    remove: (recordType, id) => {
      const ofType = of(recordType)
      forget(ofType, id)
      ofType.rows.delete(id)
    },
    hide: (recordType, id) => void of(recordType).hidden.add(id),
    isHidden: (recordType, id) => types.get(recordType)?.hidden.has(id) ?? false,
    *all() {
      for (const [recordType, { rows }] of types) for (const row of rows.values()) yield [recordType, row]
    },
  }
}
