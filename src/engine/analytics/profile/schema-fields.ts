import { isObject } from '../../../foundation/is-object.ts'
import { dereference } from '../../../schema-shape/refs.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'

/** A field path that a schema declares, with its subschema. */
export type Declared = { path: FieldPath; schema: Record<string, unknown> }

/** Lists declared field paths breadth-first through properties and items, up to the display limit. */
export function declaredPlaces(root: unknown): Declared[] {
  const found: Declared[] = []
  let level: Declared[] = [{ path: [], schema: dereference(root, root) ?? {} }]
  for (
    let depth = 0;
    depth < PROFILE_LIMITS.depth && level.length > 0 && found.length < PROFILE_LIMITS.fields;
    depth++
  ) {
    level = level.flatMap((place) => below(place, root)).slice(0, PROFILE_LIMITS.fields - found.length)
    found.push(...level)
  }
  return found
}

function below({ path, schema }: Declared, root: unknown): Declared[] {
  const { properties, items } = schema
  const named = isObject(properties) ? Object.entries(properties) : []
  const steps: [string | null, unknown][] = isObject(items) ? [...named, [null, items]] : named
  return steps.flatMap(([segment, raw]) => {
    if (raw === false) return []
    return [{ path: [...path, segment], schema: dereference(raw, root) ?? {} }]
  })
}
