import { OPERATORS, type Operator } from '../../../contract/operators.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

/**
 * Validates a condition value for its operator.
 * @throws VALIDATION_ERROR at `<at>/value`
 */
export function checkValue(op: Operator, condition: Record<string, unknown>, at: string): unknown {
  const takes = OPERATORS[op]
  const given = Object.hasOwn(condition, 'value')
  const value = condition['value']
  const refuse = (code: string, message: string, expected: unknown) =>
    invalid({ path: `${at}/value`, code, message, expected, received: given ? kindOf(value) : undefined })
  if (takes === 'nothing') {
    if (given) throw refuse('unexpected', `"${op}" takes no value. Leave "value" out.`, 'no value')
    return undefined
  }
  if (!given) throw invalid({ path: `${at}/value`, code: 'required', message: `"${op}" needs "value".` })
  if (takes === 'ordered' && typeof value !== 'number' && typeof value !== 'string')
    throw refuse('type', `"${op}" orders numbers, strings and times; ${kindOf(value)} has no order.`, [
      'number',
      'string',
    ])
  if (takes === 'text') {
    if (typeof value !== 'string') throw refuse('type', `"${op}" takes a string.`, 'string')
    return op === 'like' || op === 'ilike' ? pattern(value, at) : value
  }
  if (takes === 'list') {
    if (!Array.isArray(value)) throw refuse('type', `"${op}" takes a list of values.`, 'array')
    if (value.length > LIMITS.filterValues)
      throw refuse('too_many', `"${op}" takes at most ${LIMITS.filterValues} values.`, LIMITS.filterValues)
  }
  return value
}

/**
 * Normalizes a LIKE pattern: collapses repeated `%`.
 * @throws VALIDATION_ERROR
 */
function pattern(text: string, at: string): string {
  const refuse = (code: string, message: string, more: object) =>
    invalid({ path: `${at}/value`, code, message, ...more })
  const steps = text.match(/\\.|%+|[^\\%]+|\\$/gsu) ?? []
  if (steps.at(-1) === '\\')
    throw refuse(
      'invalid_pattern',
      'The pattern ends in a single backslash. Send two backslashes to match one.',
      { hint: `${text}\\` },
    )
  const short = steps.map((step) => (step.startsWith('%') ? '%' : step)).join('')
  if (short.length <= LIMITS.patternChars) return short
  throw refuse(
    'too_long',
    `A pattern can have at most ${LIMITS.patternChars} characters. To find words, use "search".`,
    {
      expected: LIMITS.patternChars,
    },
  )
}

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$/

/** Whether the text is a date or a date-time that `plinth.instant` parses. */
export function isTime(text: string): boolean {
  const [, year, month, day] = TIME.exec(text) ?? []
  if (year === undefined || year === '0000') return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
