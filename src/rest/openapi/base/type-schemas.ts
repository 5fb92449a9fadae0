/** The components of one record type. */
import { MOST_LEVELS, namesOnly, readRoot } from '../../../schema-shape/read-root.ts'
import type { Shape } from '../../../schema-shape/shape.ts'
import type { Json } from '../json-schema.ts'
import { filterSchemas } from './filter-schemas.ts'
import { type Form, schemaOfShape } from './shape-schema.ts'

/** Characters of one schema. A larger one is written with fewer levels. */
const SCHEMA_CHARS = 100_000

export type DescribedType = {
  readonly id: string
  /** The name of its components: `Deal`. No name has an underscore. */
  readonly name: string
  readonly description: string | null
  readonly schemaText: string
  readonly writable: boolean
}

/** The schemas of data, fields and filters as members of JSON text: `"Deal_Data":{…},…`. */
export function typeSchemas({ name, schemaText, writable }: DescribedType): string {
  const { shape, stored } = withinLimit(JSON.parse(schemaText))
  const written = (form: Form): Json => {
    const text = JSON.stringify(schemaOfShape(shape, form))
    return text === stored ? { $ref: `#/components/schemas/${name}_Data` } : (JSON.parse(text) as Json)
  }
  const schemas: Json = {
    [`${name}_Data`]: JSON.parse(stored),
    ...(writable && { [`${name}_Input`]: written('input'), [`${name}_Patch`]: written('patch') }),
    ...filterSchemas(name, shape),
  }
  return JSON.stringify(schemas).slice(1, -1)
}

function withinLimit(jsonSchema: unknown): { shape: Shape; stored: string } {
  for (let levels = MOST_LEVELS; levels > 0; levels = levels >> 1) {
    const shape = readRoot(jsonSchema, levels)
    const stored = shape && JSON.stringify(schemaOfShape(shape, 'stored'))
    if (stored && stored.length <= SCHEMA_CHARS) return { shape, stored }
  }
  const shape = namesOnly(jsonSchema)
  return { shape, stored: JSON.stringify(schemaOfShape(shape, 'stored')) }
}
