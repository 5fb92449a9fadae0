import { COLUMNS, sqlColumnOf } from '../../../../contract/record-columns.ts'
import { isObject } from '../../../../foundation/is-object.ts'
import { dereference } from '../../../../schema-shape/refs.ts'
import { formerNamesOf } from '../../../schema/json-schema/property-names.ts'
import { nameOf, quoteText } from '../syntax/names.ts'

/** A column of a relation: its name, and its expression over the view. */
export type SqlColumn = {
  name: string
  expression: string
  /** Text in the database's default collation. */
  isText?: boolean
  /** The property that it shows, its kind, and its values if the schema lists them. */
  property?: { readonly name: string; readonly kind: Kind; readonly values?: readonly string[] | undefined }
  /** The names that the property had before. */
  former?: readonly string[]
}

/** The column of a property that had a name before. */
export const columnRenamedFrom = (columns: Iterable<SqlColumn>, name: string): string | undefined =>
  [...columns].find(({ former }) => former?.includes(name))?.name

/** The columns of a record type: the system columns, typed columns for schema properties, and `data`. */
export function columnsOf(type: { timezone: string; jsonSchema: unknown }): SqlColumn[] {
  const columns: SqlColumn[] = COLUMNS.map((name) => ({ name, expression: name }))
  const properties = propertiesOf(type.jsonSchema)
  const own = new Set(properties.map(({ name }) => nameOf(name)))
  // A property with a duplicate or empty name, also after PostgreSQL's truncation, is only readable through
  // `data`.
  const taken = new Set<string>(['', 'data', ...COLUMNS])
  for (const { name: property, kind, values, former } of properties) {
    const name = nameOf(sqlColumnOf(property))
    // A property that is called `data_status` itself keeps its name.
    if (taken.has(name) || (name !== nameOf(property) && own.has(name))) continue
    taken.add(name)
    columns.push({
      name,
      expression: typed(property, kind, type.timezone),
      isText: kind === 'string',
      property: { name: property, kind, values },
      ...(former.length > 0 && { former }),
    })
  }
  columns.push({ name: 'data', expression: 'data' })
  return columns
}

/**
 * The typed column of a property. It yields a value or null for any row and never raises: CASE tests the
 * value before the cast, and the range before it is needed.
 */
function typed(property: string, kind: Kind, timezone: string): string {
  const key = quoteText(property)
  const value = `(data -> ${key})`
  const text = `(data ->> ${key})`
  const when = (type: string, then: string) => `CASE WHEN jsonb_typeof${value} = '${type}' THEN ${then} END`
  switch (kind) {
    case 'integer':
      return when('number', whole(`${value}::numeric`))
    case 'number':
      return when('number', `${value}::numeric`)
    case 'boolean':
      return when('boolean', `${value}::boolean`)
    case 'string':
      return when('string', text)
    case 'date-time':
      return when('string', `plinth.instant(${text}, ${quoteText(timezone)})`)
    case 'date':
      return when('string', day(text))
    case 'json':
      return `NULLIF(${value}, 'null'::jsonb)`
  }
}

/** An integer in the range of bigint. */
const whole = (number: string) =>
  `CASE WHEN ${number} BETWEEN -9223372036854775808 AND 9223372036854775807 AND ${number} % 1 = 0 THEN ${number}::bigint END`

/** A calendar date; a plain cast would raise an error for 30 February. */
const day = (text: string) =>
  `CASE WHEN ${text} ~ '^\\d{4}-\\d\\d-\\d\\d$' THEN (plinth.instant(${text}, 'UTC') AT TIME ZONE 'UTC')::date END`

/** Column type of a property, derived from its schema. */
export type Kind = 'integer' | 'number' | 'boolean' | 'string' | 'date-time' | 'date' | 'json'

type Schema = Record<string, unknown>

/** The top-level properties of a schema in order, with their column types and listed texts. */
function propertiesOf(jsonSchema: unknown) {
  const properties = dereference(jsonSchema, jsonSchema)?.['properties']
  if (!isObject(properties)) return []
  return Object.entries(properties).map(([name, raw]) => {
    const schema = dereference(raw, jsonSchema)
    return { name, kind: kindOf(schema), values: textsOf(schema), former: formerNamesOf(raw) }
  })
}

/** The texts that a schema lists, without null; undefined if it lists another value, or none. */
function textsOf(schema: Schema | undefined): readonly string[] | undefined {
  const texts = schema && listed(schema)
  return texts?.length && texts.every((each) => typeof each === 'string') ? texts : undefined
}

/** The values of an enum or const schema, without null. */
function listed(schema: Schema): readonly unknown[] {
  const values = 'const' in schema ? [schema['const']] : schema['enum']
  return Array.isArray(values) ? values.filter((each) => each !== null) : []
}

function kindOf(schema: Schema | undefined): Kind {
  const bare = schema && withoutNull(schema)
  switch (bare?.['type']) {
    case 'integer':
    case 'number':
    case 'boolean':
      return bare['type']
    case 'string':
      return bare['format'] === 'date-time' || bare['format'] === 'date' ? bare['format'] : 'string'
    case undefined:
      return bare ? kindOfValues(bare) : 'json'
    default:
      return 'json'
  }
}

/** Infers the type of an enum or const schema from its values. */
function kindOfValues(schema: Schema): Kind {
  const values = listed(schema)
  if (values.length === 0) return 'json'
  if (values.every((each) => typeof each === 'string')) return 'string'
  if (values.every((each) => typeof each === 'boolean')) return 'boolean'
  if (values.every((each) => Number.isSafeInteger(each))) return 'integer'
  return values.every((each) => typeof each === 'number') ? 'number' : 'json'
}

/** Removes null: `["x", "null"]` becomes `"x"`, and `anyOf` of a schema and null becomes that schema. */
function withoutNull(schema: Schema): Schema {
  const { type } = schema
  if (Array.isArray(type)) {
    const rest = type.filter((each) => each !== 'null')
    return rest.length === 1 ? { ...schema, type: rest[0] } : schema
  }
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (type !== undefined || !Array.isArray(choices) || choices.length !== 2) return schema
  const rest = choices.filter((each) => !(isObject(each) && each['type'] === 'null'))
  return rest.length === 1 && isObject(rest[0]) ? rest[0] : schema
}
