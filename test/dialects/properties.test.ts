import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { correctFilter } from '../../src/dialects/correct.ts'
import { correctParameter } from '../../src/dialects/parameters.ts'
import { parseFilter } from '../../src/engine/filter/parse.ts'
import { cases } from '../support/cases.ts'
import type { Filter } from '../support/reference.ts'
import { chosen, FIELDS, filters } from './language.ts'
import { holdsInMongo, mongoFilters, ROWS } from './mongo.ts'
import { airtable, mongo, nocodb, pocketbase, postgrest, sql } from './printers.ts'

const isOurs = (filter: unknown) => expect(() => parseFilter(filter, '')).not.toThrow()

/** Values that look like filters more often than any JSON does. */
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
/** Texts made of the pieces of the languages. */
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

describe('whatever is sent', () => {
  test('a correction of a value never throws, and is always a filter of ours', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.oneof(node, fc.jsonValue(), text, fc.string({ unit: 'binary' })), (raw) => {
        const found = correctFilter(raw)
        if (found !== undefined) isOurs(found)
      }),
      { numRuns: cases(5000) },
    )
  })

  test('nor does the correction of a parameter', { tags: 'sampled' }, () => {
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

test('a correction is not corrected again', { tags: 'sampled' }, () => {
  fc.assert(
    fc.property(fc.oneof(node, text), (raw) => {
      const found = correctFilter(raw)
      if (found !== undefined) expect(correctFilter(found)).toBeUndefined()
    }),
    { numRuns: cases(3000) },
  )
})

test('a filter that is right as it is has no correction', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      isOurs(filter)
      expect(correctFilter(filter)).toBeUndefined()
    }),
  )
})

describe('what another language says chooses the same records when it is said in ours', () => {
  test.each<[string, (filter: Filter) => unknown]>([
    ['SQL', sql],
    ['PocketBase', pocketbase],
    ['PostgREST', (filter) => ('field' in filter ? `and(${postgrest(filter)})` : postgrest(filter))],
    ['NocoDB', nocodb],
    ['Mongo', mongo],
    ['our own as a text', (filter) => JSON.stringify(filter)],
  ])('%s', (_, print) => {
    fc.assert(
      fc.property(filters.filter(isSaidBy(print)), (filter) => {
        const found = correctFilter(print(filter))
        expect(found, JSON.stringify(print(filter))).toBeDefined()
        expect(chosen(found)).toEqual(chosen(filter))
      }),
    )
  })

  test('Airtable, for which the empty text is nothing', () => {
    fc.assert(
      fc.property(
        filters.filter((filter) => !JSON.stringify(filter).includes('""')),
        (filter) => {
          const found = correctFilter(airtable(filter))
          expect(found, airtable(filter)).toBeDefined()
          expect(chosen(found)).toEqual(chosen(filter))
        },
      ),
    )
  })

  test('a Mongo filter of any form, by what Mongo does', () => {
    fc.assert(
      fc.property(mongoFilters, (filter) => {
        const found = correctFilter(filter)
        expect(found, JSON.stringify(filter)).toBeDefined()
        expect(chosen(found)).toEqual(ROWS.filter((row) => holdsInMongo(filter, row)).map(({ id }) => id))
      }),
    )
  })
})

/** Where the print is the filter itself there is nothing to correct. */
function isSaidBy(print: (filter: Filter) => unknown) {
  return (filter: Filter) => JSON.stringify(print(filter)) !== JSON.stringify(filter)
}

test('the names of the properties stay what they are', () => {
  for (const field of FIELDS) expect(correctFilter(`${field} = 1`)).toEqual({ field, op: 'eq', value: 1 })
})
