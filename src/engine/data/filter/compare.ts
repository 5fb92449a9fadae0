import type { PositiveOperator } from './negated-operators.ts'
import type { Operand } from './operand.ts'
import type { Parameters } from './parameters.ts'

/** Operators that compare one value; a search does not. */
type Comparison = Exclude<PositiveOperator, 'search'>

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/**
 * Compiles a comparison to SQL: true, or else false or null. Values of different types never match, and no
 * value raises an SQL error.
 */
export function compare(operand: Operand, op: Comparison, value: unknown, parameters: Parameters): string {
  if (op === 'is_not_null')
    return operand.kind === 'json' ? `plinth.val(${operand.sql}) IS NOT NULL` : `${operand.sql} IS NOT NULL`
  if (op === 'in') return anyOf(operand, value as unknown[], parameters)
  const isHalf = typeof value === 'string' && !value.isWellFormed()
  if (op === 'like' || op === 'ilike' || op === 'starts_with')
    return isHalf ? 'false' : matchText(textOf(operand), op, value as string, parameters)
  if (op === 'has') return has(operand, value, parameters)
  if (op === 'has_any' || op === 'has_all') {
    const each = (value as unknown[]).map((member) => has(operand, member, parameters))
    if (each.length === 0) return op === 'has_any' ? 'false' : isArray(operand)
    return `(${each.join(op === 'has_any' ? ' OR ' : ' AND ')})`
  }
  if (op === 'eq') return equals(operand, value, parameters)
  if (isHalf) return order(operand, op.startsWith('g') ? '>=' : '<', wholeAbove(value), parameters)
  return order(operand, SIGNS[op], value, parameters)
}

function equals(operand: Operand, value: unknown, parameters: Parameters): string {
  if (hasLoneSurrogate(value)) return 'false'
  if (operand.kind !== 'json') return order(operand, '=', value, parameters)
  if (operand.zone !== null && typeof value === 'string')
    return `${instantOf(operand, operand.zone, parameters)} = ${time(value, operand.zone, parameters)}`
  return `${operand.sql} = ${parameters.add(JSON.stringify(value))}::jsonb`
}

/** Ordering, and the equality of columns, within one type. */
function order(operand: Operand, sign: string, value: unknown, parameters: Parameters): string {
  switch (operand.kind) {
    case 'number':
      return typeof value === 'number' ? `${operand.sql} ${sign} ${parameters.add(value)}::float8` : 'false'
    case 'text':
      return typeof value === 'string' ? `${operand.sql} ${sign} ${parameters.add(value)}` : 'false'
    case 'instant':
      return typeof value === 'string'
        ? `${operand.sql} ${sign} ${time(value, operand.zone, parameters)}`
        : 'false'
    case 'json':
      if (typeof value === 'number')
        return `CASE WHEN jsonb_typeof(${operand.sql}) = 'number' THEN ${operand.sql} ${sign} ${parameters.add(JSON.stringify(value))}::jsonb END`
      if (operand.zone !== null)
        return `${instantOf(operand, operand.zone, parameters)} ${sign} ${time(String(value), operand.zone, parameters)}`
      return `${textOf(operand)} COLLATE "C" ${sign} ${parameters.add(value)}`
  }
}

function anyOf(operand: Operand, values: unknown[], parameters: Parameters): string {
  const tests: string[] = []
  if (operand.kind === 'text') {
    const texts = values.filter((each) => typeof each === 'string' && each.isWellFormed())
    if (texts.length > 0) tests.push(`${operand.sql} = ANY (${parameters.add(texts)}::text[])`)
  } else if (operand.kind === 'json' && operand.zone === null) {
    const texts = values.filter((each) => !hasLoneSurrogate(each)).map((each) => JSON.stringify(each))
    if (texts.length > 0) tests.push(`${operand.sql} = ANY (${parameters.add(texts)}::jsonb[])`)
  } else for (const each of values) tests.push(equals(operand, each, parameters))
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`
}

function matchText(
  text: string,
  op: 'like' | 'ilike' | 'starts_with',
  value: string,
  parameters: Parameters,
) {
  const wanted = parameters.add(value)
  if (op === 'starts_with') return `starts_with(${text}, ${wanted})`
  if (op === 'like') return `${text} LIKE ${wanted} ESCAPE '\\'`
  // Upper- then lower-casing unifies letters with two lower-case forms, such as the Greek sigma.
  return `${folded(text)} LIKE ${folded(`${wanted}::text`)} ESCAPE '\\'`
}
const folded = (text: string): string => `lower(upper(${text} COLLATE "default"))`

/** Tests for an equal array element. jsonb containment would also match an object with more properties. */
function has(operand: Operand, value: unknown, parameters: Parameters): string {
  if (operand.kind !== 'json' || hasLoneSurrogate(value)) return 'false'
  const { sql } = operand
  if (typeof value === 'object' && value !== null)
    return `EXISTS (SELECT FROM jsonb_array_elements(CASE WHEN ${isArray(operand)} THEN ${sql} END) AS m WHERE m = ${parameters.add(JSON.stringify(value))}::jsonb)`
  return `(${isArray(operand)} AND ${sql} @> ${parameters.add(JSON.stringify([value]))}::jsonb)`
}

const isArray = (operand: Operand): string =>
  operand.kind === 'json' ? `coalesce(jsonb_typeof(${operand.sql}) = 'array', false)` : 'false'

/** The operand as text; null when it is not a string. */
const textOf = (operand: Operand): string =>
  operand.kind === 'json'
    ? `(CASE WHEN jsonb_typeof(${operand.sql}) = 'string' THEN ${operand.sql} #>> '{}' END)`
    : operand.kind === 'text'
      ? operand.sql
      : 'NULL::text'

const instantOf = ({ sql }: { sql: string }, zone: string, parameters: Parameters): string =>
  `plinth.instant(${textOf({ kind: 'json', sql, zone })}, ${parameters.add(zone)})`

/** A time value as an instant; null, which matches nothing, for an invalid one. */
const time = (value: string, zone: string, parameters: Parameters): string =>
  `plinth.instant(${parameters.add(value)}, ${parameters.add(zone)})`

/** Whether the value has a lone surrogate. No stored value has one, so none is equal. */
function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(hasLoneSurrogate)
}

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** The least well-formed string above one with a lone surrogate; no stored string is between them. */
function wholeAbove(text: string): string {
  const at = text.search(HALF)
  return at < 0 ? text : `${text.slice(0, at)}\ue000`
}
