import { expect, test } from 'vitest'
import { estimateTokens } from '../../src/mcp/budget/fit.ts'

test('tokens are estimated from UTF-8 bytes', () => {
  expect(estimateTokens({ a: 1 })).toBe(2)
  expect(estimateTokens('äöü')).toBe(2)
  expect(estimateTokens(undefined)).toBe(0)
})
