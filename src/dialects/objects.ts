import { LIMITS } from '../foundation/limits.ts'
import { isCondition, isRole, readCondition } from './condition-object.ts'
import { condition, Doubt, type Draft, group, not, sure, together } from './draft.ts'
import { readTests } from './field-tests.ts'
import { isField } from './fields.ts'
import { isObject } from './literal.ts'
import { isOperatorWord } from './operators.ts'

/** Groups of one input nest no deeper than this, with room for those that a correction takes away. */
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

/** Reads a filter that is an object or a list: ours with mistakes, Mongo's, Prisma's, Hasura's, Directus's. @throws Doubt */
export function readObject(raw: unknown): Draft {
  return sure(read(raw, 0, { nodes: 0 }))
}

/** Undefined for what says nothing: `{}`, or a group of none. */
function read(node: unknown, depth: number, budget: { nodes: number }): Draft | undefined {
  if (depth > MAX_DEPTH || ++budget.nodes > MAX_NODES) throw new Doubt()
  if (Array.isArray(node)) return isTriple(node) ? triple(node) : all(node, depth, budget)
  if (!isObject(node)) throw new Doubt()
  const keys = Object.keys(node)
  if (keys.length > LIMITS.filterConditions) throw new Doubt()
  if (isCondition(keys)) return readMixed(node, depth, budget)
  const wrapped = keys.length === 1 ? (node['filter'] ?? node['where']) : undefined
  if (isObject(wrapped)) return read(wrapped, depth + 1, budget)
  const parts = Object.entries(node).map(([key, value]) => entry(key, value, depth, budget))
  const said = parts.filter((part) => part !== undefined)
  const [only] = said
  // One written group stays as it is written; several keys of an object all hold.
  if (parts.length === 1) return only
  return said.length === 0 ? undefined : together(said)
}

function entry(key: string, value: unknown, depth: number, budget: { nodes: number }): Draft | undefined {
  const kind = groupOf(key)
  if (kind === undefined) return property(key, value)
  if (kind === 'not') return negation(value, depth, budget)
  const list = Array.isArray(value) && !isTriple(value) ? value : [value]
  if (kind !== 'and' && !Array.isArray(value) && isSeveral(value)) throw new Doubt()
  const parts = list.map((each) => read(each, depth + 1, budget))
  const said = parts.filter((part) => part !== undefined)
  if (kind === 'and') return joined('and', said)
  // What says nothing holds for every record, and would make the whole group hold: nobody means that.
  if (said.length < parts.length) throw new Doubt()
  const any = joined('or', said)
  return kind === 'nor' && any ? not(any) : any
}

/** An object of several keys: below "or", each may be an alternative, or all may hold together. */
const isSeveral = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length > 1 && !isCondition(Object.keys(value))

const joined = (kind: 'and' | 'or', of: readonly Draft[]): Draft | undefined =>
  of.length === 0 ? undefined : { kind, of }

/** `not` of one filter; of several it means different things in different languages. */
function negation(value: unknown, depth: number, budget: { nodes: number }): Draft {
  const one = Array.isArray(value) && !isTriple(value) && value.length === 1 ? value[0] : value
  if (Array.isArray(one) && !isTriple(one)) throw new Doubt()
  return not(sure(read(one, depth + 1, budget)))
}

function all(list: readonly unknown[], depth: number, budget: { nodes: number }): Draft | undefined {
  const parts = list.map((each) => read(each, depth + 1, budget)).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : group('and', parts)
}

/** A condition that has groups beside its keys: they hold together, unless "or" leaves it open with what. */
function readMixed(node: Record<string, unknown>, depth: number, budget: { nodes: number }): Draft {
  const entries = Object.entries(node)
  const isGroup = ([key, value]: [string, unknown]) => groupOf(key) !== undefined && typeof value === 'object'
  const groups = entries.filter(isGroup)
  if (groups.some(([key]) => groupOf(key) === 'or' || groupOf(key) === 'nor')) throw new Doubt()
  const own = readCondition(Object.fromEntries(entries.filter((each) => !isGroup(each))))
  if (groups.length === 0) return own
  return together([own, ...groups.flatMap(([key, value]) => entry(key, value, depth, budget) ?? [])])
}

/** Parts of a request or of another query language; with an object below them they are no properties. */
const CLAUSES = new Set(['filter', 'where', 'query', 'range', 'bool', 'term', 'terms', 'match', 'nested'])

function property(key: string, value: unknown): Draft {
  if (CLAUSES.has(key) && typeof value === 'object' && value !== null) throw new Doubt()
  // A word of the language in the place of a name: it is not told what it is said of.
  if (!isField(key) && (key === '__proto__' || key.startsWith('$') || isRole(key) || isOperatorWord(key)))
    throw new Doubt()
  return readTests(key, value)
}

/** `["data.region", "=", "Europe"]` */
const isTriple = (list: readonly unknown[]): boolean =>
  list.length === 3 && typeof list[0] === 'string' && typeof list[1] === 'string' && isOperatorWord(list[1])

const triple = ([name, word, value]: readonly unknown[]): Draft =>
  condition(String(name), `$${String(word)}`, value)
