/** What a proposal means field by field, and the repairs that the page offers, without a browser. */
import { describe, expect, test } from 'vitest'
import { fixesOf } from '../../web/src/pages/review/schema.ts'
import { applied, fieldRows } from '../../web/src/parts/schema.ts'

type Definition = Parameters<typeof fieldRows>[0]
type Step = Parameters<typeof applied>[1][number]
const ticket = (properties: object, required: string[] = []) =>
  ({ json_schema: { type: 'object', properties, required } }) as NonNullable<Definition>

describe('steps', () => {
  test('apply to lists by their places, and to names with signs', () => {
    const before = { list: [1, 2, 3], 'a/b': { 'c~d': 1 } }
    const steps: Step[] = [
      { op: 'remove', path: '/list/0' },
      { op: 'add', path: '/list/-', value: 4 },
      { op: 'add', path: '/list/1', value: 9 },
      { op: 'replace', path: '/a~1b/c~0d', value: 2 },
    ]
    expect(applied(before, steps)).toEqual({ list: [2, 9, 3, 4], 'a/b': { 'c~d': 2 } })
    expect(before.list).toEqual([1, 2, 3])
  })

  test('about another state give nothing, and touch no prototype', () => {
    expect(applied({}, [{ op: 'add', path: '/gone/name', value: 1 }])).toBeUndefined()
    expect(applied({ list: [] }, [{ op: 'replace', path: '/list/7', value: 1 }])).toBeUndefined()
    expect(applied({}, [{ op: 'add', path: '/constructor/prototype/x', value: 1 }])).toBeUndefined()
    expect(applied({}, [{ op: 'add', path: '/__proto__', value: { x: 1 } }])).not.toHaveProperty('x')
  })
})

test('a field is shown where its schema or its need changes', () => {
  const before = ticket({ same: { type: 'string' }, gone: {}, needed: { type: 'string' } })
  const after = ticket({ same: { type: 'string' }, fresh: {}, needed: { type: 'string' } }, ['needed'])
  expect(fieldRows(before, after).map(({ name }) => name)).toEqual(['gone', 'needed', 'fresh'])
})

describe('records that would not fit', () => {
  const broken = (path: string, message = '', hint?: string) => ({
    path: '/record_type/ticket/json_schema',
    code: 'records_invalid',
    message: '',
    ...(hint !== undefined && { hint }),
    samples: [{ id: 'a', path, message }],
  })
  const levels = ['low', 'normal', 'high']
  test.each<[string, ReturnType<typeof broken>, Definition, Definition, object[]]>([
    [
      'with a value that goes, get the next one',
      broken('/data/level'),
      ticket({ level: { enum: levels }, other: { enum: levels } }),
      ticket({ level: { enum: ['normal', 'high'] }, other: { enum: ['low'] } }),
      [{ kind: 'replace', field: 'data.level', from: 'low', choices: ['normal', 'high'], first: 'normal' }],
    ],
    [
      'with the last value, get the one before',
      broken('/data/level'),
      ticket({ level: { enum: levels } }),
      ticket({ level: { enum: ['low', 'normal'] } }),
      [{ kind: 'replace', field: 'data.level', from: 'high', choices: ['low', 'normal'], first: 'normal' }],
    ],
    [
      'without what is needed, get a value of the list',
      broken('/data', '"level" is required.'),
      ticket({}),
      ticket({ level: { enum: levels } }, ['level']),
      [{ kind: 'default', field: 'data.level', schema: { enum: levels }, choices: levels, first: 'low' }],
    ],
    [
      'without what is needed, get a value that is typed',
      broken('/data/name'),
      ticket({ name: { type: 'string' } }),
      ticket({ name: { type: 'string' } }, ['name']),
      [{ kind: 'default', field: 'data.name', schema: { type: 'string' }, choices: [] }],
    ],
    [
      'of another type, are turned into it',
      broken('/data/count'),
      ticket({ count: { type: 'string' } }),
      ticket({ count: { type: 'integer' } }),
      [{ kind: 'cast', field: 'data.count', type: 'integer' }],
    ],
    [
      'with a field that goes, lose it',
      broken('/data/old'),
      ticket({ old: {} }),
      ticket({}),
      [{ kind: 'drop', field: 'data.old' }],
    ],
    [
      'repeat what the preview did',
      broken(
        '/data/b',
        '',
        'Repeat the migration of the preview: "migration": {"ticket":[{"op":"rename","field":"data.a","to":"data.b"}]}',
      ),
      ticket({ a: {} }),
      ticket({ b: {} }, ['b']),
      [{ kind: 'repeat', steps: [{ op: 'rename', field: 'data.a', to: 'data.b' }] }],
    ],
    [
      'with a text that is too long, are left to people',
      broken('/data/s'),
      ticket({ s: { type: 'string' } }),
      ticket({ s: { type: 'string', maxLength: 2 } }),
      [],
    ],
  ])('%s', (_, fault, before, after, expected) => {
    expect(fixesOf(fault, before, after)).toEqual(expected)
  })
})
