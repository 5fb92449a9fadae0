import { readFilter } from './correct.ts'
import { type Correction, correctParameter } from './parameters.ts'

/** Returns the hint for an unknown parameter: a supported one with its value, as `filter={"field":…}`. */
type Advice = (name: string) => string | undefined

/**
 * Hints for the query parameters that are not in `known`. Conditions in several parameters are combined with
 * AND and with the existing filter: each hint contains the whole filter.
 */
export function adviseQuery(query: Readonly<Record<string, unknown>>, known: readonly string[]): Advice {
  const corrections = new Map<string, Correction>()
  for (const [name, value] of Object.entries(query)) {
    const correction =
      known.includes(name) || typeof value !== 'string' ? undefined : correctParameter(name, value)
    if (correction) corrections.set(name, correction)
  }
  const filter = wholeFilter(query['filter'], [...corrections.values()])
  return (name) => {
    const { sort, fields, ...rest } = corrections.get(name) ?? {}
    if (sort !== undefined && known.includes('sort')) return `sort=${sort}`
    if (fields !== undefined && known.includes('fields')) return `fields=${fields}`
    return rest.filter && filter !== undefined && known.includes('filter') ? `filter=${filter}` : undefined
  }
}

/**
 * The combined filter as JSON; undefined when the existing filter is invalid, since a part of it would be
 * misleading.
 */
function wholeFilter(given: unknown, corrections: readonly Correction[]): string | undefined {
  const stated = typeof given === 'string' ? readFilter(given) : undefined
  if (given !== undefined && stated === undefined) return undefined
  const filters = [stated, ...corrections.map(({ filter }) => filter)].filter((each) => each !== undefined)
  // The combined filter may exceed the limits of a filter.
  return filters.length > 1 ? JSON.stringify(readFilter({ and: filters })) : JSON.stringify(filters[0])
}
