import { LIMITS } from '../foundation/limits.ts'
import { condition, type FilterAst, group, not, Unclear } from './filter-ast.ts'
import { closing, pieces, valueAt } from './split.ts'

const MAX_DEPTH = 2 * LIMITS.filterDepth

/**
 * Parses NocoDB's `(status,eq,open)~and(area,gt,5)`.
 * @throws Unclear
 */
export function readNocodb(text: string, depth = 0): FilterAst {
  if (depth > MAX_DEPTH || !/^(?:~not)?\(/.test(text)) throw new Unclear()
  const parts: FilterAst[] = []
  const joins = new Set<string>()
  for (let rest = text; ; ) {
    const negative = rest.startsWith('~not')
    if (negative) rest = rest.slice('~not'.length)
    if (!rest.startsWith('(')) throw new Unclear()
    const end = closing(rest)
    const part = clause(rest.slice(1, end), depth)
    parts.push(negative ? not(part) : part)
    rest = rest.slice(end + 1)
    if (rest === '') break
    const [join] = /^~(?:and|or)(?=[~(])/.exec(rest) ?? []
    if (join === undefined) throw new Unclear()
    joins.add(join)
    rest = rest.slice(join.length)
  }
  // The precedence of "and" and "or" is undocumented.
  if (joins.size > 1) throw new Unclear()
  return group(joins.has('~or') ? 'or' : 'and', parts)
}

const clause = (text: string, depth: number): FilterAst =>
  /^(?:~not)?\(/.test(text) ? readNocodb(text, depth + 1) : test(text)

/** Operators whose value is a keyword: `is,null`. */
const IS = new Map<string, [string, unknown?]>([
  ['null', ['$isnull']],
  ['notnull', ['$isnotnull']],
  ['empty', ['$isempty']],
  ['notempty', ['$isnotempty']],
  ['blank', ['$isblank']],
  ['notblank', ['$isnotblank']],
  ['true', ['$eq', true]],
  ['false', ['$eq', false]],
  ['checked', ['$eq', true]],
  ['notchecked', ['$neq', true]],
])
const COMPARE = new Map([
  ['eq', '$eq'],
  ['neq', '$neq'],
  ['not', '$neq'],
  ['gt', '$gt'],
  ['ge', '$gte'],
  ['gte', '$gte'],
  ['lt', '$lt'],
  ['le', '$lte'],
  ['lte', '$lte'],
])
const LISTS = new Map([
  ['in', '$in'],
  ['btw', '$between'],
  ['nbtw', '$notbetween'],
])

function test(text: string): FilterAst {
  const [name = '', op = '', ...values] = pieces(text)
  if (!/^[\p{L}_]/u.test(name)) throw new Unclear()
  const compare = COMPARE.get(op)
  const list = LISTS.get(op)
  const [value = '', ...more] = values
  if (list && values.length > 0)
    return condition(
      name,
      list,
      values.map((each) => valueAt(name, each)),
    )
  if (more.length > 0) throw new Unclear()
  if (compare) return condition(name, compare, valueAt(name, value))
  if (op === 'like' || op === 'nlike') return like(name, op, value)
  const is = IS.get(op === 'is' ? value : op)
  if (!is || (op !== 'is' && values.length > 0)) throw new Unclear()
  return condition(name, ...is)
}

/** Case-insensitive LIKE; a text without `%` matches anywhere. */
function like(name: string, op: string, value: string): FilterAst {
  if (value === '') throw new Unclear()
  const made = value.includes('%') ? condition(name, '$ilike', value) : condition(name, '$icontains', value)
  return op === 'like' ? made : not(made)
}
