import { isRole } from './condition-object.ts'
import { holdsText } from './fields.ts'
import { condition, type FilterAst, orUnclear, Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'
import { isOperatorWord, operatorOf } from './operators.ts'

const HEADS = new Set(['filter', 'filters', 'where', 'query', 'condition', 'conditions'])
const bare = (word: string): string => word.toLowerCase().replace(/^[$_]/, '')

/**
 * Parses bracketed parameters: `filter[data.region]=Europe`, `filter[region][_eq]=x`, `data[region]=x`,
 * `area[gte]=5`; undefined for a name without brackets.
 * @throws Unclear
 */
export function readBracketed(name: string, value: string): FilterAst | undefined {
  const [, head = '', brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? []
  if (head === '') return undefined
  const keys = [...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)
  if (keys.at(-1) === '') keys.pop()
  const path = HEADS.has(bare(head)) ? [] : [head]
  // The first item of a conjunction is a complete condition; of a disjunction it is only a part.
  while (path.length === 0 && bare(keys[0] ?? '') === 'and' && /^\d+$/.test(keys[1] ?? '')) keys.splice(0, 2)
  const last = keys.at(-1) ?? ''
  const word = path.length + keys.length > 1 && isOperatorWord(last) ? keys.pop() : undefined
  // `page[size]=5` is not a condition, and `filter[0][field]=a` is only a part of one.
  if (word === undefined && path.length > 0 && head !== 'data') throw new Unclear()
  path.push(...keys)
  if (path.length === 0 || path.some((key) => !isProperty(key)) || /^\d/.test(path[0] ?? ''))
    throw new Unclear()
  return test(path.join('.'), word, value)
}

const isProperty = (key: string): boolean =>
  key !== '' && !isRole(key) && !isOperatorWord(key) && !['or', 'and', 'not', 'nor'].includes(bare(key))

/**
 * Parses Django's `area__gte=5`.
 * @throws Unclear
 */
export function readDjango(name: string, value: string): FilterAst {
  const steps = name.split('__')
  const word = steps.pop() ?? ''
  if (steps.length === 0 || !isOperatorWord(word)) throw new Unclear()
  return test(steps.join('.'), word, value)
}

/**
 * Parses comparisons in parameter names: URL parsing splits `data.area>=5` at the equals sign, and
 * `data.area>5` is a name without a value.
 * @throws Unclear
 */
export function readSigned(name: string, value: string): FilterAst | undefined {
  const [, field = '', sign = '', rest = ''] = /^([^<>!=]+)([<>!])(.*)$/s.exec(name) ?? []
  if (sign === '') return undefined
  if (rest !== '' && value !== '') throw new Unclear()
  if (rest !== '' && sign === '!') throw new Unclear()
  const operand = rest === '' ? value : rest
  return condition(
    field.trim(),
    rest === '' ? `$${sign}=` : `$${sign}`,
    valueAt(field.trim(), operand.trim()),
  )
}

function test(name: string, word: string | undefined, value: string): FilterAst {
  if (word === undefined) {
    if (value.includes(',')) throw new Unclear()
    return condition(name, '$eq', valueAt(name, value))
  }
  switch (operatorOf(word).takes) {
    case 'list':
      return condition(
        name,
        `$${word}`,
        value.split(',').map((each) => valueAt(name, each)),
      )
    case 'flag':
      if (!['true', 'false', '1', '0'].includes(value)) throw new Unclear()
      return condition(name, `$${word}`, value === 'true' || value === '1')
    case 'text':
      return condition(name, `$${word}`, value)
    case 'any':
      return condition(name, `$${word}`, valueAt(name, value))
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/**
 * Interprets an untyped text, as in a URL, as a value of this field: a number, true, false, null, or else text.
 * @throws Unclear for a number that a double does not preserve
 */
export function valueAt(name: string, text: string): unknown {
  if (text === '') throw new Unclear()
  if (holdsText(name) && text !== 'null') return text
  if (WORDS.has(text)) return WORDS.get(text)
  return NUMBER.test(text) || text.startsWith('"') ? orUnclear(jsonIn(text)) : text
}
