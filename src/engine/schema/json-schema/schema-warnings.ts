/** What a schema holds that is kept as an annotation and not checked. */
import { nearest } from '../../../contract/suggest.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { KNOWN_FORMATS } from './formats.ts'

/** Reports a fact and, if known, its place in the schema. */
export type Note = (message: string, place?: string) => void

/** Collects facts and merges equal ones across places. */
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
  const more = where.length - LIMITS.warningPlaces
  return where.slice(0, LIMITS.warningPlaces).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** The first warnings, and how many more there are. */
export function firstWarnings(lines: readonly string[]): string[] {
  const more = lines.length - LIMITS.errorDetails
  return [...lines.slice(0, LIMITS.errorDetails), ...(more > 0 ? [`There are ${more} more warnings.`] : [])]
}

export function unknownFormat(format: string, isGuessing: boolean): string {
  const guess = isGuessing ? nearest(format, KNOWN_FORMATS) : undefined
  const advice = guess ? `. Did you mean "${guess}"?` : ''
  return `The format ${shown(format)} is not known: it is kept as an annotation and not checked${advice}`
}

export const noKeyword =
  'It checks no property, and has names that are no keywords of JSON Schema. Properties are written {"properties":{"email":{"type":"string"}}}'

export const unusedDefault =
  'A default does not match its own schema: it is kept as an annotation and fills nothing'

export const unusablePattern = (pattern: string, reason: string): string =>
  `The pattern ${shown(pattern)} cannot run in linear time, so it is kept as an annotation and not checked: ${reason}`

export const unusableKeyword = (keyword: string): string =>
  `"${keyword}" depends on a pattern that cannot run in linear time: it is kept as an annotation and not checked`

const shown = (text: string): string =>
  JSON.stringify(
    text.length <= LIMITS.warningWordChars ? text : `${text.slice(0, LIMITS.warningWordChars - 1)}…`,
  )
