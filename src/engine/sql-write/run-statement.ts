/** Runs one statement in the transaction: reads, decides, writes, and reads what RETURNING names. */
import { DomainError, invalid } from '../../foundation/errors.ts'
import type { ByteBudget } from '../batch/byte-budget.ts'
import { refuse } from '../batch/failures.ts'
import { isOfRecord } from '../batch/operation.ts'
import type { Outcome } from '../batch/outcome.ts'
import { prepare, type Types, validateRecords } from '../batch/prepare.ts'
import { runData } from '../batch/run-data.ts'
import { readPair } from '../record-store/record.ts'
import { checkNames, type RawRows, type Reader, toRow } from '../sql/execution/read-rows.ts'
import type { Catalog } from '../sql/guard/relations/catalog.ts'
import type { WriteScope } from '../write/write.ts'
import { atRows } from './faults.ts'
import { fromRows, type OwnRows } from './own-rows.ts'
import type { Checked } from './prepare-statements.ts'
import { checkKept, eachRow, pathOf, type Texts, valuesOf } from './rows-to-write.ts'
import { type Found, settle } from './settle.ts'
import { assign, create, link, operationsOf, type RowToWrite, remove } from './statement-operations.ts'
import type { ReadRows } from './statement-reader.ts'
import type { Delete } from './translate/delete.ts'
import type { Insert } from './translate/insert.ts'
import type { Update } from './translate/update.ts'

export type Row = Readonly<Record<string, unknown>>
/** What a statement did: the rows that it wrote or read, and those that it returns. */
export type Done = { readonly count: number; readonly rows: readonly Row[] }

export type Run = {
  readonly scope: WriteScope
  readonly catalog: Catalog
  readonly types: Types
  readonly own: OwnRows
  readonly read: ReadRows
  readonly budget: ByteBudget
}

/**
 * Runs a checked statement.
 * @throws VALIDATION_ERROR, CONFLICT, FORBIDDEN, NOT_FOUND
 */
export async function runStatement(
  run: Run,
  { statement, read, returning }: Checked,
  index: number,
): Promise<Done> {
  switch (statement.operation) {
    case 'select': {
      const { columns, rows } = await run.read(read)
      checkNames(columns)
      return { count: rows.length, rows: await jsonRows(columns, rows) }
    }
    case 'delete':
      return runDelete(run, statement, () => run.read(read), index)
    case 'update': {
      const changes = await readUpdate(run, statement, () => run.read(read), index)
      return writeAndReturn(run, changes, returning, index)
    }
    case 'insert': {
      const changes = await readInsert(run, statement, () => run.read(read), index)
      return writeAndReturn(run, changes, returning, index)
    }
  }
}

const jsonRows = async (columns: readonly Reader[], rows: readonly Texts[]): Promise<Row[]> => {
  const found: Row[] = []
  await eachRow(rows, () => {})
  for (const texts of rows) found.push(await toRow(columns, texts))
  return found
}

/** The rows to write, and for each the values that RETURNING carries. */
type Changes = {
  readonly rows: readonly RowToWrite[]
  readonly carried: readonly Texts[]
  readonly carriedTypes: readonly string[]
}

const idOf = (texts: Texts): string => texts[0] ?? ''
const versionOf = (texts: Texts, at = 1): number => Number(texts[at])

async function readUpdate(
  { scope, catalog }: Run,
  { target, sets, reads, returning }: Update,
  look: () => Promise<RawRows>,
  statement: number,
): Promise<Changes> {
  const { recordType } = target
  const { raw } = await settle(scope, { baseId: catalog.baseId, recordType, isDeleting: false }, async () => {
    const raw = await look()
    return { raw, found: raw.rows.map((texts): Found => ({ id: idOf(texts), version: versionOf(texts) })) }
  })
  const keys = recordType === null ? 7 : 2
  const from = keys + 1
  const seen = new Map<string, string>()
  const rows: RowToWrite[] = []
  const carried: Texts[] = []
  await eachRow(raw.rows, (texts) => {
    const id = idOf(texts)
    const path = pathOf(statement, id)
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
        ? link(endsOf(texts), values.data, { id, version, path })
        : assign(recordType, id, version, values),
    )
    carried.push(texts.slice(from + sets.length))
  })
  const count = returning?.carried.length ?? 0
  const types = raw.columns.slice(from + sets.length, from + sets.length + count).map(({ type }) => type)
  return { rows, carried, carriedTypes: types }
}

/** The ends of a link, after its id and version. */
const endsOf = ([, , relType, sourceType, sourceId, targetType, targetId]: Texts) =>
  new Map([
    ['rel_type', relType ?? null],
    ['source_record_type', sourceType ?? null],
    ['source_id', sourceId ?? null],
    ['target_record_type', targetType ?? null],
    ['target_id', targetId ?? null],
  ])

const writtenTwice = (path: string, id: string) =>
  invalid({
    path,
    code: 'duplicate',
    message: `The statement gives "${id}" different values at once. Make the rows of FROM unique, for example with DISTINCT ON or an aggregate.`,
  })

