/** The schema as a graph: its subschemas, and what leads to them. */
import { isObject } from '../../../foundation/is-object.ts'
import { ASSERTIONS, NOTES, type Shape } from './keywords.ts'
import type { Clean, Reader } from './normalize.ts'
import { type Definitions, inPlace } from './references.ts'
import { unusableKeyword } from './schema-warnings.ts'

const SHAPES: Readonly<Record<string, Shape>> = Object.assign(
  {},
  ...[NOTES, ASSERTIONS].flatMap((each) => [each['draft-07'], each['2020-12']]),
)

/** How the value of a keyword holds subschemas: it is one or a list, or it maps names to them. */
export function holdsSchemas(keyword: string): 'list' | 'map' | undefined {
  switch (SHAPES[keyword]) {
    case 'schema':
    case 'schemas':
      return 'list'
    case 'schema-map':
    case 'dependencies':
      return 'map'
    default:
      return undefined
  }
}

/** The subschemas of a keyword. */
export function under(schema: Clean, keyword: string): Clean[] {
  const value = schema[keyword]
  const isOne = holdsSchemas(keyword) === 'list' && !Array.isArray(value)
  return (isOne ? [value] : holdsSchemas(keyword) ? Object.values(value ?? {}) : []).filter(isObject)
}

/** All direct subschemas, and the target of a reference. */
const subschemas = (schema: Clean, definitions: Definitions): Clean[] =>
  [...Object.keys(schema).flatMap((keyword) => under(schema, keyword)), definitions.target(schema)].filter(
    isObject,
  )

/** The schemas from which some start can be reached over the edges. */
export function reaching(
  starts: Iterable<Clean>,
  all: Iterable<Clean>,
  edges: (schema: Clean) => readonly Clean[],
): Set<Clean> {
  const parents = new Map<Clean, Clean[]>()
  for (const schema of all)
    for (const child of edges(schema)) {
      const known = parents.get(child)
      if (known) known.push(schema)
      else parents.set(child, [schema])
    }
  const found = new Set(starts)
  // A set yields what is added while it is iterated.
  for (const schema of found) for (const parent of parents.get(schema) ?? []) found.add(parent)
  return found
}

/** Keywords under which a schema that accepts more makes the whole refuse valid values. */
const NEGATIVE = ['not', 'if', 'oneOf']

/**
 * Removes keywords that would refuse valid values, because a pattern that they depend on is not checked.
 */
export function relax(reader: Reader, definitions: Definitions): void {
  const { patterns, names } = reader.unchecked
  if (patterns.size === 0) return
  const all = [...reader.schemas.values()]
  const drop = (schema: Clean, keyword: string) => {
    if (!(keyword in schema)) return
    delete schema[keyword]
    reader.note(unusableKeyword(keyword), [...(reader.paths.get(schema) ?? []), keyword])
  }
  const open = reaching(patterns, all, (schema) => subschemas(schema, definitions))
  for (const schema of open) {
    const negative = 'maxContains' in schema ? [...NEGATIVE, 'contains'] : NEGATIVE
    for (const keyword of negative)
      if (under(schema, keyword).some((each) => open.has(each))) drop(schema, keyword)
  }
  // Names that a removed pattern allowed would otherwise count as additional properties.
  for (const schema of names) drop(schema, 'additionalProperties')
  const named = reaching(names, all, (schema) => inPlace(schema, definitions))
  for (const schema of named) drop(schema, 'unevaluatedProperties')
}
