/** Data profile of a type: sampled values, counts and example queries. */
import { LRUCache } from 'lru-cache'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { dereference } from '../../../schema-shape/refs.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { type FieldContext, zoneOf } from '../../data/filter/operand.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { fieldExists } from '../../schema/json-schema/fields.ts'
import { requirePermission } from '../../storage/access/access.ts'
import type { Db } from '../../storage/database/client.ts'
import { exampleData } from './example-data.ts'
import { type Candidate, type Example, exampleQueries } from './examples.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import { profileRelationships, type RelationshipProfile } from './relationships.ts'
import { readSample, walkType } from './sample.ts'
import { type FieldProfile, isShort, type Summary, summarize, type Value } from './summary.ts'
import { type Place, readInstants, type Scalar, Tally } from './value-stats.ts'

/** A data profile of a record type. */
export type TypeProfile = {
  /** The number of records; an estimate for a very large type. */
  count: number
  /** True when field statistics come from a sample. */
  sampled: boolean
  fields: FieldProfile[]
  /** Number of tracked fields that are not listed. */
  omittedFields: number
  /** Computed per request, with the token's permissions. */
  relationships: RelationshipProfile[]
  examples: Example[]
  /** Example data for a new record; null when none was found. */
  exampleData: object | null
}

/** The cached part, which does not depend on the caller. */
type CachedProfile = Omit<TypeProfile, 'relationships'>

/**
 * Cache keyed by the compiled type object, which is replaced when the type changes and is specific to a base
 * and database. An entry holds only data that `read` on the type permits.
 */
const known = new LRUCache<CompiledType, Promise<CachedProfile>>({
  max: PROFILE_LIMITS.cached,
  ttl: PROFILE_LIMITS.cacheMs,
})

/**
 * Profiles the data and links of a record type; the data part is cached for at most 30 seconds.
 * @throws FORBIDDEN outside the grants; NOT_FOUND without base or type
 */
export async function profileRecordType(scope: Scope, baseId: string, id: string): Promise<TypeProfile> {
  requirePermission(scope.access, 'read', baseId, id)
  const type = await requireType(scope, baseId, id)
  const [statistics, relationships] = await Promise.all([
    // The types of a change-set are those of production, its records are not.
    scope.changeSet === undefined ? cachedProfile(scope.db, type) : makeProfile(scope.db, type),
    profileRelationships(scope, baseId, id),
  ])
  return { ...statistics, relationships }
}

async function cachedProfile(db: Db, type: CompiledType): Promise<CachedProfile> {
  const held = known.get(type)
  if (held) return held
  const made = makeProfile(db, type)
  known.set(type, made)
  try {
    return await made
  } catch (thrown) {
    known.delete(type)
    throw thrown
  }
}

async function makeProfile(db: Db, type: CompiledType): Promise<CachedProfile> {
  const key = [type.baseId, type.id] as const
  const declared = declaredPlaces(type.jsonSchema).filter(
    ({ path }) => fieldExists(type.jsonSchema, path).exists,
  )
  const tally = new Tally()
  for (const { path } of declared) tally.declare(path)
  const { count, ids } = await walkType(db, key, PROFILE_LIMITS.walkMs)
  const stored: unknown[] = []
  for await (const data of readSample(db, key, ids, PROFILE_LIMITS.readMs)) {
    tally.add(data)
    if (stored.length < PROFILE_LIMITS.exampleRecords) stored.push(data)
  }

  const places = mostFrequent(tally.places)
  const summaries: Summary[] = []
  for (const place of places) {
    if (turnIsOver()) await nextTurn()
    summaries.push(summarize(place, tally.records, await instantsOf(db, place, type)))
  }
  const candidates =
    tally.records > 0 ? candidatesFrom(summaries, type, declared) : candidatesDeclared(declared, type)
  const fields = summaries.map(({ profile }) => profile)
  return {
    count,
    sampled: tally.records < count,
    fields,
    omittedFields: tally.places.length - places.length + tally.leftOut.size,
    examples: exampleQueries(candidates),
    exampleData: await exampleData(type, stored, fields),
  }
}

/** Selects the fields to list: those declared by the schema first, then by frequency. */
function mostFrequent(places: readonly Place[]): Place[] {
  const byFrequency = places.toSorted((a, b) => b.present - a.present)
  return byFrequency
    .toSorted((a, b) => Number(b.isDeclared) - Number(a.isDeclared))
    .slice(0, PROFILE_LIMITS.fields)
    .sort((a, b) => b.present - a.present)
}

