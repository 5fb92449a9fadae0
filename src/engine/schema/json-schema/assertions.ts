import { isObject } from '../../../foundation/is-object.ts'
import { isMultipleOf } from '../../../json/decimal.ts'
import { pointer } from '../../../json/parse.ts'
import type { Evaluate, Keyword } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'
import { FORMATS } from './formats.ts'
import type { Clean } from './normalize.ts'
import { namesOf } from './property-names.ts'

/** Assertion keywords, which test the value itself. */
export const ASSERTED: Readonly<Record<string, Keyword>> = {
  type: (value, schema) => assertion('type', schema, typeTest([value].flat().map(String))),
  const: (value, schema) => assertion('const', schema, isOneOf([value])),
  enum: (value, schema) => assertion('enum', schema, isOneOf(value as unknown[])),
  minimum: number('minimum', (data, bound) => data >= bound),
  maximum: number('maximum', (data, bound) => data <= bound),
  exclusiveMinimum: number('exclusiveMinimum', (data, bound) => data > bound),
  exclusiveMaximum: number('exclusiveMaximum', (data, bound) => data < bound),
  multipleOf: number('multipleOf', (data, step) => {
    spend(50)
    return isMultipleOf(data, step)
  }),
  // A character takes two units at most.
  minLength: length(
    'minLength',
    (text, bound) => text.length >= bound && (text.length >= 2 * bound - 1 || characters(text) >= bound),
  ),
  maxLength: length('maxLength', (text, bound) => text.length <= bound || characters(text) <= bound),
  pattern: (value, schema, compiler) => {
    const pattern = compiler.pattern(String(value))
    return assertion('pattern', schema, (data) => typeof data !== 'string' || pattern.test(data))
  },
  format: (value, schema) => {
    const format = FORMATS[String(value)]
    return format && assertion('format', schema, (data) => typeof data !== format.type || format.test(data))
  },
  minItems: (bound, schema) =>
    assertion('minItems', schema, (data) => !Array.isArray(data) || data.length >= Number(bound)),
  maxItems: (bound, schema) =>
    assertion('maxItems', schema, (data) => !Array.isArray(data) || data.length <= Number(bound)),
  uniqueItems: (on, schema) => (on === true ? uniqueItems(schema) : undefined),
  minProperties: properties('minProperties', (count, bound) => count >= bound),
  maxProperties: properties('maxProperties', (count, bound) => count <= bound),
  required: (value, schema) => required('required', value as string[], schema),
  dependentRequired: (value, schema) => dependentRequired('dependentRequired', value, schema),
}

type Test = (data: unknown) => boolean

function assertion(keyword: string, parent: Clean, test: Test): Evaluate {
  const schema = parent[keyword]
  return (data, _seen, out, path) => {
    if (test(data)) return true
    out?.add({ keyword, path, schema, parent, data })
    return false
  }
}

const TYPE_TESTS: Readonly<Record<string, Test>> = {
  string: (data) => typeof data === 'string',
  number: (data) => typeof data === 'number' && Number.isFinite(data),
  integer: (data) => Number.isInteger(data),
  boolean: (data) => typeof data === 'boolean',
  null: (data) => data === null,
  array: (data) => Array.isArray(data),
  object: isObject,
}

function typeTest(names: readonly string[]): Test {
  const tests = names.flatMap((name) => TYPE_TESTS[name] ?? [])
  const [only] = tests
  return only && tests.length === 1 ? only : (data) => tests.some((test) => test(data))
}

function number(keyword: string, holds: (data: number, bound: number) => boolean): Keyword {
  return (value, schema) => {
    const bound = Number(value)
    return assertion(keyword, schema, (data) => typeof data !== 'number' || holds(data, bound))
  }
}

function length(keyword: string, holds: (text: string, bound: number) => boolean): Keyword {
  return (value, schema) => {
    const bound = Number(value)
    return assertion(keyword, schema, (data) => typeof data !== 'string' || holds(data, bound))
  }
}

/** Counts Unicode code points; some take two UTF-16 code units. */
function characters(text: string): number {
  spend(text.length / 4)
  let pairs = 0
  for (let i = 0; i < text.length - 1; i++) {
    const isHigh = (text.charCodeAt(i) & 0xfc00) === 0xd800
    if (isHigh && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      pairs++
      i++
    }
  }
  return text.length - pairs
}

function properties(keyword: string, holds: (count: number, bound: number) => boolean): Keyword {
  return (value, schema) => {
    const bound = Number(value)
    return assertion(keyword, schema, (data) => {
      if (!isObject(data)) return true
      const { length } = namesOf(data)
      spend(length)
      return holds(length, bound)
    })
  }
}

function isOneOf(values: readonly unknown[]): Test {
  const isScalar = (value: unknown) => typeof value !== 'object' || value === null
  const scalars = new Set(values.filter(isScalar))
  const others = new Set(values.filter((value) => !isScalar(value)).map(canonical))
  return (value) => (isScalar(value) ? scalars.has(value) : others.size > 0 && others.has(canonical(value)))
}

function uniqueItems(parent: Clean): Evaluate {
  return (data, _seen, out, path) => {
    const twins = Array.isArray(data) ? repeatedItem(data) : undefined
    if (!twins) return true
    const [first, second] = twins
    out?.add({
      keyword: 'uniqueItems',
      path: `${path}/${second}`,
      schema: true,
      parent,
      data,
      params: { first, second },
    })
    return false
  }
}

/** Required names; each missing one is a separate fault. */
function required(keyword: string, names: readonly string[], parent: Clean): Evaluate {
  return (data, _seen, out, path) => {
    if (!isObject(data)) return true
    spend(names.length)
    let valid = true
    for (const name of names) {
      if (Object.hasOwn(data, name)) continue
      if (!out) return false
      valid = false
      const params = { missingProperty: name }
      out.add({ keyword, path: path + pointer(name), schema: parent[keyword], parent, data, params })
    }
    return valid
  }
}

export function dependentRequired(keyword: string, value: unknown, parent: Clean): Evaluate {
  const rules = Object.entries(value as Record<string, string[]>)
  return dependent(rules.map(([name, names]) => [name, required(keyword, names, parent)] as const))
}

/** Dependent rules: each applies to objects that have its property. */
export function dependent(rules: readonly (readonly [name: string, rule: Evaluate])[]): Evaluate {
  return (data, seen, out, path) => {
    if (!isObject(data)) return true
    spend(rules.length)
    let valid = true
    for (const [name, rule] of rules) {
      if (!Object.hasOwn(data, name) || rule(data, seen, out, path)) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}

/** Canonical JSON: equal values have equal text, with sorted keys. */
function canonical(value: unknown): string {
  spend(15)
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value)
    spend(text.length / 8)
    return text
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  spend(members.length * 35)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}

/** The indexes of the first item that equals an earlier one (`uniqueItems`). */
function repeatedItem(items: readonly unknown[]): [first: number, second: number] | undefined {
  const places = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    const text = canonical(item)
    spend(20 + text.length / 4)
    const first = places.get(text)
    if (first !== undefined) return [first, i]
    places.set(text, i)
  }
  return undefined
}
