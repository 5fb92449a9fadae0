import type { A_Expr, CaseExpr, Node } from '@pgsql/types'
import { isStatus, STATUSES } from '../../../../contract/record-columns.ts'
import { adviseEnum } from '../../../data/filter/unsatisfiable-conditions.ts'
import { constantText } from '../allow/patterns.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { spell } from '../relations/find-relation.ts'
import { findAlias, type Named, type NameScope } from '../relations/name-scope.ts'
import type { Relation } from '../relations/relations.ts'

/** Comparisons for equality. An ordering is no mistake by itself. */
const EQUALITY = new Set(['=', '<>'])

/**
 * Refuses to compare the own status of a record with a text that it never is. Such a comparison looks for a
 * property of the same name, and would find nothing.
 * @throws VALIDATION_ERROR with the column of the property, if the type has one
 */
export function checkStatus(context: GuardContext, expression: A_Expr, scope: NameScope): void {
  const { name, lexpr, rexpr, location } = expression
  const [operator = ''] = wordsOf(name)
  if (!EQUALITY.has(operator)) return
  for (const [operand, other] of [
    [lexpr, rexpr],
    [rexpr, lexpr],
  ]) {
    const texts = textsOf(context, other)
    refuse(context, operand, texts, scope, location)
    advise(context, operand, texts, scope)
  }
}

/** Advises where a property is compared with a text that its schema excludes: such a comparison is no fault. */
function advise(
  context: GuardContext,
  operand: Node | undefined,
  texts: readonly string[],
  scope: NameScope,
): void {
  if (texts.length === 0 || !operand || !('ColumnRef' in operand)) return
  const words = wordsOf(operand.ColumnRef.fields)
  const column = words.at(-1) ?? ''
  const expressions = relationOf(words, column, scope)?.expressions
  const values = expressions?.find(({ name }) => name === column)?.property?.values
  const wrong = values && texts.find((text) => !values.includes(text))
  if (values && wrong !== undefined) context.advice.add(adviseEnum(wrong, column, values))
}

/** The same for `CASE status WHEN 'open' THEN …`. */
export function checkCaseStatus(context: GuardContext, { arg, args }: CaseExpr, scope: NameScope): void {
  const texts = (args ?? []).flatMap((when) =>
    'CaseWhen' in when ? textsOf(context, when.CaseWhen.expr) : [],
  )
  refuse(context, arg, texts, scope)
}

/** The constant texts of an operand: one, or those of a list or an array. */
function textsOf(context: GuardContext, node: Node | undefined): readonly string[] {
  if (!node) return []
  if ('List' in node) return (node.List.items ?? []).flatMap((item) => textsOf(context, item))
  if ('A_ArrayExpr' in node)
    return (node.A_ArrayExpr.elements ?? []).flatMap((item) => textsOf(context, item))
  if ('TypeCast' in node) return textsOf(context, node.TypeCast.arg)
  const value = 'ParamRef' in node ? context.parameters.valueOf(node.ParamRef.number ?? 0) : undefined
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string')
  const text = constantText(context, node)
  return text === undefined ? [] : [text]
}

function refuse(
  context: GuardContext,
  operand: Node | undefined,
  texts: readonly string[],
  scope: NameScope,
  location?: number,
): void {
  if (texts.some(isStatus)) context.knowsStatus = true
  const wrong = texts.find((text) => !isStatus(text))
  if (wrong === undefined || !operand || !('ColumnRef' in operand)) return
  const words = wordsOf(operand.ColumnRef.fields)
  const relation = words.at(-1) === 'status' ? relationOf(words, 'status', scope) : undefined
  const own = relation?.expressions.find(({ name }) => name === 'status')
  if (!relation || !own || own.property !== undefined) return
  const property = columnOfStatus(relation)
  const hint = property && [...words.slice(0, -1).map(spell), property].join('.')
  const advice = hint ? ` The property of its data is ${hint}.` : ''
  throw context.source.fault(
    'no_such_status',
    `"status" is the own status of a record, ${STATUSES.join(' or ')}, and never "${wrong.slice(0, 64)}".${advice}`,
    operand.ColumnRef.location ?? location,
    { received: wrong.slice(0, 64), allowed: STATUSES, ...(hint && { hint }) },
  )
}

/** Advises where a statement reads the own status of records that have a property of that name too, and not this. */
export function adviseStatus({ reads, mentioned, knowsStatus, advice }: GuardContext): void {
  if (knowsStatus || !mentioned.has('status') || mentioned.has('data_status')) return
  const type = reads.find(({ relation }) => relation.expressions.some(({ name }) => name === 'data_status'))
  if (type)
    advice.add(
      `"status" is the own status of a record, ${STATUSES.join(' or ')}. The property of ${type.relation.name} is data_status.`,
    )
}

/** The one relation that the reference to a column means; undefined for a derived column. */
function relationOf(words: readonly string[], column: string, scope: NameScope): Relation | undefined {
  if (words.length > 2) return undefined
  const named = words.length === 2 ? findAlias(scope, words[0] ?? '') : unqualified(column, scope)
  const [read, another] = named?.reads ?? []
  // An alias with a column list may give the name to another column.
  return read && !another && read.relation.columns === named?.columns ? read.relation : undefined
}

/** The one alias of the innermost query that has the column. */
function unqualified(column: string, scope: NameScope): Named | undefined {
  for (let level: NameScope | undefined = scope; level; level = level.around) {
    const found = level.items
      .flatMap(({ aliases }) => [...aliases.values()])
      .filter(({ columns }) => columns.has(column))
    if (found.length > 0) return found.length === 1 ? found[0] : undefined
  }
  return undefined
}

/** How SQL reads the property `status`, where the relation has it or may have it. */
function columnOfStatus({ expressions }: Relation): string | undefined {
  const typed = expressions.filter(({ property }) => property !== undefined)
  const own = typed.find(({ property }) => property?.name === 'status')
  if (own) return own.name
  const isOpen = typed.length === 0 && expressions.some(({ name }) => name === 'data')
  return isOpen ? "data ->> 'status'" : undefined
}
