import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { renamedTo } from '../../schema/json-schema/property-names.ts'

type Schema = { readonly properties?: unknown; readonly items?: unknown }

/**
 * A property as a dotted path, and its new name if the next schema says that it was renamed. Items of arrays have none:
 * a migration does not reach them.
 */
export type Dropped = { readonly name: string; readonly to: string | undefined }

/** Finds the first properties that a schema declares and the next one omits. */
export function droppedProperties(before: Schema | undefined, next: Schema): Dropped[] {
  const dropped: Dropped[] = []
  compare(before, next, '', dropped)
  return dropped
}

function compare(before: unknown, next: unknown, at: string, dropped: Dropped[]): void {
  if (!isObject(before)) return
  const kept = isObject(next) ? next : {}
  const known = isObject(kept['properties']) ? kept['properties'] : {}
  if (isObject(before['properties']))
    for (const [name, schema] of Object.entries(before['properties'])) {
      // Each one is looked for among all.
      if (dropped.length >= LIMITS.errorDetails) return
      const path = at === '' ? name : `${at}.${name}`
      if (Object.hasOwn(known, name)) compare(schema, known[name], path, dropped)
      else dropped.push({ name: path, to: at.includes('[]') ? undefined : renamedTo(known, name) })
    }
  if (isObject(before['items'])) compare(before['items'], kept['items'], `${at}[]`, dropped)
}
