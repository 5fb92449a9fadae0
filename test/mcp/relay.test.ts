import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import type { Door } from '../support/mcp-drivers.ts'
import { PEERS, type Peer } from '../support/mcp-peer.ts'
import { openServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let server: TestServer
let peer: Peer

beforeAll(async () => {
  database = await cloneDatabase()
  server = await openServer({}, database)
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/crm/record-types/task', {})
})
afterAll(async () => {
  await server.close()
  await database.drop()
})
afterEach(() => peer.close())

const put = (id: string, n: number) => server.call('PUT', `/v1/crm/records/task/${id}`, { data: { n } })
const uriOf = (id: string) => `plinth://crm/records/task/${id}`
const told = () => peer.heard.map(({ method, params }) => params?.uri ?? method)

describe.each(['legacy', 'modern'] as const)('a %s client of the stdio relay', (era) => {
  beforeAll(async () => {
    await put('a', 1)
    await put('b', 1)
  })
  const open = async () => {
    const door: Door = { way: 'stdio', url: server.url, token: server.adminToken, base: 'crm' }
    peer = await PEERS[era](door, {})
    await peer.follow(uriOf('a'))
  }

  test('is notified of the subscribed record, and of changed tools when a type is created', {
    tags: 'full',
  }, async () => {
    await open()
    await put('b', 2)
    await put('a', 2)
    await until(() => told().length === 1)
    await server.call('PUT', `/v1/crm/record-types/${era}`, {})
    await until(() => told().includes('notifications/tools/list_changed'))
    expect(told().filter((each) => each.startsWith('plinth:'))).toEqual([uriOf('a')])
    const { tools } = await peer.request('tools/list')
    expect(tools.map(({ name }: { name: string }) => name)).toContain(`create_${era}`)
  })
})

test('a legacy client of the stdio relay keeps its subscription after a restart of the server', {
  tags: 'full',
}, async () => {
  await put('a', 1)
  const door: Door = { way: 'stdio', url: server.url, token: server.adminToken, base: 'crm' }
  peer = await PEERS.legacy(door, {})
  await peer.follow(uriOf('a'))
  await put('a', 2)
  await until(() => told().length === 1)
  const { port } = new URL(server.url)
  await server.close()
  server = await openServer({ PLINTH_PORT: port }, database)
  expect((await peer.request('tools/list')).tools.length).toBeGreaterThan(10)
  // The relay opens the stream of the new session some time after the session.
  for (let n = 3; told().length === 1; n++) {
    await put('a', n)
    await sleep(20)
  }
  expect(told()).toContain(uriOf('a'))
})
