import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { isCondition, isRole, readCondition } from './condition-object.ts'
import { readTests } from './field-tests.ts'
import { isField } from './fields.ts'
import { condition, conjunction, type FilterAst, group, not, orUnclear, Unclear } from './filter-ast.ts'
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
