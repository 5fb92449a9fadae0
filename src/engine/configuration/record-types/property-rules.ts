/** Changes of a property that PostgreSQL can judge, so that a stricter schema reads only the records that break it. */

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'

/** What the value of a property must be now. What is absent is as it was, or not limited. Lengths are in code points. */
export type PropertyRule = {
  readonly name: string
  readonly types?: readonly string[]
  readonly allowed?: readonly unknown[]
  readonly min_length?: number
  readonly max_length?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly above?: number
  readonly below?: number
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const isScalar = (value: unknown) => value === null || typeof value !== 'object'
const number = (value: unknown) => (typeof value === 'number' ? value : undefined)

/** The member of a rule for each keyword; undefined if PostgreSQL cannot judge the value of the keyword. */
const KEYWORDS: Readonly<Record<string, (value: unknown) => Omit<PropertyRule, 'name'> | undefined>> = {
  type: (value) => {
    const types = Array.isArray(value) ? value : [value]
    return types.every((type) => TYPES.includes(type)) ? { types } : undefined
  },
  enum: (value) => (Array.isArray(value) && value.every(isScalar) ? { allowed: value } : undefined),
  const: (value) => (isScalar(value) ? { allowed: [value] } : undefined),
  minLength: (value) => bound('min_length', value),
  maxLength: (value) => bound('max_length', value),
  minimum: (value) => bound('minimum', value),
  maximum: (value) => bound('maximum', value),
  exclusiveMinimum: (value) => bound('above', value),
  exclusiveMaximum: (value) => bound('below', value),
}

function bound(name: string, value: unknown): Omit<PropertyRule, 'name'> | undefined {
  return number(value) === undefined ? undefined : { [name]: value }
}

/**
 * The rule that a valid value must follow to stay valid; undefined if it takes the whole schema to judge it. A
 * keyword that goes away makes no value invalid, so only those that are new or changed count.
 */
export function ruleOf(name: string, was: unknown, after: unknown): PropertyRule | undefined {
  const before = was === undefined ? {} : was
  if (!isObject(before) || !isObject(after)) return undefined
  let rule: PropertyRule = { name }
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isDeepStrictEqual(before[keyword], after[keyword])) continue
    const read = own(KEYWORDS, keyword)
    if (!read) return undefined
    const part = Object.hasOwn(after, keyword) ? read(after[keyword]) : {}
    if (!part || (part.allowed && rule.allowed)) return undefined
    rule = { ...rule, ...part }
  }
  return rule
}
