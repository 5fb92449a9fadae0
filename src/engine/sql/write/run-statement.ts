/** Runs one statement in the transaction: reads, decides, writes, and reads what RETURNING names. */
import { DomainError } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { ByteBudget } from '../../records/batch/byte-budget.ts'
import { refuse } from '../../records/batch/faults.ts'
import { isOfRecord } from '../../records/batch/operation.ts'
import type { Outcome } from '../../records/batch/outcome.ts'
import { prepare, type Types, validateRecords } from '../../records/batch/prepare.ts'
import { runData } from '../../records/batch/run-data.ts'
import { withPlace } from '../conversion-errors.ts'
import { checkNames, type RawRows, type Reader, toRow } from '../execution/read-rows.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { atRows } from './faults.ts'
import { withConversionError } from './find-conversion-error.ts'
import { type Found, lockAndRetry } from './lock-and-retry.ts'
import { fromRows, type PendingRows } from './pending-rows.ts'
import type { Checked } from './prepare-statements.ts'
import { type Changes, idOf, readInsert, readUpdate, versionOf } from './read-changes.ts'
import { eachRow, type Texts } from './rows-to-write.ts'
import { operationsOf, type RowToWrite, remove } from './statement-operations.ts'
import type { ReadRows } from './statement-reader.ts'
import type { Delete } from './translate/delete.ts'
import { keysOf } from './translate/update.ts'

type Row = Readonly<Record<string, unknown>>
/** What a statement did: the rows that it wrote or read, and those that it returns. */
export type Done = { readonly count: number; readonly rows: readonly Row[] }

export type Run = {
  readonly scope: WriteScope
  readonly catalog: Catalog
  readonly types: Types
  readonly own: PendingRows
  readonly read: ReadRows
  readonly budget: ByteBudget
}

/**
 * Runs a checked statement.
 * @throws VALIDATION_ERROR, CONFLICT, FORBIDDEN, NOT_FOUND
 */
export async function runStatement(run: Run, checked: Checked, index: number): Promise<Done> {
  const { statement, read } = checked
  const look = () =>
    run.read(read).catch(async (thrown: unknown) => {
      throw await withConversionError(thrown, checked, run.read, index)
    })
  switch (statement.operation) {
    case 'select': {
      const { columns, rows } = await look()
      checkNames(columns)
      return { count: rows.length, rows: await jsonRows(columns, rows) }
    }
    case 'delete':
      return runDelete(run, statement, look, index)
    case 'update': {
      const changes = await readUpdate(run, statement, look, index)
      return writeAndReturn(run, changes, checked, index)
    }
    case 'insert': {
      const changes = await readInsert(run, statement, look, index)
      return writeAndReturn(run, changes, checked, index)
    }
  }
}

const jsonRows = async (columns: readonly Reader[], rows: readonly Texts[]): Promise<Row[]> => {
  const found: Row[] = []
  await eachRow(rows, () => {})
  for (const texts of rows) found.push(await toRow(columns, texts))
  return found
}

async function runDelete(
  run: Run,
  { target }: Delete,
  look: () => Promise<RawRows>,
  statement: number,
): Promise<Done> {
  const { recordType } = target
  const where = { baseId: run.catalog.baseId, recordType, isDeleting: true }
  const { raw } = await lockAndRetry(run.scope, where, async () => {
    const raw = await look()
    return { raw, found: raw.rows.map((texts): Found => ({ id: idOf(texts), version: versionOf(texts) })) }
  })
  const first = new Map<string, Texts>()
  for (const texts of raw.rows) if (!first.has(idOf(texts))) first.set(idOf(texts), texts)
  const keys = keysOf(target).length
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
  checked: Checked,
  statement: number,
): Promise<Done> {
  const { returning } = checked
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
  const found = await run
    .read(read, (relation, bind) =>
      relation === of.relation
        ? fromRows(relation, run.catalog, bind(`[${bound.join(',')}]`), written)
        : undefined,
    )
    .catch((thrown: unknown) => {
      throw withPlace(thrown, checked.conversions)
    })
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
