/**
 * The condition of `breaking-condition.ts` by operators of jsonb. They take a third of the time of a path, but each of
 * them unpacks the document again, so they are for documents that PostgreSQL has not packed.
 */
import { type ChangedProperties, literal } from './breaking-condition.ts'
import type { PropertyRule } from './property-rules.ts'

/** Binds a value, and returns its parameter with the type. */
export type Bind = (value: unknown, type: string) => string

/** The condition that a document is stored as it is, so that an operator copies less than 2 KB. */
export const isUnpacked = (data: string): string =>
  `pg_column_compression(${data}) IS NULL AND pg_column_size(${data}) < 2000`

/**
 * The condition that a document holds or lacks one of the properties, or breaks a rule. It can be NULL, which is false.
 * Undefined: none does.
 */
export function byOperators(change: ChangedProperties, data: string, bind: Bind): string | undefined {
  const { holding, lacking, rules } = change
  const broken = (some: readonly PropertyRule[]) =>
    some.flatMap((rule) => [...valueBroken(rule, data, bind), ...lengthBroken(rule, data, bind)])
  const parts = broken(rules.filter(({ isNew }) => !isNew))
  if (holding.length > 0) parts.push(`${data} ?| ${bind(holding, 'text[]')}`)
  if (lacking.length > 0) parts.push(`NOT ${data} ?& ${bind(lacking, 'text[]')}`)
  const added = rules.filter(({ isNew }) => isNew)
  const names = added.map(({ name }) => name)
  const byAdded = broken(added)
  // One search for all their names: mostly there is none.
  if (byAdded.length > 2) parts.push(`(${data} ?| ${bind(names, 'text[]')} AND (${byAdded.join(' OR ')}))`)
  else parts.push(...byAdded)
  return parts.length > 0 ? parts.join(' OR ') : undefined
}

/** The conditions that a document breaks the length of a property, which no path has. */
export const lengthsBroken = ({ rules }: ChangedProperties, data: string, bind: Bind): string[] =>
  rules.flatMap((rule) => lengthBroken(rule, data, bind))

/** The conditions that the value of a property breaks a rule. An absent value is NULL, and so are they. */
function valueBroken(rule: PropertyRule, data: string, bind: Bind): string[] {
  const { name, types, allowed, known, ...bounds } = rule
  const limits = BEYOND.filter(([bound]) => bounds[bound] !== undefined)
  if (!types && !allowed && limits.length === 0) return []
  const property = bind(name, 'text')
  const [value, text] = [`(${data} -> ${property})`, `(${data} ->> ${property})`]
  const isNoneOf = (kinds: readonly string[]) => `jsonb_typeof(${value}) <> ALL (${bind(kinds, 'text[]')})`
  const parts: string[] = []
  if (types) {
    parts.push(isNoneOf(types.map((type) => (type === 'integer' ? 'number' : type))))
    // The text of a number has no exponent.
    if (types.includes('integer') && !types.includes('number'))
      parts.push(
        `(strpos(${text}, '.') > 0 AND CASE jsonb_typeof(${value}) WHEN 'number' THEN ${value}::numeric % 1 <> 0 END)`,
      )
  }
  // Texts compare faster. The text of a number can be that of a string, and that of null is NULL.
  if (allowed?.every((one) => typeof one === 'string' || one === null)) {
    const texts = allowed.filter((one) => one !== null)
    const kinds = [...(texts.length > 0 ? ['string'] : []), ...(allowed.includes(null) ? ['null'] : [])]
    if (texts.length > 0) parts.push(`${text} <> ALL (${bind(texts, 'text[]')})`)
    if (texts.length === 0 || known !== 'string') parts.push(isNoneOf(kinds))
  } else if (allowed) parts.push(`${value} <> ALL (${bind(allowed.map(literal), 'jsonb[]')})`)
  // Values of other types have an order too, before or after all numbers.
  const beyond = limits.map(
    ([bound, operator]) => `${value} ${operator} ${bind(JSON.stringify(bounds[bound]), 'jsonb')}`,
  )
  if (beyond.length > 0) parts.push(`((${beyond.join(' OR ')}) AND jsonb_typeof(${value}) = 'number')`)
  return parts
}

const BEYOND = [
  ['minimum', '<'],
  ['maximum', '>'],
  ['above', '<='],
  ['below', '>='],
] as const

/** Bytes are faster to count than characters, which have 1 to 4 each. */
function lengthBroken({ name, min_length, max_length }: PropertyRule, data: string, bind: Bind): string[] {
  if (min_length === undefined && max_length === undefined) return []
  const property = bind(name, 'text')
  const text = `(${data} ->> ${property})`
  const beyond: string[] = []
  if (min_length !== undefined) {
    const [bytes, least] = [bind(min_length * 4, 'float8'), bind(min_length, 'float8')]
    beyond.push(`octet_length(${text}) < ${bytes} AND char_length(${text}) < ${least}`)
  }
  if (max_length !== undefined) {
    const most = bind(max_length, 'float8')
    beyond.push(`octet_length(${text}) > ${most} AND char_length(${text}) > ${most}`)
  }
  return [`((${beyond.join(' OR ')}) AND jsonb_typeof(${data} -> ${property}) = 'string')`]
}
