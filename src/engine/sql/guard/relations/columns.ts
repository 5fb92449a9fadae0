import { nameOf, quoteText } from '../syntax/names.ts'
import { type Kind, propertiesOf } from './properties.ts'

/** A column of a relation: its name and the expression over the view that yields it. */
export type SqlColumn = {
  name: string
  expression: string
  /** It holds text in the database's own collation. */
  isText?: boolean
}

const BEFORE = 'id external_id external_source status version created_at updated_at'.split(' ')

/** The columns of a record type: those of every record, the properties of its schema with types, and `data`. */
export function columnsOf(type: { timezone: string; jsonSchema: unknown }): SqlColumn[] {
  const columns: SqlColumn[] = BEFORE.map((name) => ({ name, expression: name }))
  // A property whose name is taken, or empty, or equal to an earlier one in what PostgreSQL keeps, is read from data.
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
 * A property as its kind. Whatever a row holds, this yields a value or null and never fails: casts stand inside a CASE
 * that has seen the value, and bounds are compared before they are needed.
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

/** A number that a bigint can hold. */
const whole = (number: string) =>
  `CASE WHEN ${number} BETWEEN -9223372036854775808 AND 9223372036854775807 AND ${number} % 1 = 0 THEN ${number}::bigint END`

/** A calendar day; the plain casts would fail on the thirtieth of February. */
const day = (text: string) =>
  `CASE WHEN ${text} ~ '^\\d{4}-\\d\\d-\\d\\d$' THEN (plinth.instant(${text}, 'UTC') AT TIME ZONE 'UTC')::date END`
