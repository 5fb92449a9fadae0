/** The condition by which PostgreSQL finds records that changed properties affect. */
import type { PropertyRule } from './property-rules.ts'

/** Properties whose presence or absence affects a record, and rules that their values must follow. */
export type ChangedProperties = {
  readonly holding: readonly string[]
  readonly lacking: readonly string[]
  readonly rules: readonly PropertyRule[]
}

/**
 * A JSONPath predicate over documents: one evaluation unpacks a document once, and is a value to bind. It has no length
 * of a string, so those are listed beside it.
 */
type BreakingCondition = { readonly path: string; readonly lengths: readonly LengthRule[] | null }
type LengthRule = Pick<PropertyRule, 'name'> & {
  readonly [Bound in 'min_length' | 'max_length']: number | undefined
}

/** Which documents hold or lack one of the properties, or break one of the rules. */
export function breakingCondition({ holding, lacking, rules }: ChangedProperties): BreakingCondition {
  const parts = [
    ...holding.map((name) => `exists(${member(name)})`),
    ...lacking.map((name) => `!exists(${member(name)})`),
    ...rules.flatMap(brokenBy),
  ]
  const lengths = rules.flatMap(({ name, min_length, max_length }) =>
    min_length === undefined && max_length === undefined ? [] : [{ name, min_length, max_length }],
  )
  return { path: parts.length > 0 ? anyOf(parts) : '1 == 2', lengths: lengths.length > 0 ? lengths : null }
}

/** The condition that a document satisfies a path. What a path cannot decide, the schema does. */
export const satisfies = (data: string, path: string): string => `((${data} @@ ${path}) IS NOT FALSE)`

/** The columns of a length rule, for `jsonb_to_recordset`. */
export const LENGTH_COLUMNS = 'name text, min_length numeric, max_length numeric'

/** The condition that a document breaks the length rule of a row. It can be NULL, which is false. */
export const breaksLength = (data: string, rule: string): string =>
  `(char_length(${data} ->> ${rule}.name) NOT BETWEEN coalesce(${rule}.min_length, 0) AND coalesce(${rule}.max_length, 'Infinity')
     AND jsonb_typeof(${data} -> ${rule}.name) = 'string')`

/** The condition that a document meets a breaking condition. */
export const breaks = (data: string, path: string, lengths: string): string =>
  `(${satisfies(data, path)} OR (${lengths} IS NOT NULL AND EXISTS (
     SELECT FROM jsonb_to_recordset(${lengths}) AS k (${LENGTH_COLUMNS}) WHERE ${breaksLength(data, 'k')})))`

/** Lax paths take elements of an array for the array itself, so its type comes first. */
function brokenBy({ name, types, allowed, ...bounds }: PropertyRule): string[] {
  const value = member(name)
  const isNumber = `${value}.type() == "number"`
  const comparisons = COMPARISONS.flatMap(([bound, operator]) => {
    const limit = bounds[bound]
    return limit === undefined ? [] : [`${value} ${operator} ${JSON.stringify(limit)}`]
  })
  const ofType = (type: string) =>
    type === 'integer' ? `(${isNumber} && ${value} % 1 == 0)` : `${value}.type() == ${JSON.stringify(type)}`
  const holds = [
    ...(types ? [anyOf(types.map(ofType))] : []),
    ...(allowed
      ? [
          `(${value}.type() != "array" && exists(${value} ? (${anyOf(allowed.map((one) => `@ == ${literal(one)}`))})))`,
        ]
      : []),
    ...(comparisons.length > 0 ? [`(!(${isNumber}) || (${comparisons.join(' && ')}))`] : []),
  ]
  return holds.length > 0 ? [`(exists(${value}) && !(${holds.join(' && ')}))`] : []
}

const COMPARISONS = [
  ['minimum', '>='],
  ['maximum', '<='],
  ['above', '>'],
  ['below', '<'],
] as const

const member = (name: string): string => `$.${literal(name)}`

/** A text that is no Unicode is in no record. */
const literal = (value: unknown): string =>
  JSON.stringify(typeof value === 'string' ? value.toWellFormed() : value)

/** Nested in halves, because PostgreSQL reads a path recursively. */
function anyOf(parts: readonly string[]): string {
  const [first = '1 == 2', ...more] = parts
  if (more.length === 0) return first
  const half = Math.ceil(parts.length / 2)
  return `(${anyOf(parts.slice(0, half))} || ${anyOf(parts.slice(half))})`
}
