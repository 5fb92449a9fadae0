const OPERATORS = new Set(
  'eq neq in not_in gt gte lt lte like ilike starts_with search is_null is_not_null has has_any has_all'.split(
    ' ',
  ),
)

/**
 * The filter of conditions on properties; undefined without any.
 * @throws TypeError for a condition whose value is undefined: without it, the filter would find more than was meant
 */
export function filterOf(where: object | undefined, filter: object | undefined): object | undefined {
  const conditions = Object.entries(where ?? {}).flatMap(([path, wanted]) => conditionsOf(path, wanted))
  if (filter) conditions.push(filter)
  return conditions.length > 1 ? { and: conditions } : conditions[0]
}

function conditionsOf(path: string, wanted: unknown): object[] {
  const field = `data.${path}`
  if (!hasOperators(wanted)) return [{ field, op: 'eq', value: given(path, wanted) }]
  return Object.entries(wanted).map(([op, value]) => {
    given(`${path}.${op}`, value)
    return op === 'is_null' || op === 'is_not_null' ? { field, op } : { field, op, value }
  })
}

function given(name: string, value: unknown): unknown {
  if (value !== undefined) return value
  throw new TypeError(`where.${name} is undefined. Give a value, or leave the condition out.`)
}

/** An object of operators only. Any other object is a value that the field equals. */
const hasOperators = (wanted: unknown): wanted is object =>
  typeof wanted === 'object' &&
  wanted !== null &&
  !Array.isArray(wanted) &&
  Object.keys(wanted).length > 0 &&
  Object.keys(wanted).every((name) => OPERATORS.has(name))
