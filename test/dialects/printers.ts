import type { Condition, Filter } from '../support/reference.ts'

/** How another language writes what a filter of ours says: one condition, and groups. */
type Printer = {
  one: (condition: Condition) => string
  group: (kind: 'and' | 'or', of: string[]) => string
  not: (of: string) => string
}

const print =
  (printer: Printer) =>
  (filter: Filter): string => {
    const inner = print(printer)
    if ('and' in filter) return printer.group('and', filter.and.map(inner))
    if ('or' in filter) return printer.group('or', filter.or.map(inner))
    return 'not' in filter ? printer.not(inner(filter.not)) : printer.one(filter)
  }

const SIGNS: Record<string, string> = { eq: '=', neq: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' }
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])

const sqlValue = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value).toUpperCase()
export const sql = print({
  one: ({ field, op, value }) => {
    if (op === 'in') return `${field} IN (${listOf(value).map(sqlValue).join(', ')})`
    if (op === 'is_null' || op === 'is_not_null') return `${field} ${op.replaceAll('_', ' ').toUpperCase()}`
    return `${field} ${SIGNS[op]} ${sqlValue(value)}`
  },
  group: (kind, of) => `(${of.join(` ${kind.toUpperCase()} `)})`,
  not: (of) => `NOT (${of})`,
})

const quoted = (value: unknown): string =>
  typeof value === 'string' ? `"${value.replaceAll('"', '\\"')}"` : String(value)
export const pocketbase = print({
  one: ({ field, op, value }) => {
    if (op === 'in')
      return `(${listOf(value)
        .map((each) => `${field} = ${quoted(each)}`)
        .join(' || ')})`
    if (op === 'is_null' || op === 'is_not_null') return `${field} ${op === 'is_null' ? '=' : '!='} null`
    return `${field} ${SIGNS[op]} ${quoted(value)}`
  },
  group: (kind, of) => `(${of.join(kind === 'and' ? ' && ' : ' || ')})`,
  not: (of) => `!(${of})`,
})

const airtableValue = (value: unknown): string =>
  typeof value === 'boolean' ? `${String(value).toUpperCase()}()` : quoted(value)
export const airtable = print({
  one: ({ field, op, value }) => {
    if (op === 'in')
      return `OR(${listOf(value)
        .map((each) => `{${field}}=${airtableValue(each)}`)
        .join(',')})`
    if (op === 'is_null' || op === 'is_not_null') return `{${field}}${op === 'is_null' ? '=' : '!='}BLANK()`
    return `{${field}}${SIGNS[op]}${airtableValue(value)}`
  },
  group: (kind, of) => `${kind.toUpperCase()}(${of.join(', ')})`,
  not: (of) => `NOT(${of})`,
})

const bare = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value))
export const postgrest = print({
  one: ({ field, op, value }) => {
    if (op === 'in') return `${field}.in.(${listOf(value).map(bare).join(',')})`
    if (op === 'is_null') return `${field}.is.null`
    return op === 'is_not_null' ? `${field}.not.is.null` : `${field}.${op}.${bare(value)}`
  },
  group: (kind, of) => `${kind}(${of.join(',')})`,
  not: (of) => `not.and(${of})`,
})

export const nocodb = print({
  one: ({ field, op, value }) => {
    if (op === 'in') return `(${[field, 'in', ...listOf(value).map(bare)].join(',')})`
    if (op === 'is_null') return `(${field},is,null)`
    return op === 'is_not_null' ? `(${field},notnull)` : `(${field},${op},${bare(value)})`
  },
  group: (kind, of) => `(${of.join(`~${kind}`)})`,
  not: (of) => `~not(${of})`,
})

/** Mongo's filter, where groups stay groups. */
export function mongo(filter: Filter): object {
  if ('and' in filter) return { $and: filter.and.map(mongo) }
  if ('or' in filter) return { $or: filter.or.map(mongo) }
  if ('not' in filter) return { $nor: [mongo(filter.not)] }
  const { field, op, value } = filter
  if (op === 'is_null' || op === 'is_not_null') return { [field]: op === 'is_null' ? null : { $ne: null } }
  return { [field]: op === 'eq' ? value : { [op === 'neq' ? '$ne' : `$${op}`]: value } }
}
