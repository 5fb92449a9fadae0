import { isDeepStrictEqual } from 'node:util'
import { attempt, Doubt, type Draft } from './draft.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { settle } from './settle.ts'
import { TEXT_READERS } from './texts.ts'

/** A hint longer than this teaches nobody, and a text longer than this is not read. */
const MAX_CHARS = 10 * 1024

/**
 * What the caller of a refused filter probably meant, in our language; undefined when nothing sound can be said, or when
 * the filter is already written as it should be. `columns` are the fields beside data, those of a record when left out.
 * Never throws.
 */
export function correctFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  const meant = readFilter(raw, columns)
  return meant === undefined || isDeepStrictEqual(plain(meant), plain(raw)) ? undefined : meant
}

/** JSON as it is sent: objects that GraphQL makes have no prototype, which is no difference here. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The filter that a value or a text stands for, whether it had to be corrected or not. */
export function readFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  return typeof raw === 'string' ? readText(raw, columns) : settled(() => readObject(raw), columns)
}

function readText(raw: string, columns: readonly string[] | undefined): FilterJson | undefined {
  if (raw.length > MAX_CHARS) return undefined
  const text = raw.trim()
  for (const read of TEXT_READERS) {
    const found = settled(() => read(text), columns)
    if (found) return found
  }
  return undefined
}

const settled = (read: () => Draft, columns: readonly string[] | undefined): FilterJson | undefined =>
  attempt(() => {
    const filter = settle(read(), columns)
    if (JSON.stringify(filter).length > MAX_CHARS) throw new Doubt()
    return filter
  })
