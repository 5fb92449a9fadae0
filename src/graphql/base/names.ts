/** Names of fields and nested types. Each is a function of its own name, so no other one ever renames it. */
import { createHash } from 'node:crypto'
import { LIMITS } from '../../foundation/limits.ts'
import { isNever, type Shape } from '../../schema-shape/shape.ts'

const PLAIN = /^[A-Za-z](?:[A-Za-z0-9_]*[A-Za-z0-9])?$/

/** The field of a property or relationship type: its own name, if GraphQL admits it. `id` is the record's. */
function fieldNameOf(name: string): string {
  if (name === 'id') return 'id_'
  if (PLAIN.test(name) && name.length <= LIMITS.graphqlNameChars) return name
  const letters = name
    .slice(0, LIMITS.graphqlNameChars)
    .replace(/[^A-Za-z0-9_]/g, '_')
    .replace(/^_+|_+$/g, '')
  const started = /^[A-Za-z]/.test(letters) ? letters : `p_${letters}`.replace(/_+$/, '')
  return `${started}_${hashOf(name)}_`
}

/** Ends of the names of filters within a type, such as `Ticket__address_Where`. */
const OF_FILTERS = /(^|_)(Where|Filter)$/

/**
 * The type of an object or enum within a type. Two underscores, which no name of a record type has. Fields whose types
 * would have the name of a filter or of a deeper type get a part of their hash.
 */
export function nestedName(of: string, field: string): string {
  if (field.includes('__')) return `${of}__${field.replace(/_+/g, '_')}${hashOf(field)}`
  // No field ends so, plain or escaped.
  if (OF_FILTERS.test(field)) return `${of}__${field}${hashOf(field)}_`
  return `${of}__${field}`
}

const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 4)

/** The fields of a type's relationship types. A name that is taken gets "_" at its end. */
export function linkNames(
  properties: Iterable<string>,
  outgoing: readonly string[],
  incoming: readonly string[],
): { outgoing: ReadonlyMap<string, string>; incoming: ReadonlyMap<string, string> } {
  const taken = new Set(properties)
  const named = (ids: readonly string[], suffix: string) =>
    new Map(
      ids.map((id) => {
        let name = fieldNameOf(`${id}${suffix}`)
        while (taken.has(name)) name += '_'
        taken.add(name)
        return [id, name]
      }),
    )
  const first = named(outgoing, '')
  return { outgoing: first, incoming: named(incoming, '_of') }
}

/** The fields of a type that read its sources. "_" keeps them apart from those of a record type `TicketSource`. */
export const sourceNames = ({ root }: { root: string }) => ({
  get: `${root}_fromSource`,
  list: `${root}Records_fromSource`,
})

/** Those that a type has: none without sources. */
export const sourceFieldNames = (type: {
  root: string
  sources: readonly string[]
  reads: ReadonlySet<string>
}): string[] =>
  Object.entries(sourceNames(type)).flatMap(([read, name]) =>
    type.sources.length > 0 && type.reads.has(read) ? [name] : [],
  )

export const VERBS = [
  'create',
  'update',
  'upsert',
  'delete',
  'cancel',
  'restore',
  'attach',
  'claim',
  'complete',
  'release',
] as const
export type Verb = (typeof VERBS)[number]

/** The mutations of a type that the token may use. */
export const mutationNames = ({ name, verbs }: { name: string; verbs: readonly Verb[] }): string[] =>
  verbs.map((verb) => `${verb}${name}`)

// The properties of an object of the data, each with its field of GraphQL.

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
