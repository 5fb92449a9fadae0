/** ON CONFLICT: the records that the rows of an INSERT meet, and what becomes of them. */
import type { Node, OnConflictClause } from '@pgsql/types'
import { wordsOf } from '../../guard/relations/context.ts'
import { type Assignments, readAssignments } from './assignments.ts'
import type { Assigned } from './columns.ts'
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
import { holdsOther, typedReads } from './update.ts'
import { walk } from './walk-expression.ts'
import type { Translation, WrittenRelation } from './written-relation.ts'

export type Conflict = {
  readonly key: 'id' | 'pair'
  readonly action: 'nothing' | 'update'
  readonly sets: Assignments['columns']
  readonly reads: readonly string[]
}

type ReadConflict = Conflict & {
  readonly targets: Node[]
  readonly mentioned: readonly string[]
  /** Whether the rows name an external source; otherwise it is `default`. */
  readonly hasSource: boolean
}

/**
 * Reads ON CONFLICT.
 * @throws VALIDATION_ERROR
 */
export function readConflict(
  translation: Translation,
  target: WrittenRelation,
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
      'ON CONFLICT takes (id), or (external_source, external_id). For another column, write UPDATE … FROM first, then INSERT … SELECT … WHERE NOT EXISTS (…).',
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
function mentionedOf({ columns, alias }: WrittenRelation, targets: readonly Node[]): string[] {
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
export function joined(
  target: WrittenRelation,
  inserted: Node,
  { key, mentioned, hasSource }: ReadConflict,
): Node {
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
