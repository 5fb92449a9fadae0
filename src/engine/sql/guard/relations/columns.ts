import { nameOf, quoteText } from '../syntax/names.ts'
import { type Kind, propertiesOf } from './properties.ts'

/** A column of a relation: its name, and its expression over the view. */
export type SqlColumn = {
  name: string
  expression: string
  /** Text in the database's default collation. */
  isText?: boolean
}

const BEFORE = 'id external_id external_source status version created_at updated_at'.split(' ')

/** The columns of a record type: the system columns, typed columns for schema properties, and `data`. */
export function columnsOf(type: { timezone: string; jsonSchema: unknown }): SqlColumn[] {
  const columns: SqlColumn[] = BEFORE.map((name) => ({ name, expression: name }))
  // A property with a duplicate or empty name, also after PostgreSQL's truncation, is only readable through
  // `data`.
  const taken = new Set(['', 'data', ...BEFORE])
  for (const [property, kind] of propertiesOf(type.jsonSchema)) {
    const name = nameOf(property)
    if (taken.has(name)) continue
    taken.add(name)
    columns.push({ name, expression: typed(property, kind, type.timezone), isText: kind === 'string' })
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
