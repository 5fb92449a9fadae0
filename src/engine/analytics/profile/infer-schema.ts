/** Proposes a JSON Schema for a type from a sample of its records. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import { readSample, walkType } from './sample.ts'
import { isShort } from './summary.ts'
import { type Place, Tally } from './value-stats.ts'

export type InferredSchema = {
  jsonSchema: object
  /** The number of records; an estimate for a very large type. */
  count: number
  /** The number of records that were read. */
  read: number
  /** Minimum number of fields that are not in the schema. */
  omittedFields: number
}

/** Formats to look for, the narrower ones first. */
const FORMATS = ['date-time', 'date', 'time', 'uuid', 'ipv4', 'ipv6', 'email', 'uri'].map((format) => {
  const { isValid } = compileSchema({ properties: { value: { format } } }, '')
  return { format, fits: (value: string) => isValid({ value }) }
})

/**
 * Proposes a schema that every record read fits. Bounded in time and memory like a profile.
 * @throws FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function inferSchema(scope: Scope, baseId: string, id: string): Promise<InferredSchema> {
  requirePermission(scope.access, 'read', baseId, id)
  await requireType(scope, baseId, id)
  const key = [baseId, id] as const
  const tally = new Tally()
  const { count, ids } = await walkType(scope.db, key, PROFILE_LIMITS.walkMs)
  for await (const data of readSample(scope.db, key, ids, PROFILE_LIMITS.readMs)) tally.add(data)
  const jsonSchema = await schemaOf(rooted(tally), tally.records)
  return { jsonSchema, count, read: tally.records, omittedFields: tally.leftOut.size }
}

/** A place with those below it. */
type Node = { place: Place | null; members: Map<string, Node>; elements: Node | null }

const nodeOf = (place: Place | null): Node => ({ place, members: new Map(), elements: null })

/** The places as a tree. Each is listed after the one that it is in. */
function rooted({ places }: Tally): Node {
  const root = nodeOf(null)
  for (const place of places) {
    let node = root
    for (const segment of place.path.slice(0, -1))
      node = (segment === null ? node.elements : node.members.get(String(segment))) ?? node
    const last = place.path.at(-1)
    if (last === null) node.elements = nodeOf(place)
    else node.members.set(String(last), nodeOf(place))
  }
  return root
}

/** @param objects how many objects were seen at the node */
async function schemaOf({ place, members, elements }: Node, objects: number): Promise<object> {
  if (turnIsOver()) await nextTurn()
  const properties: [string, object][] = []
  const required: string[] = []
  for (const [name, member] of members) {
    properties.push([name, await schemaOf(member, member.place?.types.get('object') ?? 0)])
    if (timesSeen(member) === objects) required.push(name)
  }
  return {
    ...(place === null ? { type: 'object' } : await ofValues(place)),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...(elements && { items: await schemaOf(elements, elements.place?.types.get('object') ?? 0) }),
  }
}

const timesSeen = ({ place }: Node): number =>
  [...(place?.types.values() ?? [])].reduce((sum, count) => sum + count, 0)

/** What the values of a place have in common. */
async function ofValues(place: Place): Promise<object> {
  const kinds = [...place.types.keys()].filter((type) => type !== 'null')
  const types = kinds.filter((type) => type !== 'integer' || !kinds.includes('number'))
  const isNullable = place.types.has('null')
  // A place where only null was seen can turn out to hold anything.
  if (types.length === 0) return {}
  const all = isNullable ? [...types, 'null'] : types
  const type = all.length === 1 ? all[0] : all
  if (types.length > 1 || types[0] !== 'string') return { type }
  const strings = [...place.values.values()].flatMap(({ value, count }) =>
    typeof value === 'string' ? [{ value, count }] : [],
  )
  const format = await formatOf(strings)
  if (format !== undefined) return { type, format }
  return isEnum(strings)
    ? { type, enum: [...strings.map(({ value }) => value).sort(), ...(isNullable ? [null] : [])] }
    : { type }
}

type Counted = { value: string; count: number }

async function formatOf(strings: readonly Counted[]): Promise<string | undefined> {
  for (const { format, fits } of FORMATS) {
    let isShared = true
    for (const { value } of strings) {
      if (turnIsOver()) await nextTurn()
      isShared = fits(value)
      if (!isShared) break
    }
    if (isShared) return format
  }
  return undefined
}

/** Whether few values repeat so often that they look like a choice. */
function isEnum(strings: readonly Counted[]): boolean {
  const total = strings.reduce((sum, { count }) => sum + count, 0)
  return (
    strings.length <= PROFILE_LIMITS.enumValues &&
    total >= strings.length * PROFILE_LIMITS.enumRepeats &&
    total >= PROFILE_LIMITS.enumRecords &&
    strings.every(({ value }) => value !== '' && isShort(value))
  )
}
