import {
  _,
  type CodeKeywordDefinition,
  type ErrorObject,
  type FuncKeywordDefinition,
  type ValidateFunction,
} from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isMultipleOf } from '../../decimal.ts'
import { budget, spend } from './budget.ts'
import { FORMATS } from './formats.ts'
import type { Pattern } from './pattern.ts'
import type { Clean } from './reader.ts'

export type Mode = {
  /** Whether to go on after the first fault. */
  allErrors: boolean
  /** Whether the schema needs to know which members other keywords have looked at. */
  unevaluated: boolean
}

/** Compiles a clean schema. Each gets a validator of its own, so schemas share nothing but the vocabulary. */
export function buildValidator(schema: Clean, patterns: Map<string, Pattern>, mode: Mode): ValidateFunction {
  const regExp = (pattern: string) => patterns.get(pattern) as Pattern
  regExp.code = 'linearRegExp'
  const ajv = new Ajv2020({
    allErrors: mode.allErrors,
    // Each error then holds the schema and the value it is about; `explain.ts` reads them.
    verbose: true,
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // A property is what the object itself holds: `constructor` is not there unless someone wrote it.
    ownProperties: true,
    // One function for each place in `$defs`, however often it is referred to.
    inlineRefs: false,
    loopRequired: 20,
    formats: FORMATS,
    code: { regExp, optimize: false },
  })
  // Else alternatives are all tried although the first one matches.
  ajv.opts.unevaluated = mode.unevaluated
  ajv.opts.dynamicRef = false
  for (const keyword of [uniqueItems, multipleOf, oneOfValues])
    ajv.removeKeyword(keyword.keyword as string).addKeyword(keyword)
  ajv.addKeyword(cost)
  return ajv.compile(schema)
}

const ITEM_LOOPS = ['items', 'contains', 'unevaluatedItems']
const KEY_LOOPS = [
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
]
const TEXT_LOOPS = ['minLength', 'maxLength']
// Keywords that take next to no time: what applies a schema with these alone has paid for it.
const CHEAP = [
  'type',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
]

/** Has a clean schema count, each time it is applied, what applying it takes. */
export function priced(schema: Clean): void {
  if (Object.keys(schema).some((keyword) => !CHEAP.includes(keyword))) schema['cost'] = true
}

/** Runs before all else in its schema; see `budget.ts`. */
const cost: CodeKeywordDefinition = {
  keyword: 'cost',
  before: '$ref',
  code({ gen, data, parentSchema }) {
    const steps = gen.scopeValue('obj', { ref: budget })
    const has = (keywords: string[]) => keywords.filter((keyword) => keyword in parentSchema).length
    gen.code(_`${steps}.left -= ${entries(parentSchema)};`)
    const [items, keys, text] = [has(ITEM_LOOPS), has(KEY_LOOPS), has(TEXT_LOOPS)]
    if (items) gen.code(_`if (Array.isArray(${data})) ${steps}.left -= ${data}.length * ${items};`)
    if (keys) {
      const isObject = _`typeof ${data} == "object" && ${data} && !Array.isArray(${data})`
      gen.code(_`if (${isObject}) ${steps}.left -= Object.keys(${data}).length * ${keys};`)
    }
    if (text) gen.code(_`if (typeof ${data} == "string") ${steps}.left -= ${data}.length * ${text};`)
    gen.code(_`if (${steps}.left < 0) ${steps}.spent();`)
  },
}

/** How many things a schema's own keywords list, subschemas included. */
function entries(schema: Clean): number {
  let count = 1
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'enum' || typeof value !== 'object' || value === null) continue
    const members = Object.values(value)
    count += members.length
    if (keyword.startsWith('depend'))
      for (const names of members) count += Array.isArray(names) ? names.length : 0
  }
  return count
}

/** Ajv compares with one value after the other; this looks it up. */
const oneOfValues: FuncKeywordDefinition = {
  keyword: 'enum',
  schemaType: 'array',
  compile(values: unknown[]) {
    const isScalar = (value: unknown) => typeof value !== 'object' || value === null
    const scalars = new Set(values.filter(isScalar))
    const others = new Set(values.filter((value) => !isScalar(value)).map(canonical))
    return (value: unknown) =>
      isScalar(value) ? scalars.has(value) : others.size > 0 && others.has(canonical(value))
  },
}

/** Ajv compares each pair of objects; this takes one pass. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  compile(on: boolean) {
    const check: { (items: unknown[]): boolean; errors?: Partial<ErrorObject>[] } = (items) => {
      const seen = new Map<string, number>()
      for (const [i, item] of on ? items.entries() : []) {
        const text = canonical(item)
        spend(text.length / 4)
        const first = seen.get(text)
        if (first !== undefined) {
          check.errors = [{ keyword: 'uniqueItems', params: { first, second: i }, message: '' }]
          return false
        }
        seen.set(text, i)
      }
      return true
    }
    return check
  },
}

/** One spelling for equal values: keys in order. */
function canonical(value: unknown): string {
  spend(5)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}

/** Ajv divides doubles, by which 19.99 is no multiple of 0.01. */
const multipleOf: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  compile: (step: number) => (value: number) => {
    spend(50)
    return isMultipleOf(value, step)
  },
}
