import { nearest } from '../../../contract/suggest.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { locate } from '../../../schema-shape/refs.ts'
import type { Path } from './checks.ts'
import type { Clean, Reader } from './normalize.ts'

const DEFS = '#/$defs/'

/** Reference targets of a schema, as definitions. */
export class Definitions {
  readonly all: Clean = {}
  private count = 0

  /** Adds a normalized schema as a definition and returns its reference. */
  add(schema: Clean | boolean): string {
    const name = `d${this.count++}`
    this.all[name] = schema
    return DEFS + name
  }

  /** The target of a reference. */
  target({ $ref }: Clean): unknown {
    return typeof $ref === 'string' ? this.all[$ref.slice(DEFS.length)] : undefined
  }
}

/**
 * Resolves references: turns each target into a definition, and normalizes targets that only references
 * reach. Only local references are supported; nothing is fetched.
 */
export function resolveReferences(
  reader: Reader,
  raw: Record<string, unknown>,
  definitions: Definitions,
): void {
  const places = new Map<Clean | boolean, string>()
  // Normalizing a target may append references, which this loop also processes.
  for (const { target, path, node } of reader.references) {
    if (reader.isDone) return
    const found = locate(raw, target) ?? (target[0] === '#' ? reader.anchors.get(target.slice(1)) : undefined)
    if (!found) {
      reportMissing(target, path, raw, reader)
      continue
    }
    const schema = reader.schema(found.schema, found.path)
    const $ref = places.get(schema) ?? definitions.add(schema)
    places.set(schema, $ref)
    if (!('$ref' in node)) node['$ref'] = $ref
    else node['allOf'] = [...((node['allOf'] as Clean[] | undefined) ?? []), { $ref }]
  }
  const { endless, depth } = followInPlace(definitions)
  if (endless) {
    const path = reader.references.find(({ node }) => node === endless)?.path ?? []
    const message = 'The reference is circular without a property or item in between.'
    reader.report(path, 'circular_ref', message)
  } else if (depth > LIMITS.refDepthInPlace) {
    reader.report([], 'too_complex', 'The schema nests too deeply to be compiled. Flatten it.')
  }
}

/** In-place subschemas, which apply to the same value. */
export function inPlace(schema: Clean, definitions: Definitions): Clean[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema[keyword] ?? [])
  const maps = ['dependentSchemas', 'dependencies'].flatMap((keyword) => Object.values(schema[keyword] ?? {}))
  const single = ['not', 'if', 'then', 'else'].map((keyword) => schema[keyword])
  return [...lists, ...maps, ...single, definitions.target(schema)].filter(isObject)
}

/** Detects a cycle of in-place references; otherwise returns their maximum depth. */
function followInPlace(definitions: Definitions): { endless?: Clean | undefined; depth: number } {
  const starts = Object.values(definitions.all).filter(isObject)
  const depths = new Map<Clean, number>()
  let depth = 0
  for (const start of starts) {
    const way = [{ schema: start, ahead: inPlace(start, definitions), depth: 1 }]
    const onWay = new Set([start])
    for (let last = way.at(-1); last; last = way.at(-1)) {
      const next = last.ahead.pop()
      const known = next && depths.get(next)
      if (!next) {
        onWay.delete(last.schema)
        depths.set(last.schema, last.depth)
        depth = Math.max(depth, last.depth)
        way.pop()
        const outer = way.at(-1)
        if (outer) outer.depth = Math.max(outer.depth, last.depth + 1)
      } else if (onWay.has(next)) {
        return { endless: way.findLast(({ schema }) => '$ref' in schema)?.schema, depth }
      } else if (known !== undefined) {
        last.depth = Math.max(last.depth, known + 1)
      } else {
        onWay.add(next)
        way.push({ schema: next, ahead: inPlace(next, definitions), depth: 1 })
      }
    }
  }
  return { depth }
}

function reportMissing(target: string, path: Path, raw: Record<string, unknown>, reader: Reader): void {
  if (!target.startsWith('#')) {
    const message = 'A reference must stay within the schema: nothing is fetched. Copy the schema into $defs.'
    reader.report(path, 'remote_ref', message, { expected: '#/$defs/<name>' })
    return
  }
  const places = ['$defs', 'definitions'].flatMap((keyword) => {
    const defs = raw[keyword]
    return isObject(defs) ? Object.keys(defs).map((name) => `#/${keyword}/${name}`) : []
  })
  const allowed = [...places, ...[...reader.anchors.keys()].map((name) => `#${name}`)].slice(0, 50)
  const hint = nearest(target, allowed)
  const message = `The reference points to nothing.${hint ? ` Did you mean "${hint}"?` : ''}`
  reader.report(path, 'unresolved_ref', message, { allowed, ...(hint && { hint }) })
}
