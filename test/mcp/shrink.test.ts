import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shrink, shrinkParts, sizeOf } from '../../src/mcp/budget/truncate-json.ts'
import { cases } from '../support/cases.ts'

const cut = (value: unknown, room: number) => {
  const paths: string[] = []
  return { value: shrink({ value, path: '' }, room, paths), paths }
}

/** Whether each value of `part` equals the value of `whole` or is a prefix of it. */
function isStartOf(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string' && typeof whole === 'string') return whole.startsWith(part)
  if (Array.isArray(part) && Array.isArray(whole))
    return part.length <= whole.length && part.every((item, i) => isStartOf(item, whole[i]))
  if (typeof part !== 'object' || part === null) return Object.is(part, whole)
  const of = whole as Record<string, unknown>
  return Object.entries(part).every(([name, value]) => Object.hasOwn(of, name) && isStartOf(value, of[name]))
}

describe('JSON cut to a size', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
  )
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 8 }),
    object: fc.dictionary(fc.string({ maxLength: 12 }), tie('value'), { maxKeys: 8 }),
  })).object

  test('fits, has a prefix of each original value, and reports a path exactly if it was cut', {
    tags: 'sampled',
  }, () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 2, max: 3000 }), (whole, room) => {
        const { value, paths } = cut(whole, room)
        expect(sizeOf(value)).toBeLessThanOrEqual(Math.max(room, 2))
        expect(isStartOf(value, whole)).toBe(true)
        expect(paths.length > 0).toBe(sizeOf(whole) > room)
        if (paths.length === 0) expect(value).toEqual(whole)
      }),
      { numRuns: cases(500) },
    )
  })

  test('divides the size so that short values stay complete', () => {
    const long = 'x'.repeat(1000)
    const { value, paths } = cut({ a: long, b: 'short', c: long, d: [1, 2, 3] }, 600)
    expect(value).toMatchObject({ b: 'short', d: [1, 2, 3] })
    expect(paths).toEqual(['/a', '/c'])
    const { a, c } = value as { a: string; c: string }
    expect(Math.abs(a.length - c.length)).toBeLessThanOrEqual(1)
  })

  test('keeps ids, and cuts no character in two', () => {
    const id = 'i'.repeat(128)
    const { value } = cut({ id, text: '🏔'.repeat(500) }, 301)
    const { id: kept, text } = value as { id: string; text: string }
    expect(kept).toBe(id)
    expect(text).toBe('🏔'.repeat(text.length / 2))
  })

  test('divides the size among several values', () => {
    const parts = ['a', 'b'].map((path) => ({ path, value: { text: path.repeat(1000) } }))
    const paths: string[] = []
    const values = shrinkParts(parts, 400, paths)
    expect(sizeOf(values[0]) + sizeOf(values[1])).toBeLessThanOrEqual(400)
    expect(paths).toEqual(['a/text', 'b/text'])
  })
})
