/** What a selection of tools lets its callers see and do, in sentences. */
import type { Json, RecordType, Selection } from '../../api/shapes.ts'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.ts'
import { words } from '../../words.ts'

export function boundsOf(selection: Selection, type: RecordType | undefined): string[] {
  const { record_type: id, operations, fields, filter, write_filter: written, defaults = {} } = selection
  const name = (type ? pluralOf(type) : plural(nameOf(type, id))).toLowerCase()
  const known = Object.keys(type?.json_schema.properties ?? {})
  const shown = fields?.map((field) => field.replace(/^data\./, ''))
  const hidden = shown ? known.filter((each) => !shown.includes(each)).map(fieldName) : []
  const text = words.agents.bound
  return [
    text.does(operations.map((each) => text.operations[each] ?? each).join(', '), name),
    ...(isGiven(filter) ? [text.sees(name, filterWords(filter))] : []),
    ...(isGiven(written) ? [text.writes(name, filterWords(written))] : []),
    ...(hidden.length > 0 ? [text.never(hidden.join(', '))] : []),
    ...Object.entries(defaults).map(([field, value]) => text.begins(fieldName(field), String(value))),
  ]
}

const OPS: Readonly<Record<string, string>> = words.records.ops

type Filter = Exclude<Json, null>
const isGiven = (filter: Json | undefined): filter is Filter =>
  filter !== null && typeof filter === 'object' && Object.keys(filter).length > 0

/** A filter in words: "stage is not solved and owner is empty". */
function filterWords(filter: Json | undefined): string {
  if (filter === null || typeof filter !== 'object' || Array.isArray(filter)) return JSON.stringify(filter)
  const { and, or, not, field, op = 'eq', value } = filter
  const join = (all: Json[], word: string) =>
    all
      .map((each) => (isGroup(each) && all.length > 1 ? `(${filterWords(each)})` : filterWords(each)))
      .join(word)
  if (Array.isArray(and)) return join(and, ` ${words.agents.bound.and} `)
  if (Array.isArray(or)) return join(or, ` ${words.agents.bound.or} `)
  if (not !== undefined) return `${words.agents.bound.not} (${filterWords(not)})`
  // Conditions of other records, and what a later version may add, are shown as they are written.
  if (typeof field !== 'string' || typeof op !== 'string') return JSON.stringify(filter)
  const word = OPS[op] ?? op
  const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
  return [
    fieldName(field),
    word,
    values.map((each) => (each === null ? words.empty : String(each))).join(', '),
  ]
    .filter((part) => part !== '')
    .join(' ')
}
const isGroup = (filter: Json) =>
  filter !== null && typeof filter === 'object' && ('and' in filter || 'or' in filter)
