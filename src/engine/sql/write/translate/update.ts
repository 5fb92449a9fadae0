import type { Node, SelectStmt, UpdateStmt } from '@pgsql/types'
import { wordsOf } from '../../guard/relations/context.ts'
import { type Assignments, readAssignments } from './assignments.ts'
import { asNamed, call, column, combined, isNull, NULL, operation, relation, select, text } from './nodes.ts'
import { type Returning, readReturning } from './returning.ts'
import { walk } from './walk-expression.ts'
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

/** The properties of the target that expressions read by their typed columns. */
export function typedReads({ columns, alias }: WrittenRelation, values: readonly Node[]): string[] {
  const found = new Set<string>()
  walk(values, {
    columnRef({ fields }, _node, isNested) {
      const words = wordsOf(fields)
      const name = words.at(-1) ?? ''
      const isOwn = words.length === 2 ? words[0] === alias : words.length === 1 && !isNested
      const kind = columns.get(name)?.property?.kind
      if (isOwn && kind && kind !== 'json') found.add(name)
    },
  })
  return [...found]
}

/**
 * Whether one of these properties holds a value of another kind than its column. The column is then NULL,
 * and what is computed from it would remove the property.
 */
export function holdsOther({ columns, alias }: WrittenRelation, names: readonly string[]): Node {
  const tests = names.map((name) => {
    const value = operation('->', column(alias, 'data'), text(columns.get(name)?.property?.name ?? name))
    const isThere = operation('<>', call('jsonb_typeof', value), text('null'))
    return combined('AND_EXPR', [isThere, isNull(column(alias, name))])
  })
  return tests.length === 0 ? NULL() : combined('OR_EXPR', tests)
}
