import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { correctFilter } from '../../src/dialects/correct.ts'
import { correctParameter } from '../../src/dialects/parameters.ts'
import { parseFilter } from '../../src/engine/data/filter/parse.ts'
import { cases } from '../support/cases.ts'
import type { Filter } from '../support/reference.ts'
import { chosen, FIELDS, filters } from './language.ts'
import { holdsInMongo, mongoFilters, ROWS } from './mongo.ts'
import { mongo } from './printers.ts'

const isOurs = (filter: unknown) => expect(() => parseFilter(filter, '')).not.toThrow()

/** Generated values use the keys of filter languages more often than arbitrary JSON does. */
const key = fc.constantFrom(
  'field',
  'op',
  'value',
  'feild',
  'and',
  'or',
  'not',
  '$or',
  '$not',
  '$gt',
  '_eq',
  'in',
  'data',
  'data.a',
  'a.b',
  '__proto__',
  'where',
  '$regex',
  '$elemMatch',
  'mode',
  '',
)
const scalar = fc.oneof(
  fc.constantFrom('data.a', 'eq', '>=', 'contains', 'x\\', '^a', '', 'status'),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: 'binary' }),
)
const { node } = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.dictionary(key, tie('node'), { maxKeys: 3 }),
    fc.array(tie('node'), { maxLength: 3 }),
  ),
}))
/** Texts of tokens of query languages. */
const text = fc
  .array(
    fc.constantFrom(
      '{a}',
      '{',
      '}',
      '(',
      ')',
      'AND',
      'OR',
      'NOT',
      ' and ',
      '&&',
      '||',
      '~and',
      '~or',
      '=',
      '!=',
      '>',
      'eq',
      ',',
      '.',
      'in',
      'is',
      'null',
      "'x'",
      '"y"',
      "'",
      '5',
      '-',
      'a',
      'data.b',
      ' ',
      '[0]',
      '->>',
      'BLANK()',
      'FIND',
      '%',
      '\\',
      'or=',
      'not.',
      '\0',
      'é',
      '\ud800',
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

describe('a correction of generated input', () => {
  test('from a value throws nothing, and is a valid filter if defined', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.oneof(node, fc.jsonValue(), text, fc.string({ unit: 'binary' })), (raw) => {
        const found = correctFilter(raw)
        if (found !== undefined) isOurs(found)
      }),
      { numRuns: cases(5000) },
    )
  })

  test('from a parameter throws nothing, and is a valid filter or field list', { tags: 'sampled' }, () => {
    const name = fc.oneof(
      fc.constantFrom(
        'or',
        'not.and',
        'where',
        'q',
        'order',
        'select',
        'data.a',
        'a',
        'a[gt]',
        'filter[a][in]',
        'a__gte',
        'data.a>',
        'data->>a',
      ),
      fc.string(),
      text,
    )
    fc.assert(
      fc.property(name, fc.oneof(text, fc.string(), fc.json()), (parameter, value) => {
        const { filter, sort, fields } = correctParameter(parameter, value) ?? {}
        if (filter !== undefined) isOurs(filter)
        for (const list of [sort, fields]) if (list !== undefined) expect(list).toMatch(/^-?[\p{L}_]/u)
      }),
      { numRuns: cases(5000) },
    )
  })
})

test('a corrected filter needs no further correction', { tags: 'sampled' }, () => {
  fc.assert(
    fc.property(fc.oneof(node, text), (raw) => {
      const found = correctFilter(raw)
      if (found !== undefined) expect(correctFilter(found)).toBeUndefined()
    }),
    { numRuns: cases(3000) },
  )
})

test('a valid filter has no correction', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      isOurs(filter)
      expect(correctFilter(filter)).toBeUndefined()
    }),
  )
})

describe('a corrected filter matches the same records as the original in', () => {
  test.each<[string, (filter: Filter) => unknown]>([
    ['Mongo', mongo],
    ['our own as a text', (filter) => JSON.stringify(filter)],
  ])('%s', { tags: 'sampled' }, (_, print) => {
    fc.assert(
      fc.property(filters.filter(isSaidBy(print)), (filter) => {
        const found = correctFilter(print(filter))
        expect(found, JSON.stringify(print(filter))).toBeDefined()
        expect(chosen(found)).toEqual(chosen(filter))
      }),
      { numRuns: cases(200) },
    )
  })

  test('MongoDB, by the semantics of MongoDB', { tags: 'full' }, () => {
    fc.assert(
      fc.property(mongoFilters, (filter) => {
        const found = correctFilter(filter)
        expect(found, JSON.stringify(filter)).toBeDefined()
        expect(chosen(found)).toEqual(ROWS.filter((row) => holdsInMongo(filter, row)).map(({ id }) => id))
      }),
    )
  })
})

/** A filter that prints as itself needs no correction. */
function isSaidBy(print: (filter: Filter) => unknown) {
  return (filter: Filter) => JSON.stringify(print(filter)) !== JSON.stringify(filter)
}

test('a correction keeps property names unchanged', () => {
  for (const field of FIELDS) expect(correctFilter({ [field]: 1 })).toEqual({ field, op: 'eq', value: 1 })
})
