import { randomBytes } from 'node:crypto'
import type { Node, ReturningClause, SelectStmt } from '@pgsql/types'
import { columnsOfNames } from '../../guard/relations/column-list.ts'
import { replaceNode, wordsOf } from '../../guard/relations/context.ts'
import type { Relation } from '../../guard/relations/relations.ts'
import { outputName } from '../../guard/resolve/column-names.ts'
import { quoteName } from '../../guard/syntax/names.ts'
import { column, relation as inFrom, select } from './nodes.ts'
import { refuseSets, walk } from './walk-expression.ts'
import type { Translation, WrittenRelation } from './written-relation.ts'

/** RETURNING as a SELECT over the written rows alone. */
export type Returning = {
  readonly select: SelectStmt
  /** The written rows: the columns of the target, and the carried values. */
  readonly relation: Relation
  readonly relationName: string
  /** Values that the first SELECT reads for RETURNING: of other relations, and of the rows before. */
  readonly carried: readonly Node[]
  readonly carriedNames: readonly string[]
}

/**
 * Translates RETURNING of an INSERT or UPDATE.
 * @throws VALIDATION_ERROR
 */
export function readReturning(
  translation: Translation,
  target: WrittenRelation,
  clause: ReturningClause | undefined,
  { carries }: { carries: boolean },
): Returning | undefined {
  if (!clause?.exprs) return undefined
  const secret = randomBytes(8).toString('hex')
  const targets = clause.exprs.flatMap((node) => expand(translation, target, node, carries))
  const carried: Node[] = []
  const carriedNames: string[] = []
  const known = new Map<string, string>()
  const carry = (words: readonly string[]): string => {
    const key = JSON.stringify(words)
    const name = known.get(key) ?? `carried_${secret}_${carried.length}`
    if (!known.has(key)) {
      known.set(key, name)
      carried.push(column(...words))
      carriedNames.push(name)
    }
    return name
  }
  const { source } = translation
  refuseSets(source, targets, 'RETURNING')
  walk(targets, {
    subquery: (location) => {
      const message = 'RETURNING has no subqueries here. Read in a SELECT after this statement.'
      throw source.fault('unsupported', message, location)
    },
    columnRef: (ref, node) => {
      const words = wordsOf(ref.fields)
      const [first = '', second] = words
      const isQualified = second !== undefined && words.length === 2
      if (words.length > 2) return
      const name = second ?? first
      if (isQualified ? first === target.alias || first === 'new' : target.columns.has(name)) {
        replaceNode(node, column(target.alias, name))
        return
      }
      if (!carries) {
        if (first === 'old') throw noOld(translation, ref.location)
        return
      }
      if (!isQualified && name === target.alias) throw noRow(translation, ref.location)
      const before = first === 'old' && isQualified ? [target.alias, name] : words
      replaceNode(node, column(target.alias, carry(before)))
    },
  })
  const relationName = `written_${secret}`
  const { relation } = target
  const expressions = [
    ...relation.expressions,
    ...carriedNames.map((name) => ({ name, expression: quoteName(name) })),
  ]
  return {
    select: select({ targets, from: [inFrom(relationName, target.alias)] }),
    relation: { ...relation, expressions, columns: columnsOfNames(expressions.map(({ name }) => name)) },
    relationName,
    carried,
    carriedNames,
  }
}

/** Writes `*`, `t.*`, `new.*` and `old.*` out, and names the columns as PostgreSQL does. */
function expand(translation: Translation, target: WrittenRelation, node: Node, carries: boolean): Node[] {
  if (!('ResTarget' in node) || !node.ResTarget.val) return []
  const { val, location } = node.ResTarget
  const words = 'ColumnRef' in val ? wordsOf(val.ColumnRef.fields) : []
  if (words.at(-1) !== '*' || !('ColumnRef' in val) || words.length > 2)
    return [{ ResTarget: { ...node.ResTarget, name: node.ResTarget.name ?? outputName(val) } }]
  const alias = words.length === 2 ? (words[0] ?? '') : target.alias
  if (alias !== target.alias && alias !== 'new' && !(alias === 'old' && carries))
    throw translation.source.fault('unsupported', `Name the columns of "${alias}" in RETURNING.`, location)
  return [...target.columns.keys()].map((name) => ({
    ResTarget: { name, val: column(alias, name) },
  }))
}

const noOld = ({ source }: Translation, location: number | undefined) =>
  source.fault('unsupported', 'RETURNING of INSERT has no old values. Name the columns alone.', location)

const noRow = ({ source }: Translation, location: number | undefined) =>
  source.fault('unsupported', 'RETURNING takes columns. Write RETURNING *, or name them.', location)
