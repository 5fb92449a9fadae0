import type { A_Expr } from '@pgsql/types'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { constantText } from './constants.ts'
import { checkJsonPath, checkPattern } from './patterns.ts'

const OPERATORS = new Set(
  '+ - * / % ^ = <> < > <= >= || -> ->> #> #>> @> <@ ? ?| ?& #- && @ & | # << >> |/ ||/ ^@'.split(' '),
)
const PATTERNS = new Set(['~', '~*', '!~', '!~*'])
const PATHS = new Set(['@?', '@@'])

/** The words the parser gives to forms that are no operators of their own. */
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

/** @throws VALIDATION_ERROR when the operator is not one of the data's, or its right side may take too long */
export function checkOperator(context: GuardContext, { name, kind, lexpr, rexpr, location }: A_Expr): void {
  const words = wordsOf(name)
  const [word, more] = words
  if (word === undefined) return
  const isForm = FORMS.has(word) && kind !== undefined && kind !== 'AEXPR_OP'
  if (more !== undefined) {
    const message = 'OPERATOR(schema.op) is not available: write the operator by itself.'
    throw context.source.fault('unsupported', message, location)
  }
  if (OPERATORS.has(word) || isForm) return
  // `~` alone before a whole number is bitwise NOT.
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
