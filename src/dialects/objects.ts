import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { isCondition, isRole, readCondition } from './condition-object.ts'
import { isField } from './fields.ts'
import { condition, conjunction, type FilterAst, group, not, orUnclear, Unclear } from './filter-ast.ts'
import { escaped } from './operands.ts'
import { isOperatorWord } from './operators.ts'

/** Maximum nesting of input groups, with room for redundant ones that the correction removes. */
const MAX_DEPTH = 2 * LIMITS.filterDepth
const MAX_NODES = 5 * LIMITS.filterConditions

const GROUPS = new Map<string, 'and' | 'or' | 'nor' | 'not'>([
  ['and', 'and'],
  ['&&', 'and'],
  ['or', 'or'],
  ['||', 'or'],
  ['nor', 'nor'],
  ['not', 'not'],
  ['!', 'not'],
])
const groupOf = (key: string) => GROUPS.get(key.toLowerCase().replace(/^[$_]/, ''))

/**
 * Parses an object or list filter: Plinth's with mistakes, MongoDB, Prisma, Hasura or Directus.
 * @throws Unclear
 */
export function readObject(raw: unknown): FilterAst {
  return orUnclear(read(raw, 0, { nodes: 0 }))
}

/** Undefined for an empty filter: `{}`, or an empty group. */
function read(node: unknown, depth: number, budget: { nodes: number }): FilterAst | undefined {
  if (depth > MAX_DEPTH || ++budget.nodes > MAX_NODES) throw new Unclear()
  if (Array.isArray(node)) return isTriple(node) ? triple(node) : all(node, depth, budget)
  if (!isObject(node)) throw new Unclear()
  const keys = Object.keys(node)
  if (keys.length > LIMITS.filterConditions) throw new Unclear()
  if (isCondition(keys)) return readMixed(node, depth, budget)
  const wrapped = keys.length === 1 ? (node['filter'] ?? node['where']) : undefined
  if (isObject(wrapped)) return read(wrapped, depth + 1, budget)
  const parts = Object.entries(node).map(([key, value]) => entry(key, value, depth, budget))
  const present = parts.filter((part) => part !== undefined)
  const [only] = present
  // A single explicit group is kept; several keys of an object form a conjunction.
  if (parts.length === 1) return only
  return present.length === 0 ? undefined : conjunction(present)
}

function entry(key: string, value: unknown, depth: number, budget: { nodes: number }): FilterAst | undefined {
  const kind = groupOf(key)
  if (kind === undefined) return property(key, value)
  if (kind === 'not') return negation(value, depth, budget)
  const list = Array.isArray(value) && !isTriple(value) ? value : [value]
  if (kind !== 'and' && !Array.isArray(value) && isSeveral(value)) throw new Unclear()
  const parts = list.map((each) => read(each, depth + 1, budget))
  const present = parts.filter((part) => part !== undefined)
  if (kind === 'and') return joined('and', present)
  // An empty part matches every record and would make an OR group match everything, which is never intended.
  if (present.length < parts.length) throw new Unclear()
  const any = joined('or', present)
  return kind === 'nor' && any ? not(any) : any
}

/** An object with several keys, which below "or" may mean alternatives or a conjunction. */
const isSeveral = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length > 1 && !isCondition(Object.keys(value))

const joined = (kind: 'and' | 'or', of: readonly FilterAst[]): FilterAst | undefined =>
  of.length === 0 ? undefined : { kind, of }

/** Parses `not` of one filter; its meaning for several differs between languages. */
function negation(value: unknown, depth: number, budget: { nodes: number }): FilterAst {
  const one = Array.isArray(value) && !isTriple(value) && value.length === 1 ? value[0] : value
  if (Array.isArray(one) && !isTriple(one)) throw new Unclear()
  return not(orUnclear(read(one, depth + 1, budget)))
}

function all(list: readonly unknown[], depth: number, budget: { nodes: number }): FilterAst | undefined {
  const parts = list.map((each) => read(each, depth + 1, budget)).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : group('and', parts)
}

/** Parses a condition with sibling groups as a conjunction; below "or" it is ambiguous. */
function readMixed(node: Record<string, unknown>, depth: number, budget: { nodes: number }): FilterAst {
  const entries = Object.entries(node)
  const isGroup = ([key, value]: [string, unknown]) => groupOf(key) !== undefined && typeof value === 'object'
  const groups = entries.filter(isGroup)
  if (groups.some(([key]) => groupOf(key) === 'or' || groupOf(key) === 'nor')) throw new Unclear()
  const own = readCondition(Object.fromEntries(entries.filter((each) => !isGroup(each))))
  if (groups.length === 0) return own
  return conjunction([own, ...groups.flatMap(([key, value]) => entry(key, value, depth, budget) ?? [])])
}

/** Keywords of requests and other query languages; with an object value they are not properties. */
const CLAUSES = new Set(['filter', 'where', 'query', 'range', 'bool', 'term', 'terms', 'match', 'nested'])

function property(key: string, value: unknown): FilterAst {
  if (CLAUSES.has(key) && typeof value === 'object' && value !== null) throw new Unclear()
  // An operator in the position of a field name has no field to apply to.
  if (!isField(key) && (key === '__proto__' || key.startsWith('$') || isRole(key) || isOperatorWord(key)))
    throw new Unclear()
  return readTests(key, value)
}

/** A triple: `["data.region", "=", "Europe"]`. */
const isTriple = (list: readonly unknown[]): boolean =>
  list.length === 3 && typeof list[0] === 'string' && typeof list[1] === 'string' && isOperatorWord(list[1])

const triple = ([name, word, value]: readonly unknown[]): FilterAst =>
  condition(String(name), `$${String(word)}`, value)

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
function readTests(name: string, value: unknown, depth = 0, below = name === 'data'): FilterAst {
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
