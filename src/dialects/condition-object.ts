import { isClose } from '../contract/suggest.ts'
import { condition, type FilterAst, Unclear } from './filter-ast.ts'
import { isOperatorWord } from './operators.ts'

type Role = 'field' | 'op' | 'value'

const ROLES = new Map<string, Role>([
  ['field', 'field'],
  ['fieldname', 'field'],
  ['column', 'field'],
  ['property', 'field'],
  ['attribute', 'field'],
  ['op', 'op'],
  ['operator', 'op'],
  ['operation', 'op'],
  ['comparator', 'op'],
  ['comparison', 'op'],
  ['value', 'value'],
  ['values', 'value'],
  ['val', 'value'],
])

/** The role of a key in a condition, allowing one edit. */
function roleOf(key: string): Role | undefined {
  const flat = key.toLowerCase().replace(/[_-]/g, '')
  const known = ROLES.get(flat)
  if (known || flat.length < 4 || flat.length > 12) return known
  return [...ROLES].find(([word]) => word.length > 3 && isClose(flat, word))?.[1]
}

/** Whether the key is a condition keyword rather than a property name. */
export const isRole = (key: string): boolean => roleOf(key) !== undefined

/** Whether the keys look like `{ field, op, value }`, with or without mistakes. */
export const isCondition = (keys: readonly string[]): boolean =>
  keys.length > 1 && keys.some((key) => roleOf(key) === 'field')

/**
 * Parses `{ field, op, value }` with misspelt keys, a missing `op`, or the operator as a key: `{ field, gte:
 * 5 }`.
 * @throws Unclear
 */
export function readCondition(node: Record<string, unknown>): FilterAst {
  const roles = new Map<Role, unknown>()
  const words: [string, unknown][] = []
  for (const [key, value] of Object.entries(node)) {
    const role = roleOf(key)
    if (role === undefined ? !isOperatorWord(key) : roles.has(role)) throw new Unclear()
    if (role === undefined) words.push([key, value])
    else roles.set(role, value)
  }
  const field = roles.get('field')
  if (typeof field !== 'string') throw new Unclear()
  const [word, ...more] = words
  if (word) {
    if (more.length > 0 || roles.size > 1) throw new Unclear()
    return condition(field, `$${word[0]}`, word[1])
  }
  const value = roles.get('value')
  if (!roles.has('op')) return condition(field, Array.isArray(value) ? '$in' : '$eq', value)
  const op = roles.get('op')
  if (typeof op !== 'string') throw new Unclear()
  return condition(field, op, value)
}
