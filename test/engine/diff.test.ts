import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { expect, test } from 'vitest'
import { type DiffStep, diffOf } from '../../src/engine/log/diff.ts'
import { cases } from '../support/cases.ts'

/** No document has a key `__proto__`, which is refused. */
const document = () =>
  fc
    .dictionary(
      fc.constantFrom('a', 'b', 'a/b', 'm~n', '', '0', 'ü'),
      fc.jsonValue({ maxDepth: 4, noUnicodeString: false }),
    )
    .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
const applied = (before: object, steps: readonly DiffStep[]) => {
  const holder = structuredClone({ held: before })
  const faults = applyPatch(
    holder,
    steps.map((step) => structuredClone({ ...step, path: `/held${step.path}` }) as Operation),
  )
  expect(faults.filter(Boolean)).toEqual([])
  return holder.held
}
const stored = (value: object): object => JSON.parse(JSON.stringify(value)) as object

test('a diff applied to the first of two documents gives the second', { tags: 'sampled' }, () => {
  fc.assert(
    fc.property(document(), document(), (one, other) => {
      const [before, after] = [stored(one), stored(other)]
      expect(applied(before, diffOf(before, after))).toEqual(after)
      expect(diffOf(before, structuredClone(before))).toEqual([])
    }),
    { numRuns: cases(200) },
  )
})

test('a diff from null adds the root, to null removes it, and between two nulls is empty', () => {
  expect(diffOf(null, { n: 1 })).toEqual([{ op: 'add', path: '', value: { n: 1 } }])
  expect(diffOf({ n: 1 }, null)).toEqual([{ op: 'remove', path: '' }])
  expect(diffOf(null, null)).toEqual([])
})

test('a diff of lists has no steps for the common start and end', () => {
  const before = { list: [1, 2, 3, 4] }
  expect(diffOf(before, { list: [1, 9, 2, 3, 4] })).toEqual([{ op: 'add', path: '/list/1', value: 9 }])
  expect(diffOf(before, { list: [1, 4] })).toEqual([
    { op: 'remove', path: '/list/2' },
    { op: 'remove', path: '/list/1' },
  ])
  expect(diffOf({ list: [{ n: 1 }, { n: 2 }] }, { list: [{ n: 1 }, { n: 3 }] })).toEqual([
    { op: 'replace', path: '/list/1/n', value: 3 },
  ])
})

test('two lists of 100,000 different items are compared in linear time', () => {
  const before = { list: Array.from({ length: 100_000 }, (_, i) => i) }
  const after = { list: Array.from({ length: 100_000 }, (_, i) => -i - 1) }
  expect(diffOf(before, after)).toEqual([{ op: 'replace', path: '/list', value: after.list }])
})

test('a diff is at most twice the size of the new document plus 16 KiB', () => {
  const long = 'k'.repeat(100_000)
  const list = (n: number) => Array.from({ length: 20_000 }, () => n)
  const cases: [object, object][] = [
    [{ data: { [long]: list(1) } }, { data: { [long]: list(2) } }],
    [
      { data: { [long]: list(1), kept: 1 }, a: 1 },
      { data: { [long]: {} }, b: 2 },
    ],
    [{ data: list(1) }, { data: list(2) }],
    [{ data: { list: list(1) }, gone: 1 }, { data: { list: [] } }],
    [{ data: { list: [] } }, { data: { list: list(1) }, more: 1 }],
  ]
  for (const [before, after] of cases) {
    const steps = diffOf(before, after)
    expect(applied(before, steps)).toEqual(after)
    expect(JSON.stringify(steps).length).toBeLessThan(2 * JSON.stringify(after).length + 17_000)
  }
})
