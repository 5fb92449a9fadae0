import { isObject } from '../../../foundation/is-object.ts'
import { ALTERNATIVES } from './alternatives.ts'
import { APPLICATORS, remaining } from './applicators.ts'
import { ASSERTED } from './assertions.ts'
import { type Compiler, type Evaluate, type Keyword, Seen } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'
import type { Clean } from './normalize.ts'
import type { Pattern } from './pattern.ts'
import type { Definitions } from './references.ts'

/** Keywords in evaluation order, which is also the order of faults. */
const KEYWORDS: Readonly<Record<string, Keyword>> = { ...ASSERTED, ...ALTERNATIVES, ...APPLICATORS }
const ORDER = Object.keys(KEYWORDS)

/**
 * Compiles a normalized schema to closures. Compared with code generation, compilation takes microseconds per
 * subschema, and V8 never has to compile one huge function.
 */
export function buildEvaluators(
  patterns: ReadonlyMap<string, Pattern>,
  definitions: Definitions,
): (schema: Clean | boolean) => Evaluate {
  const known = new Map<Clean, Evaluate>()
  const compiler: Compiler = {
    schema: (schema) => {
      if (typeof schema === 'boolean') return schema ? holds : refuses
      const clean = schema as Clean
      const before = known.get(clean)
      if (before) return before
      const made = compile(clean, compiler)
      known.set(clean, made)
      return made
    },
    pattern: (source) => patterns.get(source) as Pattern,
    target: (schema) => definitions.target(schema),
  }
  return compiler.schema
}

const holds: Evaluate = () => true
const refuses: Evaluate = (data, _seen, out, path) => {
  out?.add({ keyword: 'false schema', path, schema: false, parent: {}, data })
  return false
}

function compile(schema: Clean, compiler: Compiler): Evaluate {
  const parts: Evaluate[] = []
  for (const keyword of ORDER) {
    if (!Object.hasOwn(schema, keyword)) continue
    const part = KEYWORDS[keyword]?.(schema[keyword], schema, compiler)
    if (part) parts.push(part)
  }
  const all = conjunction(parts)
  const asksSeen = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema
  return asksSeen ? withUnevaluated(all, schema, compiler) : all
}

/** Conjunction: all parts must be valid. */
function conjunction(parts: readonly Evaluate[]): Evaluate {
  const [first, second] = parts
  if (!first) return holds
  if (!second)
    return (data, seen, out, path) => {
      spend(2)
      return first(data, seen, out, path)
    }
  const steps = 1 + parts.length
  return (data, seen, out, path) => {
    spend(steps)
    let valid = true
    for (const part of parts) {
      if (part(data, seen, out, path)) continue
      if (!out) return false
      valid = false
    }
    return valid
  }
}

/** Runs `unevaluated*` after all other keywords, and skips it for an invalid value. */
function withUnevaluated(others: Evaluate, schema: Clean, compiler: Compiler): Evaluate {
  const parts = [
    unevaluatedItems(schema['unevaluatedItems'], schema, compiler),
    unevaluatedProperties(schema['unevaluatedProperties'], schema, compiler),
  ].filter((part) => part !== undefined)
  return (data, seen, out, path) => {
    spend(10)
    const own = new Seen()
    if (!others(data, own, out, path)) return false
    for (const part of parts) if (!part(data, own, out, path)) return false
    seen?.merge(own)
    return true
  }
}

/** `unevaluatedItems`: applies to items that no other keyword evaluated. */
const unevaluatedItems: Keyword = (value, parent, compiler) => {
  if (value === undefined) return undefined
  const evaluate = compiler.schema(value)
  return (data, seen, out, path) => {
    if (!Array.isArray(data) || !seen) return true
    spend(data.length)
    let valid = true
    for (const [i, item] of data.entries()) {
      if (seen.hasItem(i)) continue
      if (value === false) {
        out?.add({ keyword: 'unevaluatedItems', path, schema: false, parent, data, params: { limit: i } })
        return false
      }
      if (evaluate(item, null, out, out ? `${path}/${i}` : '')) continue
      if (!out) return false
      valid = false
    }
    seen.items = Number.POSITIVE_INFINITY
    return valid
  }
}

/** `unevaluatedProperties`: applies to properties that no other keyword evaluated. */
const unevaluatedProperties: Keyword = (value, parent, compiler) => {
  if (value === undefined) return undefined
  const rest = remaining('unevaluatedProperties', value, parent, compiler.schema(value))
  return (data, seen, out, path) => {
    if (!isObject(data) || !seen) return true
    const valid = rest(data, (name) => seen.hasProperty(name), out, path)
    if (valid || out) seen.allProperties = true
    return valid
  }
}
