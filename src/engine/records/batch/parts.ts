/** Bind values of the writes of a batch, in parts of one statement each. */
import type { Content } from './operation.ts'

type Writing = { readonly decision: { readonly write: Content } }

/** Serializes the data of many records as one JSON array. */
export const listText = (writes: readonly Content[]): string =>
  `[${writes.map(({ text }) => text).join(',')}]`

/**
 * Bind values of a bulk write: the data as one JSON text, and the external id pairs. Trailing missing pairs
 * are omitted.
 */
export function columnsOf(all: readonly Writing[]): readonly [string, (string | null)[], (string | null)[]] {
  const text = listText(all.map(({ decision }) => decision.write))
  if (all.every(({ decision }) => decision.write.pair === null)) return [text, [], []]
  const pairs = all.map(({ decision }) => decision.write.pair)
  return [
    text,
    pairs.map((pair) => pair?.externalSource ?? null),
    pairs.map((pair) => pair?.externalId ?? null),
  ]
}

/**
 * Approximate characters of data per statement. PostgreSQL uses up to a hundred bytes for each number that it
 * parses.
 */
export const PART_CHARS = 1024 * 1024

/** Splits writes into chunks of one statement each. */
export function inParts<W extends Writing>(all: readonly W[]): W[][] {
  const parts: W[][] = []
  let room = 0
  for (const each of all) {
    const { length } = each.decision.write.text
    const last = parts.at(-1)
    if (last && length <= room) last.push(each)
    else {
      parts.push([each])
      room = PART_CHARS
    }
    room -= length
  }
  return parts
}
