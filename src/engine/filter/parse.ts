import { invalid } from '../../errors.ts'
import { LIMITS } from '../../limits.ts'
import { nearest } from '../../nearest.ts'
import { type Field, parseField } from './field.ts'

/** The operators this version compares with. */
const OPERATORS = ['eq'] as const
type Operator = (typeof OPERATORS)[number]

export type Condition = { kind: 'condition'; field: Field; op: Operator; value: unknown; at: string }
export type Filter = { kind: 'and' | 'or'; of: Filter[] } | { kind: 'not'; of: Filter } | Condition

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads a filter: a condition `{ field, op, value }`, or a group `{ and: [] }`, `{ or: [] }`, `{ not: {} }`.
 * @throws VALIDATION_ERROR at the JSON Pointer of the fault, below `at`
 */
export function parseFilter(raw: unknown, at: string): Filter {
  const budget = { conditions: 0 }
  const read = (node: unknown, here: string, depth: number): Filter => {
    if (!isObject(node) || Object.keys(node).length === 0)
      throw fault(here, 'type', 'A filter is {"field","op","value"}, {"and":[…]}, {"or":[…]} or {"not":{…}}.')
    const group = (['and', 'or', 'not'] as const).find((name) => Object.hasOwn(node, name))
    if (!group) return readCondition(node, here, budget)
    demandOnly(node, [group], here)
    if (depth >= LIMITS.filterDepth)
      throw fault(here, 'too_deep', `Groups nest at most ${LIMITS.filterDepth} deep.`)
    const of = node[group]
    if (group === 'not') return { kind: 'not', of: read(of, `${here}/not`, depth + 1) }
    if (!Array.isArray(of) || of.length === 0)
      throw fault(`${here}/${group}`, 'type', `"${group}" takes a list of at least one filter.`)
    return { kind: group, of: of.map((each, index) => read(each, `${here}/${group}/${index}`, depth + 1)) }
  }
  return read(raw, at, 0)
}

function readCondition(node: Record<string, unknown>, at: string, budget: { conditions: number }): Condition {
  if (++budget.conditions > LIMITS.filterConditions)
    throw fault(at, 'too_many', `A filter has at most ${LIMITS.filterConditions} conditions.`)
  demandOnly(node, ['field', 'op', 'value'], at)
  for (const key of ['field', 'op', 'value'])
    if (!Object.hasOwn(node, key)) throw fault(`${at}/${key}`, 'required', `A condition needs "${key}".`)
  const { op } = node
  if (!OPERATORS.includes(op as Operator)) {
    const received = typeof op === 'string' ? op.slice(0, 32) : op
    throw fault(`${at}/op`, 'unknown_operator', `"${String(received)}" is not an operator here.`, {
      received,
      allowed: OPERATORS,
      hint: OPERATORS[0],
    })
  }
  return {
    kind: 'condition',
    field: parseField(node['field'], `${at}/field`),
    op: op as Operator,
    value: node['value'],
    at,
  }
}

function demandOnly(node: Record<string, unknown>, allowed: readonly string[], at: string): void {
  const unknown = Object.keys(node).find((key) => !allowed.includes(key))
  if (unknown === undefined) return
  const hint = nearest(unknown, allowed)
  throw fault(
    `${at}/${unknown.slice(0, 64)}`,
    'unknown_key',
    `A filter has no key "${unknown.slice(0, 64)}" here.`,
    { allowed, ...(hint && { hint }) },
  )
}

const fault = (path: string, code: string, message: string, extra: object = {}) =>
  invalid({ path, code, message, ...extra })
