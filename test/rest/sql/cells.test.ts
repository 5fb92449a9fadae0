// @module-tag full
/** An SQL value of megabytes is parsed like a short one, without blocking other requests. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_SQL_TIMEOUT_MS: '60000' })
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(() => world.close())

const cell = async (expression: string, params?: unknown[]): Promise<Body> =>
  succeed(await world.call('POST', '/v1/crm/sql', { query: `SELECT ${expression} AS v`, params })).data[0].v
/** A subquery over ten thousand values, repeated `times`. */
const series = (value: string, times = 1) =>
  `(SELECT ${value} FROM generate_series(1, 10000) AS i, generate_series(1, ${times}) AS j)`

test('numbers that a double cannot represent are strings in long JSON values of SQL', {
  tags: 'full',
}, async () => {
  const long = await cell(
    series(
      `jsonb_agg(jsonb_build_object('i', i, 'n', 9007199254740993, 't', '9007199254740993"', 'x', 1.5))`,
    ),
  )
  expect(long).toHaveLength(10_000)
  expect(long[9_999]).toEqual({ i: 10_000, n: '9007199254740993', t: '9007199254740993"', x: 1.5 })
  expect(await cell(series(`json_agg('1e400'::json)`))).toEqual(times(10_000, () => '1e400'))
  const own = await cell('$1::jsonb', [`{"__proto__": {"a": 1}, "b": "${'x'.repeat(100_000)}"}`])
  expect(Object.keys(own).sort()).toEqual(['__proto__', 'b'])
})

test('long SQL arrays are parsed correctly for every type of item', async () => {
  expect(await cell(series('array_agg(i + 1000000)'))).toEqual(times(10_000, (i) => i + 1_000_001))
  const texts = await cell(series(`array_agg(CASE WHEN i % 2 = 0 THEN NULL ELSE '{,"\\' || i END)`))
  expect(texts.slice(0, 3)).toEqual(['{,"\\1', null, '{,"\\3'])
  expect(texts).toHaveLength(10_000)
  expect(await cell(series('array_agg(ARRAY[i, i])'))).toEqual(times(10_000, (i) => [i + 1, i + 1]))
})

/** Processor time of the main thread; older versions of Node have that of the process only. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage

/** The most processor time, in ms, between two turns of the event loop while the work goes on. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let last = cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = cpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = cpuUsage()
  }, 10)
  await work()
  clearInterval(timer)
  return longest
}

test('a large SQL value does not block the event loop', { tags: 'full' }, async () => {
  const longest = await longestTurn(async () => {
    expect(await cell(series('array_agg(i % 10)', 400))).toHaveLength(4_000_000)
  })
  expect(longest).toBeLessThan(700)
})
