import { remaining } from './applicators.ts'
import { isPlainObject, type Keyword } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'

/** `unevaluatedItems`: applies to items that no other keyword evaluated. */
export const unevaluatedItems: Keyword = (value, parent, compiler) => {
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
export const unevaluatedProperties: Keyword = (value, parent, compiler) => {
  if (value === undefined) return undefined
  const rest = remaining('unevaluatedProperties', value, parent, compiler.schema(value))
  return (data, seen, out, path) => {
    if (!isPlainObject(data) || !seen) return true
    const valid = rest(data, (name) => seen.hasProperty(name), out, path)
    if (valid || out) seen.allProperties = true
    return valid
  }
}
