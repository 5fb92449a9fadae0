import { hash } from 'node:crypto'
import type { FieldPath } from '../../compiled-types/field-path.ts'
import { BOUNDS } from './bounds.ts'
import { fieldName } from './schema-fields.ts'

/** A value that is neither array nor object nor null. */
export type Scalar = string | number | boolean
/** What the records of a sample have at one place in their data. */
export type Place = {
  readonly path: FieldPath
  /** The path as filters write it. */
  readonly field: string
  /** Does the schema of the type name it? */
  isDeclared: boolean
  /** Records that have anything there, and those that have more there than null. */
  present: number
  filled: number
  readonly types: Map<string, number>
  /** Every different value but null, by its JSON; arrays and objects have a name alone. */
  readonly values: Map<string, { value: Scalar | undefined; count: number }>
}

type Node = {
  readonly place: Place
  readonly members: Map<string, Node>
  elements: Node | undefined
  /** The record that was counted last: it may have many values at one place. */
  presentIn: number
  filledIn: number
}

/** Counts what records hold, place by place. */
export class Tally {
  records = 0
  /** Places that were met when there were too many already, or that no filter could name. */
  readonly leftOut = new Set<string>()
  /** In the order in which they were met. */
  readonly places: Place[] = []
  private readonly root = nodeAt([])

  /** Makes a place that is to be there whether or not records have it. */
  declare(path: FieldPath): void {
    let node: Node | undefined = this.root
    for (const segment of path) node = node && this.below(node, segment)
    if (node) node.place.isDeclared = true
  }

  add(data: unknown): void {
    this.records++
    this.enter(this.root, data)
  }

  private enter(node: Node, value: unknown): void {
    if (node.place.path.length >= BOUNDS.depth) return
    if (Array.isArray(value)) for (const element of value) this.visit(this.below(node, null), element)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) this.visit(this.below(node, name), member)
  }

  private visit(node: Node | undefined, value: unknown): void {
    if (!node) return
    count(node, value, this.records)
    this.enter(node, value)
  }

  private below(node: Node, segment: string | number | null): Node | undefined {
    const known = segment === null ? node.elements : node.members.get(String(segment))
    if (known) return known
    // Once nothing more is told apart, not even that it was left out, it must cost nothing.
    if (this.leftOut.size >= BOUNDS.places) return undefined
    const made = nodeAt([...node.place.path, segment])
    const { field } = made.place
    if (field.length > BOUNDS.fieldChars || this.places.length >= BOUNDS.places) {
      this.leftOut.add(field.slice(0, BOUNDS.fieldChars))
      return undefined
    }
    if (segment === null) node.elements = made
    else node.members.set(String(segment), made)
    this.places.push(made.place)
    return made
  }
}

const nodeAt = (path: FieldPath): Node => ({
  place: {
    path,
    field: fieldName(path),
    isDeclared: false,
    present: 0,
    filled: 0,
    types: new Map(),
    values: new Map(),
  },
  members: new Map(),
  elements: undefined,
  presentIn: 0,
  filledIn: 0,
})

function count(node: Node, value: unknown, record: number): void {
  const { place } = node
  const type = typeOf(value)
  place.types.set(type, (place.types.get(type) ?? 0) + 1)
  if (node.presentIn !== record) place.present++
  node.presentIn = record
  if (value === null) return
  if (node.filledIn !== record) place.filled++
  node.filledIn = record
  const json = JSON.stringify(value)
  const isScalar = typeof value !== 'object'
  const key = isScalar || json.length <= NAME_CHARS ? json : hash('sha256', json, 'base64')
  const known = place.values.get(key)
  if (known) known.count++
  else place.values.set(key, { value: isScalar ? (value as Scalar) : undefined, count: 1 })
}

/** The longest array or object whose JSON is its name; others are named by a digest. */
const NAME_CHARS = 128

/** The type as JSON Schema calls it. */
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}
