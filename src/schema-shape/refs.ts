import { isObject } from '../foundation/is-object.ts'
/** Resolves `$ref` within a record type's schema. References to other documents never resolve. */

/** A subschema, and the embedded resource (a schema with its own `$id`) that contains it. */
export type Place = { schema: unknown; resource: unknown }

/** Keywords whose values are data; anchors inside them do not count. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'examples'])

type Resource = { anchors: ReadonlyMap<string, Place>; embeds: boolean }

export class References {
  readonly #root: unknown
  readonly #resources = new Map<unknown, Resource>()

  constructor(root: unknown) {
    this.#root = root
  }

  /** Resolves `#`, `#/a/pointer` or `#anchor` within `resource`. */
  follow(reference: string, resource: unknown): Place | undefined {
    if (!reference.startsWith('#')) return undefined
    const fragment = decoded(reference.slice(1))
    if (fragment === undefined) return undefined
    if (fragment === '' || fragment.startsWith('/')) return byPointer(fragment, resource)
    return this.#resourceOf(resource).anchors.get(fragment)
  }

  /**
   * Resolves a `$dynamicRef`. With several resources its target depends on the evaluation path, so it does
   * not resolve.
   */
  followDynamic(reference: string, resource: unknown): Place | undefined {
    return this.#resourceOf(this.#root).embeds ? undefined : this.follow(reference, resource)
  }

  #resourceOf(resource: unknown): Resource {
    const known = this.#resources.get(resource)
    if (known) return known
    const anchors = new Map<string, Place>()
    const embeds = collectAnchors(resource, resource, anchors)
    this.#resources.set(resource, { anchors, embeds })
    return { anchors, embeds }
  }
}

/** Whether a schema starts a resource of its own, which is the base of its `#` references. */
export function isResource(schema: Record<string, unknown>): boolean {
  const id = schema['$id']
  return typeof id === 'string' && !id.startsWith('#')
}

function byPointer(pointer: string, resource: unknown): Place | undefined {
  let place: Place = { schema: resource, resource }
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const within = place.schema
    if (typeof within !== 'object' || within === null || !Object.hasOwn(within, key)) return undefined
    const schema = (within as Record<string, unknown>)[key]
    place = { schema, resource: isObject(schema) && isResource(schema) ? schema : place.resource }
  }
  return typeof place.schema === 'boolean' || isObject(place.schema) ? place : undefined
}

/**
 * Collects the anchors of a resource. Returns whether there are embedded resources, which have their own
 * anchors.
 */
function collectAnchors(at: unknown, resource: unknown, anchors: Map<string, Place>): boolean {
  if (Array.isArray(at)) return at.map((part) => collectAnchors(part, resource, anchors)).includes(true)
  if (!isObject(at)) return false
  if (at !== resource && isResource(at)) return true
  for (const name of anchorsAt(at)) if (!anchors.has(name)) anchors.set(name, { schema: at, resource })
  return Object.entries(at)
    .filter(([key]) => !DATA_KEYWORDS.has(key))
    .map(([, part]) => collectAnchors(part, resource, anchors))
    .includes(true)
}

function anchorsAt(schema: Record<string, unknown>): string[] {
  const { $anchor, $dynamicAnchor, $id } = schema
  const legacy = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined
  return [$anchor, $dynamicAnchor, legacy].filter(
    (name) => typeof name === 'string' && name !== '',
  ) as string[]
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}
