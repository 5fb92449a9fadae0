/**
 * Finds the row and the column whose value PostgreSQL could not convert. Its error names neither, and the
 * statement fails as a whole: parts of it are read again, halving the columns and then the rows.
 */
import type { Node, SelectStmt } from '@pgsql/types'
import type { DomainError } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { isConversionError, readingOf, reworded, withPlace } from '../conversion-errors.ts'
import { rowPath } from './faults.ts'
import type { Checked } from './prepare-statements.ts'
import type { Texts } from './rows-to-write.ts'
import type { ReadRows } from './statement-reader.ts'
import type { Assigned } from './translate/columns.ts'
import type { Insert } from './translate/insert.ts'
import { cast, column, combined, NULL, operation, text } from './translate/nodes.ts'
import type { Update } from './translate/update.ts'

/** The error of a read of a statement, with the place of the value that did not fit, as far as it can be found. */
export async function withConversionError(
  thrown: unknown,
  checked: Checked,
  read: ReadRows,
  index: number,
): Promise<unknown> {
  if (!isConversionError(thrown)) return thrown
  const placed = withPlace(thrown, checked.conversions)
  const { statement } = checked
  if (statement.operation !== 'update' && statement.operation !== 'insert') return placed
  try {
    return (await findValue(thrown, { checked, statement, read, index })) ?? placed
  } catch {
    // The time of the request is over, or it has too many rows: the first error is the one to answer.
    return placed
  }
}

type Search = {
  readonly checked: Checked
  readonly statement: Update | Insert
  readonly read: ReadRows
  readonly index: number
}

/** A value that the statement computes, with the column that it is for. */
type Value = { readonly target: Node; readonly assigned: Assigned }

async function findValue(thrown: DomainError, search: Search): Promise<DomainError | undefined> {
  const { statement, checked, index } = search
  const { target } = statement
  const values = valuesOf(statement)
  const rows = await readPart(search, [])
  const [value] = await firstFailing(values, (first) => fails(search, first))
  if (!rows || !value) return undefined
  // The rows of VALUES have numbers, and need no ids.
  const numbers = [...Array(listOf(statement).length).keys()]
  const [row] = await firstFailing(numbers, (first) => fails(search, [value], { rows: first.length }))
  const ids = [...new Set(rows.flatMap(([id]) => id ?? []))].sort()
  // A parameter fails without any row.
  const isOfRow = row === undefined && ids.length > 0 && !(await fails(search, [value], { upTo: '' }))
  const [id = null] = isOfRow
    ? await firstFailing(ids, (first) => fails(search, [value], { upTo: first.at(-1) ?? '' }))
    : []
  const { column: named, property } = value.assigned
  const kind = target.recordType ?? 'relationship'
  const name = row !== undefined ? `row ${row}, ` : id === null ? '' : `${kind} "${id}", `
  const of = withPlace(thrown, (unfit) => {
    const places = checked.conversions(unfit)
    return places.length === 1 ? places : []
  })
  const { message } = isConversionError(of) ? of : thrown
  const below = property ? `/data${pointer(property.name)}` : pointer(named)
  const path = rowPath(index, id, row) + below
  return reworded(thrown, `${name}"${named}": ${message} Nothing was written.`, path, readingOf(thrown))
}

/** The items up to the first with which a read fails, last first; none if the read of all of them succeeds. */
async function firstFailing<T>(
  items: readonly T[],
  isFailing: (first: readonly T[]) => Promise<boolean>,
): Promise<T[]> {
  if (items.length === 0 || !(await isFailing(items))) return []
  let [from, to] = [1, items.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (await isFailing(items.slice(0, middle))) to = middle
    else from = middle + 1
  }
  return items.slice(0, to).reverse()
}

/** Rows to read: the first ones of VALUES, or those up to an id. */
type Part = { readonly rows?: number; readonly upTo?: string }

const fails = async (search: Search, values: readonly Value[], part?: Part): Promise<boolean> =>
  (await readPart(search, values, part)) === undefined

/** Reads the ids of the rows with some values; undefined if a value does not fit. */
async function readPart(
  { checked, read }: Search,
  values: readonly Value[],
  { rows, upTo }: Part = {},
): Promise<readonly Texts[] | undefined> {
  const names = new Set(values.map(({ target }) => nameOf(target)))
  const part = await checked.again((statement) => {
    if (statement.operation === 'insert') keepValues(statement, names, rows)
    const id = idOf(statement)
    const targets = (statement.select.targetList ?? []).filter((node) => names.has(nameOf(node)))
    const first: Node = { ResTarget: { name: '#key', val: id ?? cast(NULL(), 'text') } }
    const again = idOf(statement)
    const bound = upTo === undefined || !again ? [] : [operation('<=', byCodePoint(again), text(upTo))]
    const { whereClause, ...select } = statement.select
    const conditions = [...(whereClause ? [whereClause] : []), ...bound]
    const narrowed: SelectStmt = { ...select, targetList: [first, ...targets] }
    if (conditions.length > 0) narrowed.whereClause = combined('AND_EXPR', conditions)
    return narrowed
  })
  try {
    return (await read(part)).rows
  } catch (thrown) {
    if (isConversionError(thrown)) return undefined
    throw thrown
  }
}

const nameOf = (node: Node): string => ('ResTarget' in node && node.ResTarget.name) || ''

/** The values that a statement computes, in the order of its SELECT. */
function valuesOf(statement: Update | Insert): Value[] {
  const sets = statement.operation === 'update' ? statement.sets : (statement.conflict?.sets ?? [])
  const inserted = statement.operation === 'insert' ? statement.columns : []
  return (statement.select.targetList ?? []).flatMap((target) => {
    const [, kind, number] = /^#([iv])(\d+)$/.exec(nameOf(target)) ?? []
    const assigned = (kind === 'v' ? sets : inserted)[Number(number)]
    return kind === undefined || !assigned ? [] : [{ target, assigned }]
  })
}

/** The id of a row, as the SELECT reads it: that of the record to update, or of the one to insert. */
function idOf(statement: Update | Insert): Node | undefined {
  if (statement.operation === 'update') return column(statement.target.alias, 'id')
  return statement.columns.some((each) => each.column === 'id') ? column('excluded', 'id') : undefined
}

/** The rows of VALUES of an INSERT. */
function listOf(statement: Update | Insert): readonly Node[] {
  const [from] = (statement.operation === 'insert' && statement.select.fromClause) || []
  const inserted = from && 'JoinExpr' in from ? from.JoinExpr.larg : from
  const rows = inserted && 'RangeSubselect' in inserted ? inserted.RangeSubselect.subquery : undefined
  return (rows && 'SelectStmt' in rows && rows.SelectStmt.valuesLists) || []
}

/** Leaves only the ids and the named values in VALUES, which PostgreSQL computes whole: of the first rows. */
function keepValues(statement: Insert, names: ReadonlySet<string>, most = Number.POSITIVE_INFINITY): void {
  const isNamed = (column: number) => names.has(`#i${column}`) || statement.columns[column]?.column === 'id'
  for (const [n, row] of listOf(statement).entries())
    if ('List' in row)
      row.List.items = (row.List.items ?? []).map((item, column) =>
        // A bare NULL takes the type that the column has in the other rows.
        isNamed(column) ? (n < most ? item : NULL()) : cast(NULL(), 'text'),
      )
}

const byCodePoint = (id: Node): Node => ({
  CollateClause: { arg: cast(id, 'text'), collname: [{ String: { sval: 'C' } }] },
})
