const OPERATORS = new Set(
  'eq neq in not_in gt gte lt lte like ilike starts_with search is_null is_not_null has has_any has_all'.split(
    ' ',
  ),
)

/** The filter of conditions on properties; undefined without any. */
export function filterOf(where: object | undefined, filter: object | undefined): object | undefined {
  const conditions: object[] = Object.entries(where ?? {}).flatMap(([path, wanted]) =>
    wanted === undefined ? [] : conditionsOf(`data.${path}`, wanted),
  )
  if (filter) conditions.push(filter)
  return conditions.length > 1 ? { and: conditions } : conditions[0]
}

function conditionsOf(field: string, wanted: unknown): object[] {
  if (!hasOperators(wanted)) return [{ field, op: 'eq', value: wanted }]
  return Object.entries(wanted).flatMap(([op, value]) => {
    if (value === undefined) return []
    return op === 'is_null' || op === 'is_not_null' ? [{ field, op }] : [{ field, op, value }]
  })
}

/** An object of operators only. Any other object is a value that the field equals. */
const hasOperators = (wanted: unknown): wanted is object =>
  typeof wanted === 'object' &&
  wanted !== null &&
  !Array.isArray(wanted) &&
  Object.keys(wanted).length > 0 &&
  Object.keys(wanted).every((name) => OPERATORS.has(name))
