/** Writes rows of configuration, all rows of one kind together. */
import { toSnake } from '../../../contract/field-names.ts'
import { mapInTurns } from '../../../foundation/event-loop-turns.ts'
import { partsOf } from '../../core/append-change.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'
import { type Kind, ONE_MORE, type Stored } from './kind.ts'
import { lastVersions } from './version-history.ts'

/** A row to write: as it is, null for a new one, and its columns. */
export type Row = { readonly id: string; readonly current: Stored | null; readonly columns: object }
type Written = Row & { readonly row: Stored }

/** Creates or updates rows. Returns them in the same order. */
export async function storeRows(
  db: Db,
  kind: Kind,
  baseId: string,
  rows: readonly Row[],
): Promise<readonly Stored[]> {
  const created = rows.flatMap(({ id, current }) => (current ? [] : [id]))
  const last = created.length > 0 ? await lastVersions(db, kind, baseId, created) : new Map<string, number>()
  const now = new Date()
  const written = rows.map((each): Written => {
    const { id, current } = each
    const version = (current?.version ?? last.get(id) ?? 0) + 1
    const own = { baseId, id, version, createdAt: current?.createdAt ?? now, updatedAt: now }
    return { ...each, row: { ...rowAfter(each), ...own } }
  })
  if (kind.table(db).createOne) {
    const stored: Stored[] = []
    for (const each of written) stored.push(await storeAlone(db, kind, each))
    return stored
  }
  await storeAll(db, kind, baseId, written, true)
  await storeAll(db, kind, baseId, written, false)
  return written.map(({ row }) => row)
}

/** The row of a trial: what a write would store, with the next version. */
export function trialRow(baseId: string, each: Row): Stored {
  const now = new Date()
  const { id, current } = each
  const own = { baseId, id, version: (current?.version ?? 0) + 1, createdAt: current?.createdAt ?? now }
  return { ...rowAfter(each), ...own, updatedAt: now }
}

const rowAfter = ({ current, columns }: Row): object => ({ ...current, ...valuesAfter(columns, current) })

/** Writes a row of a kind whose rows are more than their columns. */
async function storeAlone(db: Db, kind: Kind, { id, current, columns, row }: Written): Promise<Stored> {
  const { createOne, updateOne } = kind.table(db)
  const { baseId, version, updatedAt } = row
  const data = { ...columns, version }
  const where = { baseId_id: { baseId, id } } as never
  const done = current
    ? await updateOne?.({ where, data: { ...data, updatedAt } as never })
    : await createOne?.({ data: { baseId, id, ...data } as never })
  return done ?? row
}

async function storeAll(
  db: Db,
  kind: Kind,
  baseId: string,
  written: readonly Written[],
  isNew: boolean,
): Promise<void> {
  const due = written.filter(({ current }) => isNew === (current === null))
  const [first] = due
  if (!first) return
  const names = Object.keys(first.columns).filter((name) => !kind.parts?.includes(name))
  const texts = await mapInTurns(due, ({ row }) => JSON.stringify(inSnakeCase(row, [...names, ...OWN])))
  const write = isNew ? insert(kind) : update(kind, names, first.columns)
  for (const { from, to } of partsOf(texts))
    await db.query(write, [baseId, `[${texts.slice(from, to).join(',')}]`])
}

const OWN = ['baseId', 'id', 'version', 'createdAt', 'updatedAt']

const valuesAfter = (columns: object, current: Stored | null): object =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      value === ONE_MORE ? Number(current?.[name as keyof Stored] ?? 0) + 1 : value,
    ]),
  )

const inSnakeCase = (row: object, names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [toSnake(name), row[name as keyof typeof row]]))

// Safe to interpolate: names of kinds and of their columns are constants. `json` keeps the order of keys.
const insert = ({ name }: Kind): Statement =>
  statement(
    `insert_${name}`,
    `INSERT INTO plinth.${name} SELECT n.* FROM json_populate_recordset(NULL::plinth.${name}, $2::json) n
     WHERE n.base_id = $1`,
  )

function update({ name }: Kind, names: readonly string[], columns: object): Statement {
  const sets = [...names, 'version', 'updatedAt'].map((column) => {
    const target = `"${toSnake(column)}"`
    // Jobs raise it too, without the lock of the configuration.
    const isOneMore = columns[column as keyof typeof columns] === ONE_MORE
    return isOneMore ? `${target} = t.${target} + 1` : `${target} = n.${target}`
  })
  return statement(
    `update_${name}`,
    `UPDATE plinth.${name} t SET ${sets.join(', ')}
     FROM json_populate_recordset(NULL::plinth.${name}, $2::json) n WHERE t.base_id = $1 AND t.id = n.id`,
  )
}
