import { COLUMNS } from '../contract/record-columns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { Doubt, type Draft } from './draft.ts'
import { fieldOf } from './fields.ts'
import { endsInEscape, type FilterJson } from './operands.ts'
import { operatorOf } from './operators.ts'

const isGiven = (value: unknown): boolean => value !== undefined
const isOrdered = (value: unknown): boolean => typeof value === 'string' || Number.isFinite(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isList = (value: unknown): boolean => Array.isArray(value) && value.length <= LIMITS.filterValues

/** Our own operators, and whether a value is as they take it: then nothing is changed. */
const OWN = new Map<string, (value: unknown) => boolean>([
  ...['eq', 'neq', 'has'].map((op) => [op, isGiven] as const),
  ...['gt', 'gte', 'lt', 'lte'].map((op) => [op, isOrdered] as const),
  ...['in', 'not_in', 'has_any', 'has_all'].map((op) => [op, isList] as const),
  ...['like', 'ilike'].map((op) => [op, isPattern] as const),
  ...['starts_with', 'search'].map((op) => [op, isText] as const),
])

function isPattern(value: unknown): boolean {
  return typeof value === 'string' && !endsInEscape(value)
}

/** The draft in our language, within our bounds; `columns` are the fields beside data. @throws Doubt */
export function settle(draft: Draft, columns: readonly string[] = COLUMNS): FilterJson {
  const budget = { conditions: 0 }
  const walk = (node: Draft, depth: number): FilterJson => {
    if (depth > LIMITS.filterDepth) throw new Doubt()
    if (node.kind === 'not') return { not: walk(node.of, depth + 1) }
    if (node.kind === 'condition') return spend(settleCondition(node, columns), depth, budget)
    if (node.of.length === 0) throw new Doubt()
    const of = node.of.map((each) => walk(each, depth + 1))
    return node.kind === 'and' ? { and: of } : { or: of }
  }
  return walk(draft, 0)
}

function settleCondition(
  { name, word, value }: Extract<Draft, { kind: 'condition' }>,
  columns: readonly string[],
): FilterJson {
  const field = fieldOf(name, columns)
  const isCommand = commands(value, 0)
  if (OWN.get(word)?.(value)) return { field, op: word, value }
  // All of data is searched or nothing; and a value with commands in it, as Mongo's {"$date": …}, is not what it says.
  if ((field === 'data' && word !== 'search' && word !== '$search') || isCommand) throw new Doubt()
  // The record's status is one of two words; any other value means a property of that name.
  const own = field !== 'status' || columns !== COLUMNS || statusMay(value)
  return operatorOf(word).meaning(own ? field : 'data.status', value)
}

const statusMay = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.every(statusMay)
    : typeof value !== 'string' || value === 'active' || value === 'cancelled'

/** Is there a key with a dollar sign anywhere in the value? @throws Doubt for one that is too deep to tell */
function commands(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > LIMITS.jsonDepth) throw new Doubt()
  return Object.entries(value).some(([key, inner]) => key.startsWith('$') || commands(inner, depth + 1))
}

/** Counts what one written condition became: one, or a small group. */
function spend(made: FilterJson, depth: number, budget: { conditions: number }): FilterJson {
  const parts = 'and' in made ? made.and : 'or' in made ? made.or : 'not' in made ? [made.not] : []
  if (parts.length === 0) budget.conditions++
  if (parts.length > 0 && depth >= LIMITS.filterDepth) throw new Doubt()
  if (budget.conditions > LIMITS.filterConditions) throw new Doubt()
  for (const part of parts) spend(part, depth + 1, budget)
  return made
}
