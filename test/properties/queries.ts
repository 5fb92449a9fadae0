/** Generated filters and sorts, over stored values, values close to them, and values of other types. */
import fc from 'fast-check'
import { instant } from '../support/instants.ts'
import type { Json } from '../support/paths.ts'
import { type Condition, type Filter, type Row, reader, type Sort } from '../support/reference.ts'
import * as odd from './irregular-values.ts'
import type { Sample } from './samples.ts'

const MOST_VALUES = 80

/** The distinct stored values of a field, without null. */
function valuesAt({ rows, rules }: Sample, field: string): Json[] {
  const found = rows.flatMap((row) => reader(row, rules)(field).values).filter((value) => value !== null)
  const different = new Map(found.map((value) => [JSON.stringify(value), value]))
  return [...different.values()].slice(0, MOST_VALUES)
}

const isText = (value: Json): value is string => typeof value === 'string'
const isOrdered = (value: Json): value is string | number => isText(value) || typeof value === 'number'

/** One of the values, or else `other`. */
const oneOf = <T extends Json>(values: T[], other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  values.length === 0
    ? other
    : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: other })

/** A LIKE pattern from the text, with some characters replaced by wildcards and some changed in case. */
const patternFrom = (text: string): fc.Arbitrary<string> => {
  const characters = [...text.slice(0, 40)]
  return fc
    .tuple(
      fc.nat(characters.length),
      fc.nat(6),
      fc.array(fc.constantFrom('', '', '', '_', '%', 'case'), { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([from, length, changes, open, closed]) => {
      const part = characters
        .slice(from, from + length)
        .map((character, at) => changed(character, changes[at] ?? ''))
      return `${open ? '%' : escaped(characters.slice(0, from).join(''))}${part.join('')}${closed ? '%' : escaped(characters.slice(from + length).join(''))}`
    })
}

const escaped = (text: string) => text.replace(/[\\%_]/g, '\\$&')

function changed(character: string, change: string): string {
  if (change === '%' || change === '_') return change
  if (change !== 'case') return escaped(character)
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  // Letters whose case mapping is not one to one have tests of their own.
  const pairs = upper.toLowerCase() === lower && lower.toUpperCase() === upper
  return escaped(pairs ? (character === lower ? upper : lower) : character)
}

const condition = (field: string, ops: string[], value: fc.Arbitrary<Json>): fc.Arbitrary<Condition> =>
  fc.record({ field: fc.constant(field), op: fc.constantFrom(...ops), value })

const NO_ROW: Row = { id: '', data: {} }

/** Conditions on the own status of a record, which is compared only with values that it can have. */
const onStatus = (): fc.Arbitrary<Condition> => {
  const status = fc.constantFrom('active', 'cancelled')
  return fc.oneof(
    condition('status', ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'], status),
    condition('status', ['in', 'not_in'], fc.array(status, { maxLength: 2 })),
    condition('status', ['like', 'ilike'], fc.constantFrom('%', 'a%', '%_ed', 'activ_', 'cancelled')),
    condition('status', ['starts_with'], fc.constantFrom('', 'a', 'cancel')),
    fc.constantFrom('is_null', 'is_not_null').map((op) => ({ field: 'status', op })),
  )
}

/** Conditions on one field. */
export function conditionsAt(sample: Sample, field: string): fc.Arbitrary<Condition> {
  if (field === 'status') return onStatus()
  const all = valuesAt(sample, field)
  const texts = all.filter(isText)
  // A field of times can be compared only with strings that are times.
  const { zone } = reader(NO_ROW, sample.rules)(field)
  const fits = (value: Json) => zone === null || !isText(value) || instant(value, zone) !== null
  const values = all.filter(fits)
  const other = (zone === null ? odd.mixed : fc.oneof(odd.time, odd.number, fc.boolean())).filter(fits)
  const items = valuesAt(sample, `${field}[]`)
  const value = oneOf(values, other)
  const list = fc.array(value, { maxLength: 4 })
  const item = oneOf(items, odd.mixed)
  const pattern = oneOf(texts, odd.text).chain(patternFrom)
  const start = oneOf(texts, odd.text).chain((text) =>
    fc.nat(4).map((length) => [...text].slice(0, length).join('')),
  )
  const lists: fc.Arbitrary<Condition>[] = [
    condition(field, ['has'], item),
    condition(field, ['has_any', 'has_all'], fc.array(item, { minLength: 1, maxLength: 3 })),
  ]
  // Operators that the type of a column excludes are refused.
  const textual = /^version$|_at$/.test(field) ? 0 : texts.length > 0 ? 3 : 1
  const listed = !field.startsWith('data') ? 0 : items.length > 0 ? 6 : 1
  return fc.oneof(
    { weight: 3, arbitrary: condition(field, ['eq', 'neq'], value) },
    {
      weight: 4,
      arbitrary: condition(
        field,
        ['gt', 'gte', 'lt', 'lte'],
        oneOf(values.filter(isOrdered), other.filter(isOrdered)),
      ),
    },
    { weight: 2, arbitrary: condition(field, ['in', 'not_in'], list) },
    { weight: textual, arbitrary: condition(field, ['like', 'ilike'], pattern) },
    { weight: textual, arbitrary: condition(field, ['starts_with'], start) },
    { weight: listed, arbitrary: fc.oneof(...lists) },
    { weight: 1, arbitrary: fc.constantFrom('is_null', 'is_not_null').map((op) => ({ field, op })) },
  )
}

/** Filters of up to four levels over the fields of a sample. */
export function filters(sample: Sample): fc.Arbitrary<Filter> {
  const fields = [...sample.fields, ...sample.many].map((field) => conditionsAt(sample, field))
  const { filter } = fc.letrec<{ filter: Filter }>((tie) => {
    const group = fc.array(tie('filter'), { minLength: 1, maxLength: 3 })
    return {
      filter: fc.oneof(
        { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
        { weight: 4, arbitrary: fc.oneof(...fields) },
        { weight: 1, arbitrary: group.map((and) => ({ and })) },
        { weight: 1, arbitrary: group.map((or) => ({ or })) },
        { weight: 1, arbitrary: tie('filter').map((not) => ({ not })) },
      ),
    }
  })
  return filter
}

const DIRECTIONS = ['asc', 'desc'] as const

/** Sorts by one to three of the fields. */
export const sorts = (fields: readonly string[]): fc.Arbitrary<Sort> =>
  fc
    .uniqueArray(fc.constantFrom(...fields), { minLength: 1, maxLength: 3 })
    .chain((chosen) =>
      fc
        .array(fc.constantFrom(...DIRECTIONS), { minLength: chosen.length, maxLength: chosen.length })
        .map((directions) => chosen.map((field, at) => ({ field, direction: directions[at] ?? 'asc' }))),
    )

/** The methods that read a list. */
export const door = fc.constantFrom('GET', 'POST')
