/** What the context of a parameter implies about its type. */
export type Use = {
  /** The context requires an array. */
  isArray?: boolean
  /** An explicit cast to json or jsonb. */
  isJson?: boolean
  /** The type of an explicit cast. */
  castTo?: string
  /** The context accepts any type, so the value determines it. */
  isUntyped?: boolean
  /** The parameter occurs only in a null test. */
  isNullTest?: boolean
}

/** The text to bind, and a cast type if the context does not infer the right one. */
export type Bound = { value: string | null; type?: string }

const INT4 = 2 ** 31

/**
 * Encodes a JSON value as a parameter. PostgreSQL infers the type of texts and nulls from the context, as for
 * literals.
 */
export function encode(value: unknown, use: Use): Bound {
  if (value === null) return typedAs(null, use.isUntyped ? 'text' : undefined)
  if (typeof value === 'string') return typedAs(value, use.isUntyped && !use.isArray ? 'text' : undefined)
  const isList = Array.isArray(value)
  if (isList && use.isArray)
    return typedAs(arrayText(value), use.castTo ? undefined : elementType(value, use))
  if (use.isJson) return { value: JSON.stringify(value) }
  if (typeof value === 'object') return { value: JSON.stringify(value), type: 'jsonb' }
  if (typeof value === 'number') return { value: String(value), type: numberType(value) }
  return { value: String(value), type: 'bool' }
}

const typedAs = (value: string | null, type: string | undefined): Bound =>
  type === undefined ? { value } : { value, type }

function numberType(value: number): string {
  if (!Number.isSafeInteger(value)) return 'numeric'
  return value >= -INT4 && value < INT4 ? 'int4' : 'int8'
}

/** The element type of a list; undefined if the other operand determines it. */
function elementType(list: readonly unknown[], use: Use): string | undefined {
  const kinds = new Set<string>()
  addKinds(list, kinds)
  const [kind = '', ...more] = kinds
  const type =
    more.length === 0 ? ARRAY_TYPES[kind] : kinds.size === 2 && isNumeric(kinds) ? 'numeric[]' : undefined
  return type ?? (use.isUntyped ? 'text[]' : undefined)
}

const ARRAY_TYPES: Readonly<Record<string, string>> = {
  whole: 'int8[]',
  number: 'numeric[]',
  boolean: 'bool[]',
}
const isNumeric = (kinds: ReadonlySet<string>) => kinds.has('whole') && kinds.has('number')

function addKinds(list: readonly unknown[], kinds: Set<string>): void {
  for (const item of list) {
    if (Array.isArray(item)) addKinds(item, kinds)
    else if (item !== null) kinds.add(Number.isSafeInteger(item) ? 'whole' : typeof item)
  }
}

/** PostgreSQL array text of a list. */
function arrayText(list: readonly unknown[]): string {
  if (list.every((item) => typeof item === 'number')) return `{${list.join(',')}}`
  const items = list.map((item) => {
    if (item === null) return 'NULL'
    if (Array.isArray(item)) return arrayText(item)
    if (typeof item === 'number' || typeof item === 'boolean') return String(item)
    const text = typeof item === 'string' ? item : JSON.stringify(item)
    return `"${text.replace(/["\\]/g, '\\$&')}"`
  })
  return `{${items.join(',')}}`
}
