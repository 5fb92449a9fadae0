import type { A_Expr } from '@pgsql/types'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { checkJsonPath, checkPattern, constantText } from './patterns.ts'

const OPERATORS = new Set(
  '+ - * / % ^ = <> < > <= >= || -> ->> #> #>> @> <@ ? ?| ?& #- && @ & | # << >> |/ ||/ ^@'.split(' '),
)
const PATTERNS = new Set(['~', '~*', '!~', '!~*'])
const PATHS = new Set(['@?', '@@'])

/** Parser names of syntactic forms that are not operators. */
const FORMS = new Set([
  '~~',
  '!~~',
  '~~*',
  '!~~*',
  'BETWEEN',
  'NOT BETWEEN',
  'BETWEEN SYMMETRIC',
  'NOT BETWEEN SYMMETRIC',
])

/**
 * Checks an operator against the allow-list.
 * @throws VALIDATION_ERROR for an operator that is not listed, or for a pattern with unbounded cost
 */
export function checkOperator(context: GuardContext, { name, kind, lexpr, rexpr, location }: A_Expr): void {
  const words = wordsOf(name)
  const [word, more] = words
  if (word === undefined) return
  const isForm = FORMS.has(word) && kind !== undefined && kind !== 'AEXPR_OP'
  if (more !== undefined) {
    const message = 'OPERATOR(schema.op) is not available: write the operator alone.'
    throw context.source.fault('unsupported', message, location)
  }
  if (OPERATORS.has(word) || isForm) return
  // The prefix operator `~` is bitwise NOT of an integer.
  if (word === '~' && !lexpr) return
  if (PATTERNS.has(word)) checkPattern(context, constantText(context, rexpr), location)
  else if (PATHS.has(word)) checkJsonPath(context, constantText(context, rexpr), location)
  else
    throw context.source.fault(
      'unknown_operator',
      `The operator ${word.slice(0, 32)} is not available here.`,
      location,
      { allowed: [...OPERATORS, ...PATTERNS, ...PATHS] },
    )
}
