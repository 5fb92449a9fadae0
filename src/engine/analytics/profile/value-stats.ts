import { hash } from 'node:crypto'
import { LIMITS } from '../../../foundation/limits.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'

/** A string, number or boolean. */
export type Scalar = string | number | boolean
/** Statistics of one path over the sample. */
export type Place = {
  readonly path: FieldPath
  /** Path in filter syntax. */
  readonly field: string
  /** Whether the schema declares the path. */
  isDeclared: boolean
  /** Number of records with a value there, and with a value other than null. */
  present: number
  filled: number
  readonly types: Map<string, number>
  /** Distinct non-null values by their JSON; arrays and objects are keys only. */
  readonly values: Map<string, { value: Scalar | undefined; count: number }>
}

type Node = {
  readonly place: Place
  readonly members: Map<string, Node>
  elements: Node | undefined
  /** The last counted record, since one record may have many values at a path. */
  presentIn: number
  filledIn: number
}

/** Accumulates value statistics per path. */
export class Tally {
  records = 0
  /** Untracked paths: beyond the limit, or not expressible in a filter. */
  readonly leftOut = new Set<string>()
  /** In order of first occurrence. */
  readonly places: Place[] = []
  private readonly root = nodeAt([])

  /** Adds a path even if no record has it. */
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
    if (node.place.path.length >= PROFILE_LIMITS.depth) return
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
    // Past this limit, untracked paths are not recorded, to keep the cost constant.
    if (this.leftOut.size >= PROFILE_LIMITS.places) return undefined
    const made = nodeAt([...node.place.path, segment])
    const { field } = made.place
    if (field.length > PROFILE_LIMITS.fieldChars || this.places.length >= PROFILE_LIMITS.places) {
      this.leftOut.add(field.slice(0, PROFILE_LIMITS.fieldChars))
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
  const key = isScalar || json.length <= LIMITS.valueKeyChars ? json : hash('sha256', json, 'base64')
  const known = place.values.get(key)
  if (known) known.count++
  else place.values.set(key, { value: isScalar ? (value as Scalar) : undefined, count: 1 })
}

/** The JSON Schema type name of a value. */
function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}

const KEYS = statement(
  'profile_instants',
  `SELECT plinth.time_key(plinth.instant(v, $2)) AS key FROM unnest($1::text[]) WITH ORDINALITY AS t (v, n) ORDER BY n`,
)

/**
 * Maps time strings to sort keys, which are equal and ordered as the instants are. `zone` applies to times
 * without an offset.
 */
export async function readInstants(
  db: Db,
  texts: readonly string[],
  zone: string,
): Promise<Map<string, string>> {
  if (texts.length === 0) return new Map()
  const rows = await db.query<{ key: string | null }>(KEYS, [texts, zone])
  return new Map(
    texts.flatMap((text, i) => {
      const key = rows[i]?.key
      return key ? [[text, key] as const] : []
    }),
  )
}
