// @module-tag full
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer, type TestServer } from '../support/server.ts'

const DEMO = fileURLToPath(new URL('../demo/run.ts', import.meta.url))

let server: TestServer
beforeAll(async () => {
  // With its limit, which the demo has to live with.
  server = await openServer({ PLINTH_RATE_LIMIT: '6000' })
})
afterAll(() => server.close())

async function runDemo(): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [DEMO], {
    env: { PATH: process.env['PATH'], PLINTH_URL: server.url, PLINTH_TOKEN: server.adminToken },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...said }
}

test('the demo fills a base with the countries of the world, once', async () => {
  const first = await runDemo()
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toContain('250 countries created, 0 updated, 0 unchanged')
  expect(first.out).toContain('create_country')
  expect(first.out).not.toContain(server.adminToken)

  const second = await runDemo()
  expect(second.out).toContain('0 countries created, 0 updated, 250 unchanged')

  const { body } = await server.call('GET', '/v1/world/records/country/JPN')
  expect(body).toMatchObject({
    external_id: 'JPN',
    external_source: 'world-countries',
    version: 1,
    data: {
      name: { native: { jpn: { common: '日本' } } },
      translations: { ara: { common: 'اليابان' } },
      flag: '🇯🇵',
    },
  })
})

test('its countries are found by what is inside them', async () => {
  const filter = {
    and: [
      { field: 'data.region', op: 'eq', value: 'Oceania' },
      { field: 'data.landlocked', op: 'eq', value: true },
    ],
  }
  const found = await server.call(
    'GET',
    `/v1/world/records/country?filter=${encodeURIComponent(JSON.stringify(filter))}`,
  )
  expect(found).toMatchObject({ status: 200, body: { data: [], meta: { has_more: false } } })
  const islands = encodeURIComponent(JSON.stringify(filter.and[0]))
  const { body } = await server.call(
    'GET',
    `/v1/world/records/country?filter=${islands}&limit=3&include_total=true`,
  )
  expect(body.meta).toMatchObject({ has_more: true, total: 27 })
})
