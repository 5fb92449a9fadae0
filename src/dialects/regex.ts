import { condition, Doubt, type Draft } from './draft.ts'
import { escaped } from './operands.ts'

// Literal text of a regular expression: no metacharacters except escaped ones.
const LITERAL = /^(?:[^\\^$.*+?()[\]{}|/]|\\[-\\^$.*+?()[\]{}|/])+$/u

/**
 * Translates a simple regular expression to a text test by its anchors.
 * @throws Doubt for any other
 */
export function regexTest(field: string, source: unknown, options: unknown): Draft {
  if (typeof source !== 'string' || (options !== undefined && options !== '' && options !== 'i'))
    throw new Doubt()
  const insensitive = options === 'i'
  // `.*` at an end removes the effect of the anchor.
  const [, start = '', body = '', end = ''] = /^(\^?(?:\.\*)?)(.*?)((?:\.\*)?\$?)$/s.exec(source) ?? []
  const atStart = start === '^'
  const atEnd = end === '$'
  if (!LITERAL.test(body)) throw new Doubt()
  const text = body.replace(/\\(.)/gu, '$1')
  if (atStart && atEnd && !insensitive) return condition(field, '$eq', text)
  if (atStart && !insensitive) return condition(field, '$startswith', text)
  const pattern = `${atStart ? '' : '%'}${escaped(text)}${atEnd ? '' : '%'}`
  return condition(field, insensitive ? '$ilike' : '$like', pattern)
}
