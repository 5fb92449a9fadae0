import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digest, digestInTurns } from '../src/contract/canonical-hash.ts'

test('digestInTurns returns the same digest as digest', async () => {
  const value = fc.anything({
    maxDepth: 8,
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
  })
  await fc.assert(
    fc.asyncProperty(value, async (value) => {
      const request = ['rest', value ?? null]
      expect(await digestInTurns(request)).toBe(digest(request))
    }),
    // Objects hold array indexes before other keys, and by number.
    { examples: [[{ 10: 1, 9: 2, '': 3 }]] },
  )
})

test('digestInTurns yields to the event loop for a large request', { tags: 'full' }, async () => {
  const record = Array.from({ length: 2000 }, (_, n) => ({ n, text: 'x' }))
  const operations = Array.from({ length: 200 }, (_, n) => ({ id: `r${n}`, data: { record } }))
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await digestInTurns(['rest', { operations }])
  over = true
  expect(turns).toBeGreaterThan(0)
})
