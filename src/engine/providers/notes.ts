import type { Note } from './codec.ts'

const PLACES_SHOWN = 5

/** Collects warnings and merges equal messages across places. */
export function notebook(): { note: Note; lines(): string[] } {
  const places = new Map<string, string[]>()
  return {
    note(message, place) {
      const known = places.get(message) ?? []
      if (place !== undefined) known.push(place || 'the root')
      places.set(message, known)
    },
    lines: () =>
      [...places].map(([message, where]) => `${message}${where.length > 0 ? ` (at ${list(where)})` : ''}.`),
  }
}

function list(where: readonly string[]): string {
  const more = where.length - PLACES_SHOWN
  return where.slice(0, PLACES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
