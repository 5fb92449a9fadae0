/** Reference implementation of field paths. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** A path into a document: properties, array positions, and null for any element. */
export type Path = (string | number | null)[]

const SEGMENT = /\.([^.[\]"]+)|\[(\d*)\]|\[("(?:[^"\\]|\\.)*")\]/gy

/** Parses `data.a[0][].b["odd.key"]`, including `data`. */
export function pathOf(field: string): Path {
  const known = paths.get(field)
  if (known) return known
  const head = /^\w+/.exec(field)?.[0] ?? ''
  const path: Path = [head]
  for (const [, name, index, quoted] of field.slice(head.length).matchAll(SEGMENT)) {
    if (name !== undefined) path.push(name)
    else if (quoted !== undefined) path.push(String(JSON.parse(quoted)))
    else path.push(index === '' ? null : Number(index))
  }
  paths.set(field, path)
  return path
}

const paths = new Map<string, Path>()

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** All values at a path: none if missing, several only through null. */
export function walk(value: Json, [step, ...rest]: Path): Json[] {
  if (step === undefined) return [value]
  if (step === null) return Array.isArray(value) ? value.flatMap((each) => walk(each, rest)) : []
  const found = typeof step === 'number' ? itemAt(value, step) : propertyOf(value, step)
  return found === undefined ? [] : walk(found, rest)
}

const itemAt = (value: Json, index: number) => (Array.isArray(value) ? value[index] : undefined)

const propertyOf = (value: Json, name: string) =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
