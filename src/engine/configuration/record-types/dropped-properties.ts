import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'

type Schema = { readonly properties?: unknown; readonly items?: unknown }

/** Finds the first properties that a schema declares and the next one omits, as dotted paths. */
export function droppedProperties(before: Schema | undefined, next: Schema): string[] {
  const dropped: string[] = []
  compare(before, next, '', dropped)
  return dropped.slice(0, LIMITS.errorDetails)
}

function compare(before: unknown, next: unknown, at: string, dropped: string[]): void {
  if (!isObject(before)) return
  const kept = isObject(next) ? next : {}
  const known = isObject(kept['properties']) ? kept['properties'] : {}
  if (isObject(before['properties']))
    for (const [name, schema] of Object.entries(before['properties'])) {
      const path = at === '' ? name : `${at}.${name}`
      if (Object.hasOwn(known, name)) compare(schema, known[name], path, dropped)
      else dropped.push(path)
    }
  if (isObject(before['items'])) compare(before['items'], kept['items'], `${at}[]`, dropped)
}
