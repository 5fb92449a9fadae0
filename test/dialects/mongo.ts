import fc from 'fast-check'
import type { Row } from '../support/reference.ts'
import { FIELDS, ROWS } from './language.ts'

export { ROWS }

/** A Mongo filter; what it means is below, independent of what is tested. */
export type Mongo = { [key: string]: unknown }

const value = fc.constantFrom<unknown>('Europe', 'Asia', '', '50% (net), a_b', 12, -3, 1.5, true, false)
const ordered = fc.constantFrom<unknown>('Europe', 'Asia', 12, -3, 0)
const test: fc.Arbitrary<Mongo> = fc.oneof(
  fc.dictionary(fc.constantFrom('$eq', '$ne'), fc.option(value), { minKeys: 1 }),
  fc.dictionary(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), ordered, { minKeys: 1 }),
  fc.dictionary(fc.constantFrom('$in', '$nin'), fc.array(fc.option(value), { maxLength: 3 }), { minKeys: 1 }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $regex: fc.constantFrom('^Eu', 'si', 'pe$', '^Asia$', '^50% \\(net\\)', '^.*ro') }),
  fc.record({ $regex: fc.constantFrom('^eu', 'SI', '\\)'), $options: fc.constant('i') }),
)
const clause: fc.Arbitrary<Mongo> = fc.dictionary(
  fc.constantFrom(...FIELDS),
  fc.oneof(value, fc.constant(null), test, fc.record({ $not: test })),
  { minKeys: 1, maxKeys: 3 },
)
const group = (of: fc.Arbitrary<Mongo>): fc.Arbitrary<Mongo> => {
  const list = fc.array(of, { minLength: 1, maxLength: 3 })
  return fc.oneof(fc.record({ $and: list }), fc.record({ $or: list }), fc.record({ $nor: list }))
}
/** Clauses, groups of groups, and both side by side. */
export const mongoFilters: fc.Arbitrary<Mongo> = fc.oneof(
  clause,
  group(fc.oneof(clause, group(clause))),
  fc.tuple(clause, group(clause)).map(([one, other]) => ({ ...one, ...other })),
)

export function holdsInMongo(filter: Mongo, row: Row): boolean {
  return Object.entries(filter).every(([key, said]) => {
    const list = said as Mongo[]
    if (key === '$and') return list.every((each) => holdsInMongo(each, row))
    if (key === '$or') return list.some((each) => holdsInMongo(each, row))
    if (key === '$nor') return !list.some((each) => holdsInMongo(each, row))
    return holds(said, valueAt(row, key))
  })
}

const valueAt = (row: Row, path: string): unknown =>
  path.split('.').reduce<unknown>((value, step) => (value as Mongo | undefined)?.[step], row)

function holds(said: unknown, found: unknown): boolean {
  if (typeof said !== 'object' || said === null) return (found ?? null) === said
  return Object.entries(said).every(([operator, operand]) => {
    const sameType = typeof found === typeof operand
    const sign = sameType ? compare(found, operand) : Number.NaN
    switch (operator) {
      case '$eq':
        return (found ?? null) === operand
      case '$ne':
        return (found ?? null) !== operand
      case '$gt':
        return sign > 0
      case '$gte':
        return sign >= 0
      case '$lt':
        return sign < 0
      case '$lte':
        return sign <= 0
      case '$in':
        return (operand as unknown[]).includes(found ?? null)
      case '$nin':
        return !(operand as unknown[]).includes(found ?? null)
      case '$exists':
        return (found !== undefined) === operand
      case '$regex':
        return (
          typeof found === 'string' &&
          new RegExp(String(operand), (said as Mongo)['$options'] ? 'is' : 's').test(found)
        )
      case '$options':
        return true
      case '$not':
        return !holds(operand, found)
      default:
        throw new Error(`No operator ${operator} here.`)
    }
  })
}

const compare = (one: unknown, other: unknown): number =>
  Number((one as string) > (other as string)) - Number((one as string) < (other as string))
