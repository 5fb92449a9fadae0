import type { Node } from '@pgsql/types'
import { type Assigned, findAssigned, typedValue } from './columns.ts'
import { refuseSets } from './walk-expression.ts'
import type { Translation, WrittenRelation } from './written-relation.ts'

/** The assignments of a SET clause. */
export type Assignments = { readonly columns: readonly Assigned[]; readonly values: readonly Node[] }

/**
 * Reads a SET clause.
 * @throws VALIDATION_ERROR
 */
export function readAssignments(
  translation: Translation,
  target: WrittenRelation,
  clause: readonly Node[] | undefined,
): Assignments {
  const { source } = translation
  const columns: Assigned[] = []
  const values: Node[] = []
  for (const node of clause ?? []) {
    if (!('ResTarget' in node)) continue
    const { name = '', indirection, val, location } = node.ResTarget
    if (indirection) throw notWhole(translation, name, location)
    const assigned = findAssigned(translation, target, name, { isNew: false, location })
    if (columns.some(({ column }) => column === assigned.column))
      throw source.fault('duplicate_column', `SET names "${name}" twice. Name it once.`, location)
    const value = val && plainValue(translation, val, location)
    if (!value) continue
    columns.push(assigned)
    values.push(typedValue(translation, value, assigned))
  }
  if (columns.length > 1 && columns.some(({ column }) => column === 'data') && target.recordType !== null)
    checkWhole(translation, columns)
  refuseSets(source, values, 'SET')
  return { columns, values }
}

/**
 * Refuses `data` beside its properties: one of the two would be lost.
 * @throws VALIDATION_ERROR
 */
export function checkWhole({ source }: Translation, columns: readonly Assigned[]): void {
  const other = columns.find(({ property }) => property)
  if (!other || columns.every(({ column }) => column !== 'data')) return
  const message = `data holds all properties: assign data alone, or "${other.column}" and the others alone.`
  throw source.fault('exclusive', message, undefined, {
    hint: `data = data || jsonb_build_object('${other.property?.name}', …)`,
  })
}

function plainValue({ source }: Translation, val: Node, location: number | undefined): Node {
  if ('SetToDefault' in val) throw noDefault(source.fault.bind(source), location)
  if (!('MultiAssignRef' in val)) return val
  const { source: row, colno = 0, ncolumns } = val.MultiAssignRef
  const args = row && 'RowExpr' in row ? (row.RowExpr.args ?? []) : []
  const value = args.length === ncolumns ? args[colno - 1] : undefined
  if (!value)
    throw source.fault(
      'unsupported',
      'SET (a, b) = takes as many values in parentheses. Write one assignment for each column.',
      location,
      { hint: 'a = …, b = …' },
    )
  if ('SetToDefault' in value) throw noDefault(source.fault.bind(source), location)
  return value
}

const noDefault = (fault: Translation['source']['fault'], location: number | undefined) =>
  fault('unsupported', 'SET … = DEFAULT is not available. Write the value, or NULL to remove it.', location, {
    hint: 'NULL',
  })

function notWhole({ source }: Translation, name: string, location: number | undefined) {
  return source.fault(
    'unsupported',
    `SET assigns whole columns. Change a part of "${name}" with jsonb_set.`,
    location,
    { hint: `${name} = jsonb_set(coalesce(${name}, '{}'), '{key}', to_jsonb(…))` },
  )
}
