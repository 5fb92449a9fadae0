import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../foundation/is-object.ts'
import { breakingCondition, breaks, type ChangedProperties } from './breaking-condition.ts'
import { type PropertyRule, ruleOf } from './property-rules.ts'

/**
 * Records whose validity a changed schema may change: all, none, or those that hold or lack some properties, or
 * break a rule.
 */
export type AffectedRecords = 'all' | 'none' | ChangedProperties

/** The condition that a row with `data` and `valid` is affected. Binds `affectedValues` from parameter `n` on. */
export const isAffected = (n: number): string =>
  `($${n}::jsonpath IS NULL OR NOT valid OR ${breaks('data', `$${n}::jsonpath`, `$${n + 1}::jsonb`)})`

/** The values of `isAffected`. */
export function affectedValues(affected: Exclude<AffectedRecords, 'none'>): readonly unknown[] {
  if (affected === 'all') return [null, null]
  const { path, lengths } = breakingCondition(affected)
  return [path, lengths && JSON.stringify(lengths)]
}

type Schema = Readonly<Record<string, unknown>>

/** Keywords that validate nothing. */
const ANNOTATIONS = new Set([
  ...['title', 'description', '$comment', 'examples', 'default', 'deprecated', 'readOnly', 'writeOnly'],
])

/**
 * Compares two schemas by the properties of the root. Anything else that differs affects all records, and
 * so do references into `properties`.
 */
export function affectedBy(before: object, after: object): AffectedRecords {
  const [was, is] = [partsOf(before), partsOf(after)]
  if (!isDeepStrictEqual(was.rest, is.rest)) return 'all'
  const holding: string[] = []
  const rules: PropertyRule[] = []
  for (const name of new Set([...Object.keys(was.properties), ...Object.keys(is.properties)])) {
    const [old, next] = [was, is].map(({ properties }) =>
      Object.hasOwn(properties, name) ? essence(properties[name]) : undefined,
    )
    if (isDeepStrictEqual(old, next)) continue
    const rule = ruleOf(name, old, next)
    if (rule) rules.push(rule)
    else holding.push(name)
  }
  const lacking = is.required.filter((name) => !was.required.includes(name))
  const isWider = was.required.some((name) => !is.required.includes(name))
  if (holding.length + rules.length + lacking.length === 0 && !isWider) return 'none'
  return refersIntoProperties(before) || refersIntoProperties(after) ? 'all' : { holding, lacking, rules }
}

function partsOf(schema: object) {
  const { properties, required, ...rest } = schema as Schema
  return {
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
    rest: essence(rest),
  }
}

const essence = (schema: unknown): unknown =>
  isObject(schema)
    ? Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)))
    : schema

/** Whether a reference may lead anywhere but into the definitions. */
function refersIntoProperties(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(refersIntoProperties)
  if (!isObject(value)) return false
  return Object.entries(value).some(
    ([keyword, inner]) =>
      (/^\$(ref|dynamicRef|recursiveRef)$/.test(keyword) &&
        !(typeof inner === 'string' && /^#\/(\$defs|definitions)\//.test(inner))) ||
      refersIntoProperties(inner),
  )
}
