import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import type { Answer, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const PER_MINUTE = 60
let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: String(PER_MINUTE) })
})
afterAll(() => world.close())

/** Sends more requests than the limit; returns those that were refused. */
async function spend(call: Call): Promise<Answer[]> {
  const answers = await Promise.all(times(PER_MINUTE + 20, () => call('GET', '/v1/bases?limit=1')))
  return answers.filter((answer) => answer.status === 429)
}

describe('The rate limit of a token', () => {
  test('is in the headers of every answer, errors included', async () => {
    const { call } = await world.newToken([{ permission: 'read' }])
    for (const [index, path] of [
      '/v1/bases',
      '/v1/bases/none',
      '/v1/no/such/route',
      '/v1/bases?lmit=1',
    ].entries()) {
      const { headers } = await call('GET', path)
      expect(headers.get('ratelimit-policy')).toBe('"token";q=60;w=60')
      expect(headers.get('ratelimit')).toMatch(/^"token";r=\d+;t=\d+$/)
      expect(headers.get('x-ratelimit-limit')).toBe('60')
      const remaining = Number(headers.get('x-ratelimit-remaining'))
      expect(remaining).toBeGreaterThanOrEqual(PER_MINUTE - 1 - index)
      expect(remaining).toBeLessThanOrEqual(PER_MINUTE - 1)
      expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(0)
      expect(headers.get('ratelimit')).toContain(`r=${remaining};`)
    }
  })

  test('refuses requests with 429 and Retry-After, without effect, and accepts them after that time', {
    tags: 'full',
  }, async () => {
    const { call } = await world.newToken([{ permission: 'admin' }])
    const refused = await spend(call)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThanOrEqual(20)
    for (const answer of refused) {
      expectFailure(answer, 'RATE_LIMITED')
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0')
    }
    await spend(call)
    const write = await call('PUT', '/v1/crm/record-types/limited', {})
    if (write.status === 429)
      expectFailure(await world.call('GET', '/v1/crm/record-types/limited'), 'NOT_FOUND')
    await sleep(1000 * Number(refused[0]?.headers.get('retry-after')) + 100)
    expect((await call('GET', '/v1/bases?limit=1')).status).toBe(200)
  })

  test('does not affect another token or the health checks', { tags: 'full' }, async () => {
    const [busy, calm] = [
      await world.newToken([{ permission: 'read' }]),
      await world.newToken([{ permission: 'read' }]),
    ]
    expect((await spend(busy.call)).length).toBeGreaterThan(0)
    succeed(await calm.call('GET', '/v1/bases'))
    for (const path of ['/healthz', '/readyz']) succeed(await busy.call('GET', path))
  })
})

test('an address with repeated failed authentication is 429, but valid tokens are served', {
  tags: 'full',
}, async () => {
  const stranger = world.as('plt_wrong')
  const answers: Answer[] = []
  for (let i = 0; i < 8; i++)
    answers.push(...(await Promise.all(times(50, () => stranger('GET', '/v1/bases')))))
  const refused = answers.filter((answer) => answer.status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(answers.filter((answer) => answer.status === 401).length).toBeGreaterThanOrEqual(300)
  expectFailure(refused[0] as Answer, 'RATE_LIMITED')
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
  const { call } = await world.newToken([{ permission: 'read' }])
  succeed(await call('GET', '/v1/bases'))
})

test('each message of an MCP batch counts as a request', { tags: 'full' }, async () => {
  const { call } = await world.newToken([{ permission: 'read' }])
  const messages = (count: number) => times(count, (id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))
  const headers = { accept: 'application/json, text/event-stream' }
  const first = await call('POST', '/mcp', messages(40), headers)
  expect(first.status).toBe(200)
  expect(first.body).toHaveLength(40)
  expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThanOrEqual(PER_MINUTE - 40 + 10)
  const refused = await call('POST', '/mcp', messages(40), headers)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(refused.body.error.data.error.code).toBe('RATE_LIMITED')
})

test('a batch of operations counts as one request', { tags: 'full' }, async () => {
  const { call } = await world.newToken([{ permission: 'admin' }])
  succeed(await call('PUT', '/v1/crm/record-types/counted', {}), 201)
  const operations = times(50, (n) => ({ type: 'create_record', record_type: 'counted', data: { n } }))
  const { headers } = await call('POST', '/v1/crm/batch', { operations })
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(PER_MINUTE - 5)
})

test('without a rate limit answers have no rate limit headers', { tags: 'full' }, async () => {
  const free = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  try {
    const answers: Answer[] = []
    for (let round = 0; round < 5; round++)
      answers.push(...(await Promise.all(times(60, () => free.call('GET', '/v1/bases/none')))))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([404]))
    expect([...(answers[0]?.headers.keys() ?? [])].filter((name) => name.includes('ratelimit'))).toEqual([])
  } finally {
    await free.close()
  }
})
