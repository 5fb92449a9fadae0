import { LIMITS } from '../foundation/limits.ts'
import { regexTest } from './field-tests.ts'
import { isField } from './fields.ts'
import { condition, type FilterAst, not, Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'
import { closing, pieces, valueAt } from './split.ts'

const MAX_DEPTH = 2 * LIMITS.filterDepth
const OPS = 'eq|neq|gt|gte|lt|lte|like|ilike|in|is|isdistinct|match|imatch|cs|ov'
const TEST = new RegExp(`^(not\\.)?(${OPS})\\.(.+)$`, 's')
const START = new RegExp(`^(?:not\\.)?(?:${OPS}|cd|sl|sr|nxr|nxl|adj|(?:pl|ph|w)?fts)(?:\\([^)]*\\))?\\.`)
const NAMED = new RegExp(`^([^,()]+?)\\.((?:not\\.)?(?:${OPS})\\..+)$`, 's')
const GROUP = /^(not\.)?(and|or)(\(.*\))$/s

/** Whether a parameter value starts like a PostgREST test, such as `gte.5`, even if it is not supported. */
export const isPostgrestTest = (value: string): boolean => START.test(value)

/**
 * Parses PostgREST as one text: `data.region=eq.Europe` or `or=(a.eq.1,b.gt.2)`.
 * @throws Unclear
 */
export function readPostgrest(text: string): FilterAst {
  const [, name, value] = /^([^=&]+)=([^&]*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) return readGroup(text)
  return /^(?:not\.)?(?:and|or)$/.test(name) ? readGroup(`${name}${value}`) : readTest(name, value)
}

/**
 * Parses `and(a.eq.1,or(b.gt.2,not.c.is.null))`.
 * @throws Unclear
 */
export function readGroup(text: string, depth = 0): FilterAst {
  const [, negative, kind, list = ''] = GROUP.exec(text) ?? []
  if (kind === undefined || depth > MAX_DEPTH || closing(list) !== list.length - 1) throw new Unclear()
  const of = pieces(list.slice(1, -1)).map((each) => member(each.trim(), depth))
  const made: FilterAst = { kind: kind === 'or' ? 'or' : 'and', of }
  return negative ? not(made) : made
}

function member(text: string, depth: number): FilterAst {
  if (GROUP.test(text)) return readGroup(text, depth + 1)
  const [, name, value] = NAMED.exec(text) ?? []
  if (name === undefined || value === undefined) throw new Unclear()
  return name.startsWith('not.') ? not(readTest(name.slice('not.'.length), value)) : readTest(name, value)
}

/**
 * Parses the test of a field: `in.(a,b)`, `not.is.null`, `cs.{a}`.
 * @throws Unclear
 */
export function readTest(name: string, value: string): FilterAst {
  const [, negative, op = '', rest = ''] = TEST.exec(value) ?? []
  if (op === '') throw new Unclear()
  const made = test(pathOf(name), op, rest)
  return negative ? not(made) : made
}

function test(name: string, op: string, text: string): FilterAst {
  switch (op) {
    case 'in':
      return condition(name, '$in', listIn(name, text, '()'))
    case 'is':
      return isTest(name, text)
    case 'like':
    case 'ilike':
      return condition(name, `$${op}`, text.replaceAll('*', '%'))
    case 'match':
      return regexTest(name, text, undefined)
    case 'imatch':
      return regexTest(name, text, 'i')
    case 'cs':
      return condition(name, '$hasall', membersIn(name, text))
    case 'ov':
      return condition(name, '$hasany', membersIn(name, text))
    default:
      return condition(name, `$${op}`, valueAt(name, text))
  }
}

function isTest(name: string, text: string): FilterAst {
  if (text === 'null' || text === 'unknown') return condition(name, '$isnull')
  if (text === 'not_null') return condition(name, '$isnotnull')
  if (text !== 'true' && text !== 'false') throw new Unclear()
  return condition(name, '$eq', text === 'true')
}

function membersIn(name: string, text: string): unknown[] {
  if (text.startsWith('{')) return listIn(name, text, '{}')
  const list = jsonIn(text)
  if (!Array.isArray(list)) throw new Unclear()
  return list
}

function listIn(name: string, text: string, brackets: string): unknown[] {
  if (text[0] !== brackets[0] || text.at(-1) !== brackets[1] || text.length < 3) throw new Unclear()
  return pieces(text.slice(1, -1)).map((each) => valueAt(name, each))
}

/** Converts PostgREST's JSON path to dots: `data->address->>city`. */
function pathOf(name: string): string {
  if (isField(name) || !name.includes('->')) return name
  return name
    .split(/->>?/)
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`))
    .join('')
}
