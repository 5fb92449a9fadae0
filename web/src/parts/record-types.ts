/** What a page says of a record type: names, titles, the columns of its schema. */
import { TITLE_NAMES } from '../../../src/contract/title-names.ts'
import type { Data, Json, RecordType, Row, Schema } from '../api/shapes.ts'
import { words } from '../words.ts'
import { cut, fieldName, visible, whole } from './text.tsx'

const TITLE_CHARS = 120

export const nameOf = (type: RecordType | undefined, id: string): string =>
  visible((type?.name ?? fieldName(id)).replace(/^./u, (first) => first.toUpperCase()))

export const pluralOf = (type: RecordType): string =>
  visible(type.display.plural ?? plural(nameOf(type, type.id)))

/** "tickets" of "ticket": names of types are mostly English singulars. */
export function plural(name: string): string {
  if (/(s|x|ch|sh)$/i.test(name)) return /s$/i.test(name) ? name : `${name}es`
  return /[^aeiou]y$/i.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`
}

/** "86 tickets", "1 ticket". Names of types may be plurals, their ids are mostly singulars. */
export function counted(
  count: number,
  types: readonly RecordType[],
  id: string | null,
  kind: string,
): string {
  const type = types.find((each) => each.id === id)
  const one = fieldName(id ?? kind).toLowerCase()
  if (count === 1) return `1 ${one}`
  return `${whole.format(count)} ${type ? pluralOf(type).toLowerCase() : plural(one)}`
}

/** An id that nobody chose says nothing to a person. */
export const MADE_ID = /^[\da-f]{8}-[\da-f-]{27}$/

type Described = Pick<RecordType, 'display' | 'json_schema'>
/** The property that names a record to a person. */
export const titleField = ({ display, json_schema: { properties = {} } }: Described): string | undefined =>
  display.title ?? usualTitle(properties)
/** The name among those of fields that a title usually has. */
export const usualTitle = (fields: object) => TITLE_NAMES.find((name) => Object.hasOwn(fields, name))

/** The title; without one the first text, and last the id. */
export function titleOf(row: Pick<Row, 'id' | 'data' | 'title'>, type: RecordType | undefined): string {
  const field = type && (titleField(type) ?? firstText(type))
  const value = row.title ?? (field === undefined ? undefined : own(row.data, field))
  return typeof value === 'string' && value.trim() !== '' ? shortened(value) : row.id
}

/** A title in a line. The server cuts one too, and says not where. */
export function shortened(title: string): string {
  const { text, more } = cut(title, TITLE_CHARS - 1)
  return more > 0 ? `${text}…` : text
}

const firstText = ({ json_schema: { properties = {} } }: RecordType): string | undefined =>
  Object.entries(properties).find(([, schema]) => isText(schema))?.[0]
const isText = (schema: Schema) =>
  typesOf(schema).includes('string') && !schema.enum && schema.format === undefined

/** The state of a record: the field of that name, else the first of few values. */
export function stateField(type: RecordType): Field | undefined {
  const states = fieldsOf(type).filter(({ isState, values = [] }) => isState && values.length > 1)
  return states.find(({ name }) => /^(state|status|stage|phase)$/i.test(name)) ?? states[0]
}

/** The fields that a search of words asks; undefined where no text index makes it quick. */
export function searchOf({ indexes, json_schema: { properties = {} } }: RecordType): string[] | undefined {
  const index = indexes.find(({ type, status }) => type === 'text' && status !== 'building')
  const fields = index?.fields.map(termOf)
  // An index serves a search of all data where it has each text; else one of its own fields only.
  const isOfAll = Object.entries(properties).every(
    ([name, schema]) => !isText(schema) || fields?.includes(`data.${name}`),
  )
  return fields && isOfAll ? ['data'] : fields
}

/** The filter of a search, of all data where no fields are named. */
export function searchFor(value: string, fields: readonly string[] = ['data']) {
  const all = fields.map((field) => ({ field, op: 'search', value }))
  return all.length === 1 && all[0] ? all[0] : { or: all }
}

/** The field of a part of an index. */
export const termOf = (term: string | { field: string }): string =>
  typeof term === 'string' ? term : term.field

export type Field = {
  name: string
  path: string
  schema: Schema
  values?: Json[]
  isNumber: boolean
  isState: boolean
}

/** The properties of a type, in the order that columns have: the title, states, then scalars, then the rest. */
export function fieldsOf(type: Described): Field[] {
  const title = titleField(type)
  const rank = ({ path, isState, schema }: Field) =>
    path === `data.${title}` ? 0 : isState ? 1 : isScalar(schema) ? 2 : 3
  return Object.entries(type.json_schema.properties ?? {})
    .map(
      ([name, schema]): Field => ({
        name,
        path: `data.${name}`,
        schema,
        ...(schema.enum && { values: schema.enum }),
        isNumber: typesOf(schema).some((each) => each === 'number' || each === 'integer'),
        isState: schema.enum?.every((value) => typeof value === 'string' || value === null) === true,
      }),
    )
    .map((field, at) => ({ field, at }))
    .sort((a, b) => rank(a.field) - rank(b.field) || a.at - b.at)
    .map(({ field }) => field)
}

const typesOf = ({ type }: Schema): readonly string[] => (Array.isArray(type) ? type : type ? [type] : [])
const isScalar = (schema: Schema) => !typesOf(schema).some((each) => each === 'object' || each === 'array')

/** The value at a path such as `data.tags`. */
export const valueAt = (row: { data: Data }, { name }: Field): Json | undefined => own(row.data, name)

/** A property of data, whatever its name: `constructor` is none of an empty object. */
export const own = (data: Data, name: string): Json | undefined =>
  Object.hasOwn(data, name) ? data[name] : undefined

/** A filter in words: "stage is not solved and owner is empty". */
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
