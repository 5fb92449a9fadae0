import type { Position } from '../../core/cursor.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import { successor } from '../../data/filter/sort-key.ts'
import type { Condition } from '../../data/filter/syntax-tree.ts'
import type { CompiledIndex, IndexField } from '../../data/indexes/index.ts'
import { type AccessPath, isField, isTimeField, isTurned, scansDown } from './access-path.ts'
import type { SortTerm } from './sort.ts'

/** The key columns of an entry, in order; columns that an index does not use are empty. */
const COLUMNS = ['i.k1', 'i.k2', 'i.k3'] as const

/** The key of a missing value; it sorts last in the direction of the scan. */
const missing = (index: CompiledIndex): string => (scansDown(index) ? "''" : "'~'")

/**
 * Wraps a comparison value in a subquery. PostgreSQL then uses a generic plan: planning each statement for
 * its values takes longer than most of them run.
 */
const unseen = (sql: string): string => `(SELECT ${sql})`

/** The index conditions on `plinth.record_index AS i` of an access path. */
export function entryConditions(
  { index, fixed, range }: AccessPath,
  baseId: string,
  parameters: Parameters,
): string {
  const all = [
    `i.base_id = ${unseen(`${parameters.add(baseId)}::text`)}`,
    `i.index_id = ${unseen(`${parameters.add(index.id)}::bigint`)}`,
  ]
  for (const [n, condition] of fixed.entries()) all.push(fixedKey(index, n, condition, parameters))
  for (const condition of range) all.push(rangeOfKeys(index, fixed.length, condition, parameters))
  return all.join(' AND ')
}

function fixedKey(index: CompiledIndex, n: number, { op, value }: Condition, parameters: Parameters): string {
  const field = index.fields[n] as IndexField
  if (op === 'is_null' || value === null) return `${COLUMNS[n]} = ${missing(index)}`
  const values = op === 'in' ? (value as unknown[]) : [value]
  const keys = values.map((each) => keyOf(index, field, each, parameters))
  if (op !== 'in') return `${COLUMNS[n]} = ${unseen(keys.join())}`
  return `${COLUMNS[n]} = ANY (${unseen(`ARRAY[${keys.join(', ')}]`)}::text[])`
}

/** Keys up to this size, including the type letter, are never truncated. */
const UNCUT_BYTES = 300

/**
 * The index key of a value. A key that is not truncated uses expressions that the planner can inline, which
 * saves a fifth of the scan.
 */
function keyOf(index: CompiledIndex, field: IndexField, value: unknown, parameters: Parameters): string {
  const isText = typeof value === 'string'
  if (isTimeField(field) || (isText && Buffer.byteLength(value) >= UNCUT_BYTES)) {
    const json = `${parameters.add(JSON.stringify(value))}::jsonb`
    return `plinth.entry_key(${json}, ${zoneOf(field, parameters)}, ${isTurned(index, field)})`
  }
  const key = isText
    ? textKey(value, parameters)
    : `plinth.key(${parameters.add(JSON.stringify(value))}::jsonb)`
  return storedKey(index, field, key)
}

const textKey = (value: string, parameters: Parameters): string => `'a' || ${parameters.add(value)}::text`

/** A key range bounded on both sides, which excludes values of other types. */
function rangeOfKeys(
  index: CompiledIndex,
  n: number,
  { op, value }: Condition,
  parameters: Parameters,
): string {
  const field = index.fields[n] as IndexField
  const column = COLUMNS[n]
  if (op === 'starts_with') {
    const next = successor(value as string)
    const upper = next === undefined ? "'b'" : unseen(textKey(next, parameters))
    return `${column} >= ${unseen(textKey(value as string, parameters))} AND ${column} < ${upper}`
  }
  const json = `${parameters.add(JSON.stringify(value))}::jsonb`
  const key = isTimeField(field) ? `plinth.key(${json}, ${zoneOf(field, parameters)})` : `plinth.key(${json})`
  const [floor, ceiling] =
    typeof value === 'number' ? ['b', 'c'] : isTimeField(field) ? ['A', 'B'] : ['a', 'b']
  const sign = { gt: '>', gte: '>=', lt: '<', lte: '<=' }[op as 'gt' | 'gte' | 'lt' | 'lte']
  const other = op.startsWith('g') ? `${column} < '${ceiling}'` : `${column} >= '${floor}'`
  return `${column} ${sign} ${unseen(key)} AND ${other}`
}

