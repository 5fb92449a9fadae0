import type { Pair, RecordRow } from '../records/record.ts'

/** The records that a batch touches, as they are under its locks; `data` only where it was asked for. */
export type Held = {
  get(recordType: string, id: string): RecordRow | undefined
  byPair(recordType: string, pair: Pair): RecordRow | undefined
  set(recordType: string, row: RecordRow): void
  remove(recordType: string, id: string): void
  /** Says of a record that it is out of the bounds of whoever asks. */
  hide(recordType: string, id: string): void
  isHidden(recordType: string, id: string): boolean
  /** Every record, with its type. */
  all(): (readonly [recordType: string, row: RecordRow])[]
}

export const recordKey = (recordType: string, id: string): string => `${recordType}\n${id}`
export const pairKey = (recordType: string, { externalSource, externalId }: Pair): string =>
  `${recordType}\n\n${externalSource}\n${externalId}`

/** The pair of a row, if it has one. */
const pairOf = ({ external_source, external_id }: RecordRow): Pair | null =>
  external_source === null || external_id === null
    ? null
    : { externalSource: external_source, externalId: external_id }

export function openHeld(): Held {
  const rows = new Map<string, RecordRow>()
  const pairs = new Map<string, string>()
  const hidden = new Set<string>()
  const remove = (recordType: string, id: string): void => {
    const row = rows.get(recordKey(recordType, id))
    const pair = row && pairOf(row)
    if (pair) pairs.delete(pairKey(recordType, pair))
    rows.delete(recordKey(recordType, id))
  }
  return {
    get: (recordType, id) => rows.get(recordKey(recordType, id)),
    byPair: (recordType, pair) => {
      const id = pairs.get(pairKey(recordType, pair))
      return id === undefined ? undefined : rows.get(recordKey(recordType, id))
    },
    set: (recordType, row) => {
      remove(recordType, row.id)
      rows.set(recordKey(recordType, row.id), row)
      const pair = pairOf(row)
      if (pair) pairs.set(pairKey(recordType, pair), row.id)
    },
    remove,
    hide: (recordType, id) => void hidden.add(recordKey(recordType, id)),
    isHidden: (recordType, id) => hidden.has(recordKey(recordType, id)),
    all: () => [...rows].map(([key, row]) => [key.slice(0, key.indexOf('\n')), row]),
  }
}
