import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { condition, conjunction, type FilterAst, not, Unclear } from './filter-ast.ts'
import { escaped } from './operands.ts'
import { isOperatorWord } from './operators.ts'

/** Whether a prefix marks the key as an operator; other words may be properties. */
const isMarked = (key: string): boolean => /^[$_]/.test(key)
/** Keys recognized in addition to operator words. */
const MORE = new Set(['not', 'regex', 'options', 'elemmatch', 'some', 'mode'])
const bare = (key: string): string => key.toLowerCase().replace(/^[$_]/, '')
const isTest = (key: string): boolean => isOperatorWord(key) || MORE.has(bare(key))

/**
 * Parses the tests of a field: a value, `{ "$gt": 1 }`, `{ "gte": 1, "lt": 5 }`, `{ "_eq": "x" }`.
 * @throws Unclear
 */
export function readTests(name: string, value: unknown, depth = 0, below = name === 'data'): FilterAst {
  if (depth > LIMITS.translatedNesting) throw new Unclear()
  // A list is ambiguous: one value, alternatives, or MongoDB's array match.
  if (Array.isArray(value)) throw new Unclear()
  if (!isObject(value)) return condition(dotted(name), '$eq', value)
  const keys = Object.keys(value)
  if (keys.length === 0) throw new Unclear()
  if (keys.every(isTest)) return readOperators(name, value, depth)
  if (keys.some((key) => isMarked(key) || key === '__proto__')) throw new Unclear()
  return conjunction(
    Object.entries(value).map(([key, inner]) => {
      // Outside the bare `data`, an object may be the value itself.
      if (!isObject(inner) && !below) throw new Unclear()
      return readTests(`${name}.${key}`, inner, depth + 1, below)
    }),
  )
}

function readOperators(name: string, tests: Record<string, unknown>, depth: number): FilterAst {
  // In `{ "data": { "is": 1 } }`, "is" may be a property.
  if (name === 'data' && !Object.keys(tests).every((key) => isMarked(key) || key === 'search'))
    throw new Unclear()
  const { mode, ...rest } = tests
  if (mode !== undefined && mode !== 'insensitive' && mode !== 'default') throw new Unclear()
  const parts = Object.entries(rest)
    .filter(([key]) => bare(key) !== 'options')
    .map(([key, value]) => readOperator(name, key, value, tests, depth))
  return conjunction(parts)
}

/** Case-insensitive variants of operators, for Prisma's `mode`. */
const INSENSITIVE = new Map([
  ['equals', 'iequals'],
  ['contains', 'icontains'],
  ['startswith', 'istartswith'],
  ['endswith', 'iendswith'],
])

function readOperator(
  name: string,
  key: string,
  value: unknown,
  tests: Record<string, unknown>,
  depth: number,
): FilterAst {
  const field = dotted(name)
  const options = tests['$options'] ?? tests['options']
  const word = bare(key)
  if (options !== undefined && word !== 'regex') throw new Unclear()
  if (word === 'not')
    return isObject(value) ? not(readTests(name, value, depth + 1)) : condition(field, '$neq', value)
  if (word === 'regex') return regexTest(field, value, options)
  if (word === 'elemmatch' || word === 'some') return elementTest(field, value, depth)
  if (tests['mode'] !== 'insensitive') return condition(field, `$${word}`, value)
  const insensitive = INSENSITIVE.get(word)
  if (insensitive === undefined) throw new Unclear()
  return condition(field, `$${insensitive}`, value)
}

/**
 * Parses a test of any array element. Several tests of the same element, or a negated one, have no
 * equivalent.
 */
function elementTest(field: string, value: unknown, depth: number): FilterAst {
  if (!isObject(value) || Object.keys(value).length !== 1) throw new Unclear()
  const [[key = '', inner] = []] = Object.entries(value)
  const made = isTest(key)
    ? readTests(`${field}[]`, value, depth + 1)
    : readTests(`${field}[].${key}`, inner, depth + 1)
  if (made.kind !== 'condition' || !POSITIVE.has(bare(made.word)) || made.value === null) throw new Unclear()
  return made
}
const POSITIVE = new Set(['eq', 'equals', 'gt', 'gte', 'lt', 'lte', 'in', 'like', 'ilike', 'startswith'])

/** Converts MongoDB's array index notation: `items.0.sku`. */
const dotted = (name: string): string =>
  name.includes('"') ? name : name.replace(/\.(\d{1,9})(?=\.|\[|$)/g, '[$1]')

// Literal text of a regular expression: no metacharacters except escaped ones.
const LITERAL = /^(?:[^\\^$.*+?()[\]{}|/]|\\[-\\^$.*+?()[\]{}|/])+$/u

/**
 * Translates a simple regular expression to a text test by its anchors.
 * @throws Unclear for any other
 */
function regexTest(field: string, source: unknown, options: unknown): FilterAst {
  if (typeof source !== 'string' || (options !== undefined && options !== '' && options !== 'i'))
    throw new Unclear()
  const insensitive = options === 'i'
  // `.*` at an end removes the effect of the anchor.
  const [, start = '', body = '', end = ''] = /^(\^?(?:\.\*)?)(.*?)((?:\.\*)?\$?)$/s.exec(source) ?? []
  const atStart = start === '^'
  const atEnd = end === '$'
  if (!LITERAL.test(body)) throw new Unclear()
  const text = body.replace(/\\(.)/gu, '$1')
  if (atStart && atEnd && !insensitive) return condition(field, '$eq', text)
  if (atStart && !insensitive) return condition(field, '$startswith', text)
  const pattern = `${atStart ? '' : '%'}${escaped(text)}${atEnd ? '' : '%'}`
  return condition(field, insensitive ? '$ilike' : '$like', pattern)
}
