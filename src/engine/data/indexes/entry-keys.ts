/** The keys of index entries, made here instead of by `plinth.entry`, which costs PostgreSQL more than all else of a write. */
import type { CompiledIndex, CompiledType } from '../../schema/compiled-types/compiled-type.ts'

/** A record as one write makes it. */
export type KeyedRecord = { readonly id: string; readonly data: unknown }
/** Entries: an index, a record and three keys each; and the properties that the keys are made of. */
export type EntryKeys = Record<'indexes' | 'ids' | 'k1' | 'k2' | 'k3', string[]> & {
  readonly properties: readonly string[]
}
/** An index whose keys are made here. `missing` stands where a record has no value, and `''` where the index has no field. */
type Keyed = { readonly id: string; readonly missing: string; readonly fields: readonly KeyedField[] }
type KeyedField = { readonly path: readonly string[]; readonly isDown: boolean }
type Plan = { readonly indexes: readonly Keyed[]; readonly properties: readonly string[] }

type IndexedType = Pick<CompiledType, 'indexes'>

/** A longer key is cut, by `plinth.fit` only. That of a field that goes down is cut at 300 bytes. */
const MOST_BYTES = 300

const plans = new WeakMap<IndexedType, Plan | 'none'>()

/**
 * The entries of records in the indexes of their type. Undefined where only the database can make them: of columns, times,
 * positions, long values and unique indexes.
 */
export function entryKeys(type: IndexedType, records: readonly KeyedRecord[]): EntryKeys | undefined {
  const plan = plans.get(type) ?? planOf(type.indexes)
  plans.set(type, plan)
  if (plan === 'none') return undefined
  const keys: EntryKeys = { indexes: [], ids: [], k1: [], k2: [], k3: [], properties: plan.properties }
  for (const { id, data } of records)
    for (const index of plan.indexes) {
      const [k1, k2, k3] = [keyAt(index, 0, data), keyAt(index, 1, data), keyAt(index, 2, data)]
      if (k1 === undefined || k2 === undefined || k3 === undefined) return undefined
      keys.indexes.push(index.id)
      keys.ids.push(id)
      keys.k1.push(k1)
      keys.k2.push(k2)
      keys.k3.push(k3)
    }
  return keys
}

function planOf(all: readonly CompiledIndex[]): Plan | 'none' {
  const indexes: Keyed[] = []
  const properties = new Set<string>()
  for (const { id, kind, status, fields } of all) {
    if (status === 'failed') continue
    if (kind !== 'btree') return 'none'
    const scan = fields.at(-1)?.direction
    const keyed: KeyedField[] = []
    for (const { path, zone, direction } of fields) {
      if (zone !== null || !path?.every((step) => typeof step === 'string') || path[0] === undefined)
        return 'none'
      properties.add(path[0])
      keyed.push({ path, isDown: direction !== scan })
    }
    indexes.push({ id, missing: scan === 'desc' ? '' : '~', fields: keyed })
  }
  return indexes.length > 0 ? { indexes, properties: [...properties] } : 'none'
}

/** The key of a field; undefined if an entry does not take it whole. */
function keyAt({ fields, missing }: Keyed, place: number, data: unknown): string | undefined {
  const field = fields[place]
  if (!field) return ''
  const key = keyOf(valueAt(data, field.path))
  if (key === undefined) return missing
  // A character has three bytes at most for each unit of a string.
  if (key.length * 3 > MOST_BYTES && Buffer.byteLength(key) > MOST_BYTES) return undefined
  return field.isDown ? `${invertedHex(Buffer.from(key))}g` : key
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step))
      return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

/** As `plinth.key`: of a string, a number, a boolean, a list, an object. Undefined for null and what is missing. */
function keyOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return `a${value}`
    case 'number':
      return numberKey(value)
    case 'boolean':
      return value ? 'c1' : 'c0'
    case 'object':
      return value === null ? undefined : Array.isArray(value) ? 'd' : 'e'
    default:
      return undefined
  }
}

const double = Buffer.alloc(8)

/** The bits of a double order like the number; those of a negative one the other way round. */
function numberKey(value: number): string {
  // JSON has no negative zero once it is stored.
  double.writeDoubleBE(value === 0 ? 0 : value)
  return value < 0 ? `bn${invertedHex(double)}` : `bp${double.toString('hex')}`
}

function invertedHex(bytes: Buffer): string {
  const turned = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at++) turned[at] = ~(bytes[at] ?? 0)
  return turned.toString('hex')
}