/** The timezone for a value that the caller wrote, as SQL. */
const zoneOf = (field: IndexField, parameters: Parameters): string =>
  isTimeField(field) ? `${parameters.add(field.zone ?? 'UTC')}::text` : 'NULL'

const storedKey = (index: CompiledIndex, field: IndexField, key: string): string =>
  isTurned(index, field) ? `plinth.down(${key})` : key

/** The ORDER BY of the entries: forward or backward index order. */
export function entryOrder({ index, fixed, order }: AccessPath): string {
  if (order === 'newest') return 'i.created_at DESC, i.id DESC'
  if (order === 'oldest') return 'i.created_at, i.id'
  const descending = scansDown(index) !== (order === 'reversed')
  return [...COLUMNS.slice(fixed.length), 'i.id']
    .map((column) => `${column}${descending ? ' DESC' : ''}`)
    .join(', ')
}

/**
 * Splits the scan into runs that make up the sort, one after the other. A backward scan returns missing
 * values first, so they are a separate run.
 */
export function entryRuns({ index, fixed, order }: AccessPath): readonly (string | null)[] {
  if (order !== 'reversed' || fixed.length === index.fields.length) return [null]
  const column = COLUMNS[fixed.length]
  return [`${column} <> ${missing(index)}`, `${column} = ${missing(index)}`]
}

/** Keyset pagination: the entries after a position within a run; null when the whole run precedes it. */
export function entriesAfter(
  path: AccessPath,
  run: number,
  sort: readonly SortTerm[],
  position: Position,
  parameters: Parameters,
): string | null {
  const { index, fixed, order } = path
  const id = parameters.add(position.id)
  if (order === 'newest' || order === 'oldest') {
    const sign = order === 'newest' ? '<' : '>'
    return `(i.created_at, i.id) ${sign} (${parameters.add(position.values[0])}::timestamptz, ${id})`
  }
  const rest = index.fields.slice(fixed.length)
  const values = rest.map(
    (field) => position.values[sort.findIndex((term) => isField(term.field, field))] ?? null,
  )
  if (order === 'reversed' && rest.length > 0 && (values[0] === null) !== (run === 1))
    return run === 1 ? 'true' : null
  const bound = rest.map((field, n) => {
    const value = values[n] ?? null
    return value === null ? missing(index) : storedKey(index, field, rememberedKey(field, value, parameters))
  })
  const sign = scansDown(index) !== (order === 'reversed') ? '<' : '>'
  const columns = COLUMNS.slice(fixed.length, index.fields.length)
  return `(${[...columns, 'i.id'].join(', ')}) ${sign} (${[...bound, id].join(', ')})`
}

/** Reuses the key of a sort term stored in the entry; null when the entry stores it inverted. */
export function entryKey({ index, order }: AccessPath, term: SortTerm | undefined): string | null {
  const n = index.fields.findIndex((field) => term && isField(term.field, field))
  const field = index.fields[n]
  if (!field || order === 'newest' || order === 'oldest' || isTurned(index, field)) return null
  return `nullif(${COLUMNS[n]}, ${missing(index)})`
}

/** A cursor position holds keys for fields of `data`, and plain values for columns. */
function rememberedKey({ column }: IndexField, value: string | number, parameters: Parameters): string {
  if (column === null) return `${parameters.add(value)}::text`
  if (column === 'created_at' || column === 'updated_at')
    return `plinth.time_key(${parameters.add(value)}::timestamptz)`
  return `plinth.key(to_jsonb(${parameters.add(value)}::${column === 'version' ? 'int' : 'text'}))`
}