async function readInsert(
  { scope, catalog }: Run,
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
  const { raw, found } = conflict
    ? await settle(scope, { baseId, recordType, isDeleting: false }, read)
    : await read()
  const rows: RowToWrite[] = []
  const seen = new Set<string>()
  const from = columns.length
  await eachRow(raw.rows, (texts, index) => {
    const given = texts[columns.findIndex(({ column }) => column === 'id')] ?? null
    const path = pathOf(statement, given)
    const inserted = () => valuesOf(raw, texts, columns, { from: 0, path })
    const met = found[index]
    if (!conflict || !met) {
      const { fields, data, ...rest } = inserted()
      rows.push(
        recordType === null
          ? link(fields, data, { id: null, version: null, path })
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
      rows.push(create(recordType ?? '', inserted()))
      return
    }
    if (conflict.action === 'nothing' || texts[from + 3] !== 't') return
    const id = texts[from] ?? ''
    const at = pathOf(statement, id)
    const values = valuesOf(raw, texts, conflict.sets, { from: from + 4, path: at })
    checkKept(values, { holdsOther: texts[from + 2], reads: conflict.reads, path: at })
    rows.push(assign(recordType ?? '', id, met.version, values))
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

async function runDelete(
  run: Run,
  { target }: Delete,
  look: () => Promise<RawRows>,
  statement: number,
): Promise<Done> {
  const { recordType } = target
  const where = { baseId: run.catalog.baseId, recordType, isDeleting: true }
  const { raw } = await settle(run.scope, where, async () => {
    const raw = await look()
    return { raw, found: raw.rows.map((texts): Found => ({ id: idOf(texts), version: versionOf(texts) })) }
  })
  const first = new Map<string, Texts>()
  for (const texts of raw.rows) if (!first.has(idOf(texts))) first.set(idOf(texts), texts)
  const keys = recordType === null ? 7 : 2
  const returned = raw.columns.slice(keys)
  checkNames(returned)
  const kept = [...first.values()]
  await writeRows(
    run,
    kept.map((texts) => remove(recordType, idOf(texts), versionOf(texts))),
    statement,
  )
  const rows =
    returned.length === 0
      ? []
      : await jsonRows(
          returned,
          kept.map((texts) => texts.slice(keys)),
        )
  return { count: kept.length, rows }
}

/** Writes rows as the batch does. */
async function writeRows(
  { scope, catalog: { baseId }, types, own, budget }: Run,
  rows: readonly RowToWrite[],
  statement: number,
): Promise<Outcome[]> {
  if (rows.length === 0) return []
  const rowOf = (index: number) => rows[index] ?? { id: null, kind: 'row' }
  return atRows(statement, rowOf, async () => {
    const operations = await operationsOf(scope, rows)
    const records = operations.filter(isOfRecord)
    if (records.length < operations.length) {
      const { faults } = await prepare(scope, baseId, operations)
      refuse(faults)
    } else refuse(await validateRecords(scope, records, types))
    const outcomes = new Map<number, Outcome>()
    await runData(scope, baseId, operations, types, outcomes, budget)
    own.wrote()
    return [...outcomes.values()].sort((a, b) => a.index - b.index)
  })
}

async function writeAndReturn(
  run: Run,
  { rows, carried, carriedTypes }: Changes,
  returning: Checked['returning'],
  statement: number,
): Promise<Done> {
  const outcomes = await writeRows(run, rows, statement)
  const count = outcomes.length
  if (!returning) return { count, rows: [] }
  const { of, read } = returning
  const texts = await run.own.rowsOf(
    of.relation,
    outcomes.map(({ id }) => id),
  )
  if (texts.length < count) throw new DomainError('CONFLICT', 'A written row has gone within its statement.')
  const written = of.carriedNames.map((text, n) => ({ text, type: typeName(carriedTypes[n] ?? 'text') }))
  const bound = texts.map((text, n) => withCarried(text, of.carriedNames, carried[n] ?? []))
  const found = await run.read(read, (relation, bind) =>
    relation === of.relation
      ? fromRows(relation, run.catalog, bind(`[${bound.join(',')}]`), written)
      : undefined,
  )
  checkNames(found.columns)
  return { count, rows: await jsonRows(found.columns, found.rows) }
}

/** Puts carried values before the columns of a row, as JSON text. */
function withCarried(text: string, names: readonly string[], values: Texts): string {
  if (names.length === 0) return text
  const carried = Object.fromEntries(names.map((name, n) => [name, values[n] ?? null]))
  return `${JSON.stringify(carried).slice(0, -1)},${text.trimStart().slice(1)}`
}

const CASTS =
  /^(boolean|bigint|smallint|integer|text|json|jsonb|real|double precision|numeric|date|time|timestamp|timestamptz|interval|timetz|uuid)(\[\])?$/
/** The type to cast a carried value back to. */
const typeName = (type: string): string => (CASTS.test(type) ? type : 'text')
