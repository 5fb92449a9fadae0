import { _, type CodeKeywordDefinition } from 'ajv'
import { budget } from './budget.ts'
import type { Clean } from './reader.ts'

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
export const cost: CodeKeywordDefinition = {
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
