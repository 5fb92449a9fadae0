import type { InsertStmt, Node, SelectStmt, WithClause } from '@pgsql/types'
import { checkWhole } from './assignments.ts'
import { type Assigned, findAssigned, typedValue } from './columns.ts'
import { type Conflict, joined, readConflict } from './conflict.ts'
import { asNamed, column, select, subquery } from './nodes.ts'
import { type Returning, readReturning } from './returning.ts'
import { findWrittenRelation, type Translation, type WrittenRelation } from './written-relation.ts'

export type Insert = {
  readonly operation: 'insert'
  readonly target: WrittenRelation
  /** The values of `columns`; with a conflict also id, version, `holdsOther`, the condition and the values of its `sets`. */
  readonly select: SelectStmt
  readonly columns: readonly Assigned[]
  /** All columns of the rows of INSERT … SELECT: their number must be that of `columns`. */
  readonly rows: SelectStmt | undefined
  readonly conflict: Conflict | undefined
  readonly returning: Returning | undefined
}

/**
 * Translates an INSERT to the SELECT of its rows, and of the records that they meet.
 * @throws VALIDATION_ERROR, FORBIDDEN
 */
export function translateInsert(translation: Translation, statement: InsertStmt): Insert {
  const { relation: range = {}, cols, selectStmt, onConflictClause, withClause, returningClause } = statement
  const target = findWrittenRelation(translation, range, withClause)
  const columns = readColumns(translation, target, cols)
  const rows = selectStmt && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt : undefined
  if (!rows) throw noValues(translation)
  typeRows(translation, rows, columns)
  const conflict = onConflictClause && readConflict(translation, target, columns, onConflictClause)
  const returning = readReturning(translation, target, returningClause, { carries: false })
  const names = columns.map(({ column: name }) => name)
  const wide = rows.valuesLists ? undefined : structuredClone(whole(rows, withClause))
  const inserted = subquery(rows, 'excluded', { columns: names })
  const values = names.map((name, n) => asNamed(column('excluded', name), `#i${n}`))
  return {
    operation: 'insert',
    target,
    select: select({
      targets: [...values, ...(conflict?.targets ?? [])],
      from: [conflict ? joined(target, inserted, conflict) : inserted],
      withClause,
    }),
    columns,
    rows: wide,
    conflict,
    returning,
  }
}

const whole = (rows: SelectStmt, withClause: WithClause | undefined): SelectStmt =>
  select({
    targets: [{ ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } }],
    from: [subquery(rows, 'inserted')],
    withClause,
  })

function readColumns(
  translation: Translation,
  target: WrittenRelation,
  cols: readonly Node[] | undefined,
): Assigned[] {
  const { source } = translation
  const columns: Assigned[] = []
  for (const node of cols ?? []) {
    if (!('ResTarget' in node)) continue
    const { name = '', indirection, location } = node.ResTarget
    if (indirection) throw source.fault('unsupported', 'INSERT takes whole columns.', location)
    const assigned = findAssigned(translation, target, name, { isNew: true, location })
    if (columns.some((each) => each.column === assigned.column))
      throw source.fault('duplicate_column', `INSERT names "${name}" twice. Name it once.`, location)
    columns.push(assigned)
  }
  if (columns.length === 0) {
    const some = [...target.columns.values()]
      .flatMap((each) => (each.property ? [each.name] : []))
      .slice(0, 8)
    throw source.fault('required', 'INSERT needs the names of its columns.', undefined, {
      hint: `INSERT INTO ${target.name} (${['id', ...some].join(', ')}) VALUES (…)`,
    })
  }
  if (target.recordType !== null) checkWhole(translation, columns)
  return columns
}

const noValues = ({ source }: Translation) =>
  source.fault('unsupported', 'INSERT takes VALUES or a SELECT. DEFAULT VALUES is not available.')

/** Gives bare values the types of their columns, and checks their number in VALUES. */
function typeRows(translation: Translation, rows: SelectStmt, columns: readonly Assigned[]): void {
  for (const row of rows.valuesLists ?? []) {
    if (!('List' in row)) continue
    const items = row.List.items ?? []
    if (items.length !== columns.length) throw unevenRow(translation, columns.length, items.length)
    row.List.items = items.map((item, n) => typedValue(translation, item, columns[n] ?? { column: '' }))
  }
  const targets = rows.targetList ?? []
  if (targets.length !== columns.length) return
  for (const [n, item] of targets.entries())
    if ('ResTarget' in item && item.ResTarget.val) {
      const assigned = columns[n] ?? { column: '' }
      item.ResTarget.val = typedValue(translation, item.ResTarget.val, assigned)
    }
}

export const unevenRow = ({ source }: Pick<Translation, 'source'>, expected: number, received: number) =>
  source.fault(
    'arity',
    `INSERT names ${expected} columns, and a row has ${received}. Write one value for each column.`,
    undefined,
    { expected, received },
  )
