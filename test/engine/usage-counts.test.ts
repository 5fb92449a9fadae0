import { expect, test } from 'vitest'
import type { MadeCall } from '../../src/engine/log/calls/made-call.ts'
import { UsageCounts } from '../../src/engine/log/calls/usage-counts.ts'
import { LIMITS } from '../../src/foundation/limits.ts'

const callOf = (token: string, tool: string, more: Partial<MadeCall> = {}): MadeCall => ({
  baseId: 'crm',
  actor: { tokenId: token, name: token },
  via: 'mcp',
  surface: 'mcp',
  endpoint: null,
  tool,
  route: null,
  requestId: 'r',
  callId: '1',
  outcome: 'ok',
  message: null,
  ms: 1.5,
  bytesIn: 10,
  bytesOut: 20,
  arguments: {},
  wrote: false,
  changes: 0,
  ...more,
})

test('one token takes a part of the room only, and what is left out is counted', () => {
  const counts = new UsageCounts()
  for (let n = 0; n < LIMITS.usageRowsOfToken + 7; n++) counts.add(callOf('loud', `tool_${n}`))
  counts.add(callOf('calm', 'read'))
  counts.add(callOf('loud', 'tool_0'))
  expect(counts.dropped).toBe(7)
  const rows = counts.take().map(([, row]) => row)
  expect(rows).toHaveLength(LIMITS.usageRowsOfToken + 1)
  expect(rows.find(({ token_id }) => token_id === 'calm')).toMatchObject({ calls: 1, reads: 1 })
  expect(rows[0]).toMatchObject({ tool: 'tool_0', calls: 2, bytes_in: 20, bytes_out: 40, ms: 3 })
  expect(counts.take()).toEqual([])
})

test('all tokens together take so much room', () => {
  const counts = new UsageCounts()
  for (let n = 0; n < LIMITS.usageRows + 5; n++) counts.add(callOf(`t${n}`, 'read'))
  expect(counts.dropped).toBe(5)
  expect(counts.take()).toHaveLength(LIMITS.usageRows)
})

test('what could not be stored is added to what came meanwhile', () => {
  const counts = new UsageCounts()
  counts.add(callOf('a', 'read'))
  counts.add(callOf('b', 'read', { outcome: 'NOT_FOUND' }))
  const taken = counts.take()
  counts.add(callOf('a', 'read'))
  counts.putBack(taken)
  expect(counts.take().map(([, { token_id, calls, failed }]) => [token_id, calls, failed])).toEqual([
    ['a', 2, 0],
    ['b', 1, 1],
  ])
})

test('names that nothing has are not kept apart', () => {
  const counts = new UsageCounts()
  counts.add(callOf('a', 'no_such_tool', { outcome: '-32602' }))
  counts.add(callOf('a', 'update_ticket', { outcome: 'NOT_FOUND' }))
  for (const endpoint of ['x', 'y'])
    counts.add({ ...callOf('a', ''), tool: null, endpoint, outcome: 'NOT_FOUND' })
  expect(counts.take().map(([, { tool, endpoint, failed }]) => [tool, endpoint, failed])).toEqual([
    ['', '', 3],
    ['update_ticket', '', 1],
  ])
})
