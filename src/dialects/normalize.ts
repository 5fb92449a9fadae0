import { OPERATORS, type Takes } from '../contract/operators.ts'
import { COLUMNS } from '../contract/record-columns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { fieldOf } from './fields.ts'
import { type FilterAst, Unclear } from './filter-ast.ts'
import { endsInEscape, type FilterJson } from './operands.ts'
import { operatorOf } from './operators.ts'

const isGiven = (value: unknown): boolean => value !== undefined
const isOrdered = (value: unknown): boolean => typeof value === 'string' || Number.isFinite(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isList = (value: unknown): boolean => Array.isArray(value) && value.length <= LIMITS.filterValues

const CHECKS: Readonly<Record<Exclude<Takes, 'nothing'>, (value: unknown) => boolean>> = {
  any: isGiven,
  ordered: isOrdered,
  list: isList,
  text: isText,
}
/** Plinth's operators, and whether a value is valid for each; such conditions are kept unchanged. */
const OWN = new Map<string, (value: unknown) => boolean>(
  Object.entries(OPERATORS).flatMap(([op, takes]) =>
    takes === 'nothing' ? [] : [[op, op === 'like' || op === 'ilike' ? isPattern : CHECKS[takes]] as const],
  ),
)

function isPattern(value: unknown): boolean {
  return typeof value === 'string' && !endsInEscape(value)
}

/**
 * Normalizes a draft to Plinth's filter syntax within its limits; `columns` are the fields outside data.
 * @throws Unclear
 */
export function normalize(draft: FilterAst, columns: readonly string[] = COLUMNS): FilterJson {
  const budget = { conditions: 0 }
  const walk = (node: FilterAst, depth: number): FilterJson => {
    if (depth > LIMITS.filterDepth) throw new Unclear()
    if (node.kind === 'not') return { not: walk(node.of, depth + 1) }
    if (node.kind === 'condition') return spend(settleCondition(node, columns), depth, budget)
    if (node.of.length === 0) throw new Unclear()
    const of = node.of.map((each) => walk(each, depth + 1))
    return node.kind === 'and' ? { and: of } : { or: of }
  }
  return walk(draft, 0)
}

function settleCondition(
  { name, word, value }: Extract<FilterAst, { kind: 'condition' }>,
  columns: readonly string[],
): FilterJson {
  const field = fieldOf(name, columns)
  const isCommand = commands(value, 0)
  if (OWN.get(word)?.(value)) return { field, op: word, value }
  // Only a search supports `data` as a whole; and an object with commands, such as MongoDB's {"$date": …}, is
  // not a literal value.
  if ((field === 'data' && word !== 'search' && word !== '$search') || isCommand) throw new Unclear()
  // The record column `status` has two values; any other value means a data property of that name.
  const own = field !== 'status' || columns !== COLUMNS || statusMay(value)
  return operatorOf(word).meaning(own ? field : 'data.status', value)
}

const statusMay = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.every(statusMay)
    : typeof value !== 'string' || value === 'active' || value === 'cancelled'

/**
 * Whether the value contains a key with a dollar sign.
 * @throws Unclear for one that is nested too deeply
 */
function commands(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > LIMITS.jsonDepth) throw new Unclear()
  return Object.entries(value).some(([key, inner]) => key.startsWith('$') || commands(inner, depth + 1))
}

/** Charges the conditions of a normalized filter: one, or a small group. */
function spend(made: FilterJson, depth: number, budget: { conditions: number }): FilterJson {
  const parts = 'and' in made ? made.and : 'or' in made ? made.or : 'not' in made ? [made.not] : []
  if (parts.length === 0) budget.conditions++
  if (parts.length > 0 && depth >= LIMITS.filterDepth) throw new Unclear()
  if (budget.conditions > LIMITS.filterConditions) throw new Unclear()
  for (const part of parts) spend(part, depth + 1, budget)
  return made
}
