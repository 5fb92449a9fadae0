/** Maps property names to portable names and back, at every level. */

import { createHash } from 'node:crypto'
import { invalid } from '../foundation/errors.ts'
import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { isNever, type Shape } from './shape.ts'

/** A short hash that replaces a name, or the end of it. */
const shortHash = (name: string, chars: number) =>
  createHash('sha256').update(name).digest('hex').slice(0, chars)

/**
 * Replaces every character outside `allowed` (a character class) by `_`. Appends a hash if the name is too
 * long or `taken`.
 */
function portableName(name: string, allowed: string, taken: (name: string) => boolean): string {
  const plain = name.replace(new RegExp(`[^${allowed}]`, 'gu'), '_')
  if (plain !== '' && plain.length <= LIMITS.portableNameChars && !taken(plain)) return plain
  if (plain === '' && !taken('_')) return '_'
  return hashedName(name, plain, taken)
}

function hashedName(name: string, plain: string, taken: (name: string) => boolean): string {
  for (let chars = 8; chars <= LIMITS.portableNameChars; chars += 4) {
    const hashed = `${plain.slice(0, LIMITS.portableNameChars - chars - 1)}_${shortHash(name, chars)}`.slice(
      -LIMITS.portableNameChars,
    )
    if (!taken(hashed)) return hashed
  }
  throw new Error(`No free name for ${name}`)
}

const PROPERTY_CHARACTERS = 'A-Za-z0-9_.\\-'

export type Names = {
  /** By published name. */
  properties: ReadonlyMap<string, { original: string; names: Names }>
  /** The reverse mapping: original name to published name. */
  published: ReadonlyMap<string, string>
  items: Names | undefined
  additional: Names | undefined
  /** False if no name here or below differs from its original. */
  renames: boolean
}

export const NO_NAMES: Names = {
  properties: new Map(),
  published: new Map(),
  items: undefined,
  additional: undefined,
  renames: false,
}

/** Chooses the published names of all objects in a shape. */
export function chooseNames(shape: Shape): Names {
  const { object, kinds } = shape
  const items = shape.items && chooseNames(shape.items)
  const additional = object.additional && chooseNames(object.additional)
  const properties = new Map<string, { original: string; names: Names }>()
  const published = publishNames(kinds.has('object') ? originalsOf(shape) : [])
  for (const [original, name] of published) {
    const property = object.properties.get(original) ?? object.additional
    properties.set(name, { original, names: property ? chooseNames(property) : NO_NAMES })
  }
  const renames =
    [...properties].some(([name, { original, names }]) => name !== original || names.renames) ||
    items?.renames === true ||
    additional?.renames === true
  return { properties, published, items, additional, renames }
}

/** The property names of an object: declared ones, and required ones without a declaration. */
function originalsOf({ object }: Shape): string[] {
  const declared = [...object.properties].filter(([, shape]) => !isNever(shape)).map(([name]) => name)
  if (isNever(object.additional)) return declared
  return [...declared, ...[...object.required].filter((name) => !object.properties.has(name))]
}

/**
 * Keeps portable names. Derives the others in alphabetical order, so that the result does not depend on input
 * order.
 */
function publishNames(originals: readonly string[]): Map<string, string> {
  const taken = new Set(originals.filter(isPortable))
  const changed = new Map<string, string>()
  for (const name of originals.filter((name) => !taken.has(name)).sort()) {
    const chosen = portableName(
      name,
      PROPERTY_CHARACTERS,
      (candidate) => taken.has(candidate) || !isPortable(candidate),
    )
    taken.add(chosen)
    changed.set(name, chosen)
  }
  return new Map(originals.map((name) => [name, changed.get(name) ?? name]))
}

const PORTABLE = new RegExp(`^[${PROPERTY_CHARACTERS}]{1,64}$`)

/** Names on `Object.prototype` are not portable: some validators take them for present properties. */
const isPortable = (name: string) => PORTABLE.test(name) && !(name in Object.prototype)

/** Replaces published names in `value` by the originals. Unknown names stay. */
export function restore(value: unknown, names: Names, path = ''): unknown {
  if (!names.renames) return value
  if (Array.isArray(value)) {
    return value.map((item, index) => restore(item, names.items ?? NO_NAMES, `${path}/${index}`))
  }
  if (!isObject(value)) return value
  const restored = new Map<string, unknown>()
  for (const [name, part] of Object.entries(value)) {
    const property = propertyNamed(name, names)
    if (restored.has(property.original)) throw sentTwice(`${path}/${escaped(name)}`, name, property.original)
    restored.set(property.original, restore(part, property.names, `${path}/${escaped(name)}`))
  }
  return Object.fromEntries(restored)
}

function propertyNamed(name: string, names: Names): { original: string; names: Names } {
  const property = names.properties.get(name) ?? names.properties.get(names.published.get(name) ?? '')
  return property ?? { original: name, names: names.additional ?? NO_NAMES }
}

/** Maps a JSON Pointer into record data to a pointer into the arguments. A name that `sent` has as it is stays. */
export function publishPointer(pointer: string, names: Names, sent?: unknown): string {
  let at = names
  let value = sent
  const tokens = pointer.split('/').slice(1)
  const published = tokens.map((token) => {
    const original = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const name = at.published.get(original)
    const below = name === undefined ? undefined : at.properties.get(name)?.names
    at = below ?? (/^\d+$/.test(token) ? at.items : undefined) ?? at.additional ?? NO_NAMES
    const members = Object(value) as Record<string, unknown>
    const used = name === undefined || Object.hasOwn(members, original) ? original : name
    value = members[used]
    return escaped(used)
  })
  return published.map((token) => `/${token}`).join('')
}

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

const sentTwice = (path: string, name: string, original: string) =>
  invalid({
    path,
    code: 'duplicate_argument',
    message: `The arguments have the property ${JSON.stringify(original)} twice, once as ${JSON.stringify(name)}.`,
    hint: `Send it once, as ${JSON.stringify(name)}.`,
  })
