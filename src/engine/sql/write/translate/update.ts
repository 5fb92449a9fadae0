import type { SelectStmt, UpdateStmt } from '@pgsql/types'
import { type Assignments, readAssignments } from './assignments.ts'
import { asNamed, column, relation, select } from './nodes.ts'
import { type Returning, readReturning } from './returning.ts'
import { holdsOther, typedReads } from './stale-values.ts'
import { findWrittenRelation, type Translation, type WrittenRelation } from './written-relation.ts'

/** The columns that say what a link joins. */
export const LINK_ENDS = [
  'rel_type',
  'source_record_type',
  'source_id',
  'target_record_type',
  'target_id',
] as const

export const LINK_KEYS: readonly string[] = [
  'id',
  'version',
  ...LINK_ENDS,
  'data',
  'external_id',
  'external_source',
]

/** The first columns of a SELECT for UPDATE or DELETE. */
export const keysOf = ({ recordType }: WrittenRelation): readonly string[] =>
  recordType === null ? LINK_KEYS : ['id', 'version']

export type Update = {
  readonly operation: 'update'
  readonly target: WrittenRelation
  /** Keys, `holdsOther`, the values of `sets`, and the carried values. */
  readonly select: SelectStmt
  readonly sets: Assignments['columns']
  /** The typed properties that the values read. */
  readonly reads: readonly string[]
  readonly returning: Returning | undefined
}

/**
 * Translates an UPDATE to the SELECT of its rows and new values.
 * @throws VALIDATION_ERROR, FORBIDDEN
 */
export function translateUpdate(translation: Translation, statement: UpdateStmt): Update {
  const { relation: range = {}, targetList, fromClause = [], whereClause, withClause } = statement
  const target = findWrittenRelation(translation, range, withClause)
  const { columns, values } = readAssignments(translation, target, targetList)
  const returning = readReturning(translation, target, statement.returningClause, { carries: true })
  const reads = target.recordType === null ? [] : typedReads(target, values)
  const targets = [
    ...keysOf(target).map((name) => asNamed(column(target.alias, name), `#${name}`)),
    asNamed(holdsOther(target, reads), '#other'),
    ...values.map((value, n) => asNamed(value, `#v${n}`)),
    ...(returning?.carried ?? []).map((value, n) => asNamed(value, `#c${n}`)),
  ]
  const from = [relation(target.name, target.alias), ...fromClause]
  return {
    operation: 'update',
    target,
    select: select({ targets, from, where: whereClause, withClause }),
    sets: columns,
    reads,
    returning,
  }
}
