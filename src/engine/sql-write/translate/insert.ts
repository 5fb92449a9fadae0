import type { InsertStmt, Node, OnConflictClause, SelectStmt, WithClause } from '@pgsql/types'
import { wordsOf } from '../../sql/guard/relations/context.ts'
import { type Assignments, checkWhole, readAssignments } from './assignments.ts'
import { type Assigned, findAssigned, typedValue } from './columns.ts'
import {
  asNamed,
  cast,
  column,
  combined,
  operation,
  relation,
  select,
  subquery,
  TRUE,
  text,
} from './nodes.ts'
import { type Returning, readReturning } from './returning.ts'
import { holdsOther, typedReads } from './stale-values.ts'
import { findTarget, type Target, type Translation } from './target.ts'
import { walk } from './walk.ts'

export type Conflict = {
  readonly key: 'id' | 'pair'
  readonly action: 'nothing' | 'update'
  readonly sets: Assignments['columns']
  readonly reads: readonly string[]
}

export type Insert = {
  readonly operation: 'insert'
  readonly target: Target
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
  const target = findTarget(translation, range, withClause)
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
  target: Target,
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
    `INSERT names ${expected} columns, and a row has ${received} values. Write one value for each column.`,
    undefined,
    { expected, received },
  )

type ReadConflict = Conflict & {
  readonly targets: Node[]
  readonly mentioned: readonly string[]
  /** Whether the rows name an external source; otherwise it is `default`. */
  readonly hasSource: boolean
}

function readConflict(
  translation: Translation,
  target: Target,
  inserted: readonly Assigned[],
  clause: OnConflictClause,
): ReadConflict {
  const { source } = translation
  const fault = (message: string, hint: string) =>
    source.fault('unsupported', message, clause.location, { hint })
  if (target.recordType === null)
    throw fault('Inserting a link that exists leaves it as it is. Leave ON CONFLICT out.', '')
  const action = clause.action === 'ONCONFLICT_UPDATE' ? 'update' : 'nothing'
  const elements = (clause.infer?.indexElems ?? []).map(
    (node) => ('IndexElem' in node && node.IndexElem.name) || '',
  )
  const given = inserted.map((each) => each.column)
  const names = clause.infer
    ? elements.sort()
    : given.includes('id')
      ? ['id']
      : ['external_id', 'external_source']
  if (!clause.infer && action === 'update')
    throw fault('DO UPDATE needs the columns that conflict.', 'ON CONFLICT (id) DO UPDATE SET …')
  const key =
    names.join() === 'id' ? 'id' : names.join() === 'external_id,external_source' ? 'pair' : undefined
  if (!key)
    throw fault(
      'ON CONFLICT takes (id), or (external_source, external_id).',
      'ON CONFLICT (external_source, external_id)',
    )
  const needed = key === 'id' ? 'id' : 'external_id'
  if (!given.includes(needed))
    throw fault(`ON CONFLICT (${names.join(', ')}) needs ${needed} among the columns of INSERT.`, needed)
  const { columns, values } = readAssignments(translation, target, clause.targetList)
  const reads = typedReads(target, values)
  const targets = [
    asNamed(column(target.alias, 'id'), '#id'),
    asNamed(column(target.alias, 'version'), '#version'),
    asNamed(holdsOther(target, reads), '#other'),
    asNamed(clause.whereClause ?? TRUE(), '#where'),
    ...values.map((value, n) => asNamed(value, `#v${n}`)),
  ]
  const hasSource = given.includes('external_source')
  return { key, action, sets: columns, reads, targets, mentioned: mentionedOf(target, targets), hasSource }
}

/** The columns of the target that the conflict action reads. */
function mentionedOf({ columns, alias }: Target, targets: readonly Node[]): string[] {
  const found = new Set(['id', 'version'])
  walk(targets, {
    columnRef: ({ fields }) => {
      const words = wordsOf(fields)
      const name = words.at(-1) ?? ''
      // A whole row, by its alias or by a star.
      if (name === '*' || (words.length === 1 && name === alias))
        for (const each of columns.keys()) found.add(each)
      else if (columns.has(name)) found.add(name)
    },
  })
  return [...found]
}

const orDefault = (value: Node): Node => ({ CoalesceExpr: { args: [value, text('default')] } })

/** The rows to insert, each with the record that has its key. */
function joined(target: Target, inserted: Node, { key, mentioned, hasSource }: ReadConflict): Node {
  const { alias } = target
  const same = (name: string, value: Node) => operation('=', column('met', name), value)
  const given = (name: string) => cast(column('excluded', name), 'text')
  const where =
    key === 'id'
      ? same('id', given('id'))
      : combined('AND_EXPR', [
          same('external_source', hasSource ? orDefault(given('external_source')) : text('default')),
          same('external_id', given('external_id')),
        ])
  const found = select({
    targets: mentioned.map((name) => asNamed(column('met', name), name)),
    from: [relation(target.name, 'met')],
    where,
    isFirst: true,
  })
  return {
    JoinExpr: {
      jointype: 'JOIN_LEFT',
      larg: inserted,
      rarg: subquery(found, alias, { lateral: true }),
      quals: TRUE(),
    },
  }
}
