import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import { dependent, dependentRequired } from './assertions.ts'
import type { Compiler, Evaluate, Faults, Keyword, Seen } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'
import type { Clean } from './normalize.ts'
import { namesOf } from './property-names.ts'

/** Applicators for the members of objects and arrays. */
export const APPLICATORS: Readonly<Record<string, Keyword>> = {
  prefixItems: (value, _schema, compiler) => prefixItems(value as unknown[], compiler),
  items: (value, schema, compiler) => items(value, schema, compiler),
  contains: (value, schema, compiler) => contains(value, schema, compiler),
  propertyNames: (value, schema, compiler) => propertyNames(value, schema, compiler),
  dependentSchemas: (value, _schema, compiler) => dependentSchemas(value as object, compiler),
  dependencies: (value, schema, compiler) => dependencies(value as object, schema, compiler),
  properties: (value, _schema, compiler) => properties(value as object, compiler),
  patternProperties: (value, _schema, compiler) => patternProperties(value as object, compiler),
  additionalProperties: (value, schema, compiler) => additionalProperties(value, schema, compiler),
}

function prefixItems(schemas: readonly unknown[], compiler: Compiler): Evaluate {
  const evaluates = schemas.map(compiler.schema)
  return (data, seen, out, path) => {
    if (!Array.isArray(data)) return true
    if (seen) seen.items = Math.max(seen.items, evaluates.length)
    let valid = true
    for (const [i, evaluate] of evaluates.entries()) {
      if (i >= data.length || evaluate(data[i], null, out, out ? `${path}/${i}` : '')) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}

function items(value: unknown, schema: Clean, compiler: Compiler): Evaluate {
  const { prefixItems: prefix } = schema
  const start = Array.isArray(prefix) ? prefix.length : 0
  if (value === false && start > 0) return tooMany('items', start, schema)
  const evaluate = compiler.schema(value)
  return (data, seen, out, path) => {
    if (!Array.isArray(data)) return true
    if (seen) seen.items = Number.POSITIVE_INFINITY
    return eachItem(data, start, evaluate, out, path)
  }
}

function eachItem(
  data: readonly unknown[],
  start: number,
  evaluate: Evaluate,
  out: Parameters<Evaluate>[2],
  path: string,
): boolean {
  spend(data.length)
  let valid = true
  for (let i = start; i < data.length; i++) {
    if (evaluate(data[i], null, out, out ? `${path}/${i}` : '')) continue
    if (!out) return false
    valid = false
  }
  return valid
}

function tooMany(keyword: string, limit: number, parent: Clean): Evaluate {
  return (data, _seen, out, path) => {
    if (!Array.isArray(data) || data.length <= limit) return true
    out?.add({ keyword, path, schema: false, parent, data, params: { limit } })
    return false
  }
}

function contains(value: unknown, parent: Clean, compiler: Compiler): Evaluate {
  const evaluate = compiler.schema(value)
  const least = Number(parent['minContains'] ?? 1)
  const most = Number(parent['maxContains'] ?? Number.POSITIVE_INFINITY)
  return (data, seen, out, path) => {
    if (!Array.isArray(data)) return true
    spend(data.length)
    let count = 0
    for (const [i, item] of data.entries()) {
      if (!evaluate(item, null, null, '')) continue
      count++
      seen?.addItem(i)
      // Annotation collection needs every match, so it cannot stop early.
      if (count > most || (!seen && count >= least && most === Number.POSITIVE_INFINITY)) break
    }
    if (count >= least && count <= most) return true
    out?.add({ keyword: 'contains', path, schema: value, parent, data })
    return false
  }
}

function propertyNames(value: unknown, parent: Clean, compiler: Compiler): Evaluate {
  const evaluate = compiler.schema(value)
  return (data, _seen, out, path) => {
    if (!isObject(data)) return true
    let valid = true
    for (const name of keysOf(data)) {
      if (evaluate(name, null, null, '')) continue
      if (!out) return false
      valid = false
      out.add({ keyword: 'propertyNames', path: path + pointer(name), schema: value, parent, data })
    }
    return valid
  }
}

/** The property names of a value; charges the budget. */
function keysOf(data: Record<string, unknown>): readonly string[] {
  const keys = namesOf(data)
  spend(keys.length * 2)
  return keys
}

function dependentSchemas(value: object, compiler: Compiler): Evaluate {
  return dependent(Object.entries(value).map(([name, schema]) => [name, compiler.schema(schema)] as const))
}

/** `dependencies` of draft-07: name lists and schemas. */
function dependencies(value: object, schema: Clean, compiler: Compiler): Evaluate {
  const rules = Object.entries(value)
  const names = rules.filter(([, rule]) => Array.isArray(rule))
  const schemas = rules.filter(([, rule]) => !Array.isArray(rule))
  const byName = dependentRequired('dependencies', Object.fromEntries(names), schema)
  const bySchema = dependentSchemas(Object.fromEntries(schemas), compiler)
  return (data, seen, out, path) => {
    const valid = byName(data, seen, out, path)
    if (!valid && !out) return false
    return bySchema(data, seen, out, path) && valid
  }
}

type Member = { readonly name: string; readonly evaluate: Evaluate }

// Above this number of declared properties, the members of a small object are looked up instead.
const WIDE = 32

function properties(value: object, compiler: Compiler): Evaluate {
  const members = Object.entries(value).map(
    ([name, schema]): Member => ({ name, evaluate: compiler.schema(schema) }),
  )
  const byName = members.length > WIDE ? new Map(members.map((each) => [each.name, each])) : null
  return (data, seen, out, path) => {
    if (!isObject(data)) return true
    const those = byName && !out ? fewest(data, members, byName) : members
    spend(those.length)
    let valid = true
    for (const { name, evaluate } of those) {
      if (!Object.hasOwn(data, name)) continue
      seen?.addProperty(name)
      if (evaluate(data[name], null, out, out ? path + pointer(name) : '')) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}

/** The smaller set to iterate: the declared members, or those of the value. */
function fewest(
  data: Record<string, unknown>,
  members: readonly Member[],
  byName: ReadonlyMap<string, Member>,
): readonly Member[] {
  const keys = keysOf(data)
  if (keys.length >= members.length) return members
  const present: Member[] = []
  for (const key of keys) {
    const member = byName.get(key)
    if (member) present.push(member)
  }
  return present
}

function patternProperties(value: object, compiler: Compiler): Evaluate {
  const rules = Object.entries(value).map(
    ([source, schema]) => [compiler.pattern(source), compiler.schema(schema)] as const,
  )
  return (data, seen, out, path) => {
    if (!isObject(data)) return true
    let valid = true
    for (const name of keysOf(data))
      for (const [pattern, evaluate] of rules) {
        if (!pattern.test(name)) continue
        seen?.addProperty(name)
        if (evaluate(data[name], null, out, out ? path + pointer(name) : '')) continue
        if (!out) return false
        valid = false
      }
    return valid
  }
}

function additionalProperties(value: unknown, parent: Clean, compiler: Compiler): Evaluate {
  const named = new Set(Object.keys((parent['properties'] as object | undefined) ?? {}))
  const patterns = Object.keys((parent['patternProperties'] as object | undefined) ?? {}).map(
    compiler.pattern,
  )
  const rest = remaining('additionalProperties', value, parent, compiler.schema(value))
  const isCovered = (name: string) => named.has(name) || patterns.some((pattern) => pattern.test(name))
  return (data, seen: Seen | null, out, path) => {
    if (!isObject(data)) return true
    if (seen) seen.allProperties = true
    return rest(data, isCovered, out, path)
  }
}

/**
 * Applies a keyword's schema to the properties of an object that nothing else covers. Without `out` it stops at
 * the first fault.
 */
export function remaining(keyword: string, value: unknown, parent: Clean, evaluate: Evaluate) {
  return (
    data: Record<string, unknown>,
    isCovered: (name: string) => boolean,
    out: Faults | null,
    path: string,
  ): boolean => {
    let valid = true
    for (const name of keysOf(data)) {
      if (isCovered(name)) continue
      if (value === false) out?.addProperty(name, { keyword, path, schema: false, parent, data })
      else if (evaluate(data[name], null, out, out ? path + pointer(name) : '')) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}
