/** The properties of an object of the data, each with its field of GraphQL. */
import { isNever, type Shape } from '../../schema-shape/shape.ts'
import { fieldNameOf } from './names.ts'

/** A property and its field. */
export type Property = {
  readonly name: string
  readonly field: string
  readonly shape: Shape
  readonly required: boolean
}

/** Properties that admit a value. Of two names with the same hash the first is a field. `_data` has both. */
export function propertiesOf({ object }: Pick<Shape, 'object'>): readonly Property[] {
  const found = new Map<string, Property>()
  for (const [name, shape] of object.properties) {
    const field = fieldNameOf(name)
    if (!isNever(shape) && !found.has(field))
      found.set(field, { name, field, shape, required: object.required.has(name) })
  }
  return [...found.values()]
}
