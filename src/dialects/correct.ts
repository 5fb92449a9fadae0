/** Recognizes filters of other query languages, for the hint of an error only. */
import { isDeepStrictEqual } from 'node:util'
import { attempt, type FilterAst, Unclear } from './filter-ast.ts'
import { normalize } from './normalize.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { TEXT_READERS } from './text-formats.ts'

/** Maximum length of a hint and of the text to parse. */
const MAX_CHARS = 10 * 1024

/**
 * Suggests a corrected filter for a rejected one; undefined when the intent is ambiguous or the filter is
 * already correct. `columns` are the fields outside data; record columns by default. Never throws.
 */
export function correctFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  const corrected = readFilter(raw, columns)
  return corrected === undefined || isDeepStrictEqual(plain(corrected), plain(raw)) ? undefined : corrected
}

/** Normalizes to plain JSON: GraphQL creates objects without a prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Parses a filter from a value or text in any supported dialect. */
export function readFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  return typeof raw === 'string' ? readText(raw, columns) : normalized(() => readObject(raw), columns)
}

function readText(raw: string, columns: readonly string[] | undefined): FilterJson | undefined {
  if (raw.length > MAX_CHARS) return undefined
  const text = raw.trim()
  for (const read of TEXT_READERS) {
    const found = normalized(() => read(text), columns)
    if (found) return found
  }
  return undefined
}

const normalized = (read: () => FilterAst, columns: readonly string[] | undefined): FilterJson | undefined =>
  attempt(() => {
    const filter = normalize(read(), columns)
    if (JSON.stringify(filter).length > MAX_CHARS) throw new Unclear()
    return filter
  })
