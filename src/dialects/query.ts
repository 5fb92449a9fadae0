import { readFilter } from './correct.ts'
import { type Correction, correctParameter } from './parameters.ts'

/** A hint for a parameter that is not known: one of ours and its value, as `filter={"field":…}`. */
type Advice = (name: string) => string | undefined

/**
 * Advice for the parameters of a query that are not among `known`. Conditions in several parameters hold together, and
 * with the filter that is there: every hint of a filter is the whole filter.
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

/** As JSON; undefined when the filter that is there cannot be read, as the rest alone is not what was asked for. */
function wholeFilter(given: unknown, corrections: readonly Correction[]): string | undefined {
  const stated = typeof given === 'string' ? readFilter(given) : undefined
  if (given !== undefined && stated === undefined) return undefined
  const filters = [stated, ...corrections.map(({ filter }) => filter)].filter((each) => each !== undefined)
  // Together they may be more than one filter may hold.
  return filters.length > 1 ? JSON.stringify(readFilter({ and: filters })) : JSON.stringify(filters[0])
}
