import type { ErrorObject, FuncKeywordDefinition } from 'ajv'
import { isMultipleOf } from '../../json/decimal.ts'
import { spend } from './budget.ts'

type Definition = Omit<FuncKeywordDefinition, 'keyword'>

/** Keywords that Ajv checks too slowly, or not as JSON means them. */
export const REPLACED: Readonly<Record<string, Definition>> = {
  // Ajv tries one value after the other, and stumbles over objects without a prototype.
  enum: { schemaType: 'array', compile: (values: unknown[]) => isOneOf(values) },
  const: { compile: (value: unknown) => isOneOf([value]) },
  // Ajv compares each item with each.
  uniqueItems: {
    type: 'array',
    schemaType: 'boolean',
    compile: (on: boolean) => (on ? hasNoTwins() : () => true),
  },
  // Ajv divides doubles, by which 19.99 is no multiple of 0.01.
  multipleOf: {
    type: 'number',
    schemaType: 'number',
    compile: (step: number) => (value: number) => {
      spend(50)
      return isMultipleOf(value, step)
    },
  },
}

function isOneOf(values: unknown[]): (value: unknown) => boolean {
  const isScalar = (value: unknown) => typeof value !== 'object' || value === null
  const scalars = new Set(values.filter(isScalar))
  const others = new Set(values.filter((value) => !isScalar(value)).map(canonical))
  return (value) => (isScalar(value) ? scalars.has(value) : others.size > 0 && others.has(canonical(value)))
}

type Check = { (items: unknown[]): boolean; errors?: Partial<ErrorObject>[] }

function hasNoTwins(): Check {
  const check: Check = (items) => {
    const seen = new Map<string, number>()
    for (const [i, item] of items.entries()) {
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
}

/** One spelling for equal values: keys in order. */
function canonical(value: unknown): string {
  spend(5)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
