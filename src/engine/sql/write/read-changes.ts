/** Reads what a statement changes: its rows and values, settled against other writers. */
import { invalid } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { readPair } from '../../data/ledger/record.ts'
import type { RawRows } from '../execution/read-rows.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { rowPath } from './faults.ts'
import { type Found, lockAndRetry } from './lock-and-retry.ts'
import { checkKept, dataOf, eachRow, type Texts, type Values, valuesOf } from './rows-to-write.ts'
import {
  assign,
  create,
  endTypesOf,
  type LinkRow,
  link,
  move,
  type RowToWrite,
} from './statement-operations.ts'
import type { Insert } from './translate/insert.ts'
import { keysOf, LINK_KEYS, type Update } from './translate/update.ts'

type Within = { readonly scope: WriteScope; readonly catalog: Catalog }

/** The rows to write, and for each the values that RETURNING carries. */
export type Changes = {
  readonly rows: readonly RowToWrite[]
  readonly carried: readonly Texts[]
  readonly carriedTypes: readonly string[]
}

export const idOf = (texts: Texts): string => texts[0] ?? ''
export const versionOf = (texts: Texts, at = 1): number => Number(texts[at])

/** Reads the rows of an UPDATE, with their new values. */
export async function readUpdate(
  { scope, catalog }: Within,
  { target, sets, reads, returning }: Update,
  look: () => Promise<RawRows>,
  statement: number,
): Promise<Changes> {
  const { recordType } = target
  const { raw } = await lockAndRetry(
    scope,
    { baseId: catalog.baseId, recordType, isDeleting: false },
    async () => {
      const raw = await look()
      return { raw, found: raw.rows.map((texts): Found => ({ id: idOf(texts), version: versionOf(texts) })) }
    },
  )
  const keys = keysOf(target).length
  const from = keys + 1
  const seen = new Map<string, string>()
  const rows: RowToWrite[] = []
  const carried: Texts[] = []
  await eachRow(raw.rows, (texts) => {
    const id = idOf(texts)
    const path = rowPath(statement, id)
    const given = JSON.stringify(texts.slice(from, from + sets.length))
    const before = seen.get(id)
    if (before === given) return
    if (before !== undefined) throw writtenTwice(path, id)
    seen.set(id, given)
    const values = valuesOf(raw, texts, sets, { from, path })
    checkKept(values, { holdsOther: texts[keys], reads, path })
    const version = versionOf(texts)
    rows.push(
      recordType === null
        ? changedLink(raw, texts, values, { id, version, path })
        : assign(recordType, id, version, values),
    )
    carried.push(texts.slice(from + sets.length))
  })
  const count = returning?.carried.length ?? 0
  const types = raw.columns.slice(from + sets.length, from + sets.length + count).map(({ type }) => type)
  return { rows, carried, carriedTypes: types }
}

/** A link with new data, or with new ends: then it keeps what else it has. */
function changedLink(raw: RawRows, texts: Texts, { fields, data }: Values, row: LinkRow): RowToWrite {
  const before = new Map(LINK_KEYS.map((name, n) => [name, texts[n] ?? null] as const))
  if ([...fields].every(([name, value]) => before.get(name) === value)) return link(before, data, row)
  const at = LINK_KEYS.indexOf('data')
  const kept = data ?? dataOf(texts[at] ?? null, raw.columns[at], `${row.path}/data`)
  return move(new Map([...before, ...fields]), kept, row)
}

const writtenTwice = (path: string, id: string) =>
  invalid({
    path,
    code: 'duplicate',
    message: `The statement gives "${id}" different values at once. Make the rows of FROM unique, for example with DISTINCT ON or an aggregate.`,
  })

/** Reads the rows of an INSERT, and the records that they meet. */
export async function readInsert(
  { scope, catalog }: Within,
  { target, columns, conflict }: Insert,
  look: () => Promise<RawRows>,
  statement: number,
): Promise<Changes> {
  const { recordType } = target
  const { baseId } = catalog
  const read = async () => {
    const raw = await look()
    return { raw, found: conflict ? raw.rows.map((texts) => metBy(texts, { columns, conflict })) : [] }
  }
  const typesOf = recordType === null ? await endTypesOf(scope, baseId) : undefined
  const { raw, found } = conflict
    ? await lockAndRetry(scope, { baseId, recordType, isDeleting: false }, read)
    : await read()
  const rows: RowToWrite[] = []
  const seen = new Set<string>()
  const from = columns.length
  await eachRow(raw.rows, (texts, index) => {
    const given = texts[columns.findIndex(({ column }) => column === 'id')] ?? null
    const path = rowPath(statement, given, index)
    const add = (row: RowToWrite) => rows.push({ ...row, row: index })
    const inserted = () => valuesOf(raw, texts, columns, { from: 0, path })
    const met = found[index]
    if (!conflict || !met) {
      const { fields, data, ...rest } = inserted()
      add(
        recordType === null
          ? link(fields, data, { id: null, version: null, path, ...(typesOf && { typesOf }) })
          : create(recordType, { fields, data, ...rest }),
      )
      return
    }
    const key = keyOf(met)
    if (key !== null && seen.has(key)) {
      if (conflict.action === 'nothing') return
      throw writtenTwice(path, met.pair?.externalId ?? given ?? '')
    }
    if (key !== null) seen.add(key)
    if (met.version === null) {
      add(create(recordType ?? '', inserted()))
      return
    }
    if (conflict.action === 'nothing' || texts[from + 3] !== 't') return
    const id = texts[from] ?? ''
    const values = valuesOf(raw, texts, conflict.sets, { from: from + 4, path })
    checkKept(values, { holdsOther: texts[from + 2], reads: conflict.reads, path })
    add(assign(recordType ?? '', id, met.version, values))
  })
  return { rows, carried: rows.map(() => []), carriedTypes: [] }
}

const keyOf = ({ id, pair }: Found): string | null =>
  pair ? JSON.stringify([pair.externalSource, pair.externalId]) : id

/** The key of a row to insert, and the version of the record that has it. */
function metBy(texts: Texts, { columns, conflict }: Required<Pick<Insert, 'columns' | 'conflict'>>): Found {
  const value = (name: string) => {
    const at = columns.findIndex(({ column }) => column === name)
    return at < 0 ? null : (texts[at] ?? null)
  }
  const version = texts[columns.length + 1]
  const met = { version: version === null || version === undefined ? null : Number(version) }
  if (conflict?.key === 'id') return { ...met, id: value('id') }
  const externalId = value('external_id')
  const pair = externalId === null ? null : readPair({ externalId, externalSource: value('external_source') })
  return { ...met, id: null, ...(pair && { pair }) }
}
