import type { Clean, Reader } from './normalize.ts'
import { type Definitions, inPlace } from './references.ts'
import { unusableKeyword } from './schema-warnings.ts'
import { reaching, subschemas, under } from './subschemas.ts'

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
