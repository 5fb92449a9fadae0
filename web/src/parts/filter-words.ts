/** A filter in words: "stage is not solved and owner is empty". */
import type { Json } from '../api/shapes.ts'
import { words } from '../words.ts'
import { fieldName } from './text.tsx'

const OPS: Readonly<Record<string, string>> = words.records.ops

export const isFilter = (filter: Json | undefined): filter is Exclude<Json, null> =>
  filter !== null && typeof filter === 'object' && Object.keys(filter).length > 0

export function filterWords(filter: Json | undefined): string {
  if (filter === null || typeof filter !== 'object' || Array.isArray(filter)) return JSON.stringify(filter)
  const { and, or, not, field, op = 'eq', value } = filter
  const join = (all: Json[], word: string) =>
    all
      .map((each) => (isGroup(each) && all.length > 1 ? `(${filterWords(each)})` : filterWords(each)))
      .join(word)
  if (Array.isArray(and)) return join(and, ` ${words.filters.and} `)
  if (Array.isArray(or)) return join(or, ` ${words.filters.or} `)
  if (not !== undefined) return `${words.filters.not} (${filterWords(not)})`
  // Conditions of other records, and what a later version may add, are shown as they are written.
  if (typeof field !== 'string' || typeof op !== 'string') return JSON.stringify(filter)
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
  return [
    field.startsWith('previous.') ? words.filters.before(fieldName(field.slice(9))) : fieldName(field),
    OPS[op] ?? op,
    values.map((each) => (each === null ? words.empty : String(each))).join(', '),
  ]
    .filter((part) => part !== '')
    .join(' ')
}
const isGroup = (filter: Json) =>
  filter !== null && typeof filter === 'object' && ('and' in filter || 'or' in filter)
