/** Resolves `$ref` within a record type's schema. References to other documents never resolve. */

import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'

/** A subschema, and the embedded resource (a schema with its own `$id`) that contains it. */
export type Place = { schema: unknown; resource: unknown }

/** The subschema that a JSON Pointer reference (`#`, `#/…`) names within `root`, and its path. */
export function locate(root: unknown, reference: string): (Place & { path: string[] }) | undefined {
  const [hash, ...tokens] = decoded(reference).split('/')
  if (hash !== '#') return undefined
  const path = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let schema = root
  let resource = root
  for (const key of path) {
    if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, key)) return undefined
    schema = (schema as Record<string, unknown>)[key]
    if (isObject(schema) && isResource(schema)) resource = schema
  }
  return typeof schema === 'boolean' || isObject(schema) ? { schema, resource, path } : undefined
}

/**
 * Follows `$ref`s, to the first schema without one or for which `isEnd` holds; undefined for a dangling or circular
 * chain.
 */
export function dereference(
  schema: unknown,
  root: unknown,
  isEnd = (_schema: Record<string, unknown>) => false,
): Record<string, unknown> | undefined {
  let place = schema
  for (let hops = 0; hops < LIMITS.schemaRefHops && isObject(place); hops++) {
    const { $ref } = place
    if (typeof $ref !== 'string' || isEnd(place)) return place
    place = locate(root, $ref)?.schema
  }
  return undefined
}

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
    return locate(resource, reference) ?? this.#resourceOf(resource).anchors.get(decoded(reference).slice(1))
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

/** The reference without percent-encoding, or as it is if that is not valid. */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference)
  } catch {
    return reference
  }
}
