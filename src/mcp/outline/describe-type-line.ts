/** A record type in one line: its fields with kinds, allowed values, and `!` for required ones. */

import { isBuiltIn, sqlColumnOf } from '../../contract/record-columns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { own } from '../../foundation/own.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import type { Projection } from '../../schema-shape/portable-schema.ts'
import type { PortableSchema } from '../../schema-shape/publish.ts'
import { estimateTokens } from './llm-token-estimate.ts'

const KINDS: Readonly<Record<string, string>> = { integer: 'int', boolean: 'bool', number: 'number' }
const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'timestamp', date: 'date' }

/** Names and values come from the authors of types. They are cleaned, cut, and quoted if they are not plain. */
export const nameShown = (name: string): string =>
  /^[\p{L}\p{N}_$.-]{1,64}$/u.test(name) ? name : JSON.stringify(clean(name, LIMITS.typeLineNameChars))

const valueShown = (value: unknown): string => {
  const text = clean(String(value), LIMITS.typeLineValueChars)
  return /^[\p{L}\p{N}_.+ -]+$/u.test(text) ? text : JSON.stringify(text)
}

/** The fields of a type, required ones first: `title! string`, `stage! open|won`, `amount number`; with `bounds`, `amount number >=0`. */
export function fieldsOf({ schema, properties: originals }: Projection, bounds: boolean): string[] {
  const { properties = {}, required = [] } = schema
  const fields = Object.entries(properties).map(([name, property]) => {
    const isRequired = required.includes(name)
    const kind = `${kindOf(property, true)}${bounds ? boundsOf(property) : ''}`
    const own = originals.get(name) ?? name
    // A model that writes SQL needs the column, since its own name is that of the record.
    const column = isBuiltIn(own) ? ` (SQL: ${sqlColumnOf(own)})` : ''
    return { isRequired, text: `${nameShown(own)}${isRequired ? '!' : ''}${column} ${kind}` }
  })
  const isNeeded = ({ isRequired }: (typeof fields)[number]) => isRequired
  return [...fields.filter(isNeeded), ...fields.filter((field) => !isNeeded(field))].map(({ text }) => text)
}

/** The kind of a value, or the values that are allowed. */
function kindOf(schema: PortableSchema, deep: boolean): string {
  const { type, anyOf, enum: values, format, items, properties } = schema
  if (anyOf)
    return anyOf
      .filter((each) => each.type !== 'null')
      .map((each) => kindOf(each, deep))
      .join(' or ')
  if (values) {
    const more = values.length > LIMITS.typeLineValues ? '|…' : ''
    return `${values.slice(0, LIMITS.typeLineValues).map(valueShown).join('|')}${more}`
  }
  if (type === 'string') return own(FORMATS, format ?? '') ?? 'string'
  if (type === 'array') return `[${items ? kindOf(items, deep) : 'any'}]`
  if (type !== 'object') return KINDS[type ?? ''] ?? 'any'
  const names = Object.keys(properties ?? {})
  if (names.length === 0 || !deep) return '{}'
  const more = names.length > LIMITS.typeLineParts ? ', …' : ''
  return `{${names.slice(0, LIMITS.typeLineParts).map(nameShown).join(', ')}${more}}`
}

const BOUNDS = [
  ['minimum', '>='],
  ['maximum', '<='],
  ['exclusiveMinimum', '>'],
  ['exclusiveMaximum', '<'],
  ['minLength', 'length>='],
  ['maxLength', 'length<='],
] as const

/** What a value must hold besides, in short: ` >=0 <=1`, ` email`. A date has a kind of its own. */
function boundsOf(schema: PortableSchema): string {
  const { format, enum: values } = schema
  if (values) return ''
  const isNamed = format !== undefined && !Object.hasOwn(FORMATS, format)
  const limits = BOUNDS.flatMap(([name, sign]) =>
    schema[name] === undefined ? [] : [`${sign}${schema[name]}`],
  )
  return [...(isNamed ? [format] : []), ...limits].map((each) => ` ${each}`).join('')
}

/** Joins a head and as many fields as fit. Says how many are missing. */
export function lineWithin(head: string, fields: readonly string[], tokens: number): string {
  const whole = `${head}${fields.join(', ')}`
  if (estimateTokens(whole) <= tokens) return whole
  let left = tokens - estimateTokens(head) - MORE_TOKENS
  const kept: string[] = []
  for (const field of fields) {
    left -= estimateTokens(field) + 1
    if (left < 0) break
    kept.push(field)
  }
  return `${head}${[...kept, `+${fields.length - kept.length} more`].join(', ')}`
}
const MORE_TOKENS = 4