/** Sort keys of the time strings of a time field; null for any other field. */
async function instantsOf(db: Db, { path, values }: Place, type: CompiledType) {
  const zone = zoneOf(path, type)
  if (zone === null) return null
  const texts = [...values.values()].flatMap(({ value }) =>
    typeof value === 'string' && value.length <= PROFILE_LIMITS.valueChars ? [value] : [],
  )
  return readInstants(db, texts, zone)
}

const KINDS: Readonly<Record<string, Candidate['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

/** Selects queryable fields from the sampled data; `declared` supplies which fields have an enum. */
function candidatesFrom(
  summaries: readonly Summary[],
  type: FieldContext,
  declared: readonly Declared[],
): Candidate[] {
  const listed = new Set(declared.filter(isListed).map(({ path }) => fieldName(path)))
  return summaries.flatMap(({ profile, path, values }) => {
    // Stored records may predate the schema and have fields that it no longer allows.
    if (profile.top.length === 0 || !fieldExists(type.jsonSchema, path).exists) return []
    const isTime = zoneOf(path, type) !== null
    const usable = values.filter(({ value, instant }) => (isTime ? instant !== null : value !== ''))
    const common = profile.top.find(({ value }) => usable.some((each) => each.value === value))?.value
    if (common === undefined) return []
    const kind = isTime ? 'time' : (KINDS[typeof common] ?? null)
    const { field, nullShare, distinct } = profile
    const all = values.reduce((sum, { count }) => sum + count, 0)
    const share = (profile.top[0]?.count ?? 0) / all
    const middle = middleOf(usable, common)
    const isOfList = listed.has(field)
    return [
      { field, path, kind, isListed: isOfList, nullShare: nullShare ?? 0, distinct, share, common, middle },
    ]
  })
}

/**
 * The median value of one type, or a common one if the median is too long. Booleans have no order in filters.
 */
function middleOf(values: readonly Value[], common: Scalar): Scalar | undefined {
  if (typeof common === 'boolean') return undefined
  const alike = values.filter(({ value }) => typeof value === typeof common)
  const middle = alike[Math.floor(alike.length / 2)]?.value
  return middle !== undefined && isShort(middle) ? middle : common
}

const isListed = ({ schema }: Declared) => Array.isArray(schema['enum'])

/** Selects queryable fields from the schema alone, for a type without records. */
function candidatesDeclared(declared: readonly Declared[], type: FieldContext): Candidate[] {
  return declared.map(({ path, schema }) => {
    const isTime = zoneOf(path, type) !== null
    const listed = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : []
    const first = listed.find((value) => typeof value === 'string')
    const types = [schema['type']].flat().filter((each) => each !== 'null')
    const kind = isTime ? 'time' : first !== undefined ? 'text' : (KINDS[String(types[0])] ?? null)
    return {
      field: fieldName(path),
      path,
      kind,
      isListed: listed.length > 0,
      nullShare: 0,
      distinct: listed.length,
      share: 0,
      common: isTime ? undefined : first,
      middle: undefined,
    }
  })
}

/** A field path that a schema declares, with its subschema. */
type Declared = { path: FieldPath; schema: Record<string, unknown> }

/** Lists declared field paths breadth-first through properties and items, up to the display limit. */
function declaredPlaces(root: unknown): Declared[] {
  const found: Declared[] = []
  let level: Declared[] = [{ path: [], schema: dereference(root, root) ?? {} }]
  for (
    let depth = 0;
    depth < PROFILE_LIMITS.depth && level.length > 0 && found.length < PROFILE_LIMITS.fields;
    depth++
  ) {
    level = level.flatMap((place) => below(place, root)).slice(0, PROFILE_LIMITS.fields - found.length)
    found.push(...level)
  }
  return found
}

function below({ path, schema }: Declared, root: unknown): Declared[] {
  const { properties, items } = schema
  const named = isObject(properties) ? Object.entries(properties) : []
  const steps: [string | null, unknown][] = isObject(items) ? [...named, [null, items]] : named
  return steps.flatMap(([segment, raw]) => {
    if (raw === false) return []
    return [{ path: [...path, segment], schema: dereference(raw, root) ?? {} }]
  })
}
