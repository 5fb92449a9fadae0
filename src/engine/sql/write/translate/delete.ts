import type { DeleteStmt, Node, SelectStmt } from '@pgsql/types'
import { replaceNode, wordsOf } from '../../guard/relations/context.ts'
import { outputName } from '../../guard/resolve/column-names.ts'
import { asNamed, column, relation, select } from './nodes.ts'
import { keysOf } from './update.ts'
import { refuseSets, walk } from './walk-expression.ts'
import { findWrittenRelation, type Translation, type WrittenRelation } from './written-relation.ts'

export type Delete = {
  readonly operation: 'delete'
  readonly target: WrittenRelation
  /** Keys, then what RETURNING names. */
  readonly select: SelectStmt
}

/**
 * Translates a DELETE to the SELECT of its rows.
 * @throws VALIDATION_ERROR, FORBIDDEN
 */
export function translateDelete(translation: Translation, statement: DeleteStmt): Delete {
  const { relation: range = {}, usingClause = [], whereClause, withClause, returningClause } = statement
  const target = findWrittenRelation(translation, range, withClause)
  const returned = returningClause?.exprs ?? []
  nameOld(translation, target, returned)
  const targets = [
    ...keysOf(target).map((name) => asNamed(column(target.alias, name), `#${name}`)),
    ...returned,
  ]
  const from = [relation(target.name, target.alias), ...usingClause]
  return { operation: 'delete', target, select: select({ targets, from, where: whereClause, withClause }) }
}

/** Names the columns as PostgreSQL does, and reads `old` as the target. */
function nameOld({ source }: Translation, target: WrittenRelation, returned: readonly Node[]): void {
  refuseSets(source, returned, 'RETURNING')
  for (const node of returned)
    if ('ResTarget' in node && node.ResTarget.val && !isStar(node.ResTarget.val))
      node.ResTarget.name ??= outputName(node.ResTarget.val)
  walk(returned, {
    columnRef: ({ fields, location }, node) => {
      const [first, second] = wordsOf(fields)
      if (second === undefined) return
      if (first === 'new')
        throw source.fault(
          'unsupported',
          'A deleted row has no new values. Name the columns alone.',
          location,
        )
      if (first !== 'old') return
      if (second === '*')
        replaceNode(node, { ColumnRef: { fields: [{ String: { sval: target.alias } }, { A_Star: {} }] } })
      else replaceNode(node, column(target.alias, second))
    },
  })
}

const isStar = (node: Node): boolean => 'ColumnRef' in node && wordsOf(node.ColumnRef.fields).at(-1) === '*'
