// @module-tag full
/** Unsent answers are bounded: a client that stops reading is disconnected, and pending bytes are counted. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unsentOn } from '../../../src/config/read-config.ts'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

const MIB = 1024 ** 2
const PATIENT = { timeout: 20_000, interval: 200 }

/** Sends a request over its own socket and reads only the first bytes of the answer. */
async function askAndStop(
  url: string,
  token: string,
  path: string,
): Promise<{ socket: Socket; head: string }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: plinth\r\nauthorization: Bearer ${token}\r\n\r\n`)
  const head = await new Promise<string>((resolve) =>
    socket.once('data', (data: Buffer) => {
      socket.pause()
      resolve(data.toString('latin1', 0, 15))
    }),
  )
  return { socket, head }
}

/** Creates records whose list exceeds the socket buffers of the kernel. */
async function largeList(world: World): Promise<string> {
  const at = `/v1/crm/records/${await world.newType()}`
  for (const n of times(20, (i) => i))
    succeed(await world.call('PUT', `${at}/r${n}`, { data: { text: 'é'.repeat(MIB / 2 - 20) } }), 201)
  return `${at}?limit=1000`
}

/** The server of the first tests; those of the others use its database. */
let first: World
let path: string
beforeAll(async () => {
  first = await openWorld({ PLINTH_MAX_UNSENT_BYTES_PER_TOKEN: String(20 * MIB) })
  path = await largeList(first)
})
afterAll(() => first.close())

describe('When unsent answers of a token exceed its limit', () => {
  test('its large reads are 429 until the answers are dropped, and other tokens are served', async () => {
    const world = first
    const reader = await world.newToken([{ permission: 'read' }])
    const other = await world.newToken([{ permission: 'read' }])
    const { socket, head } = await askAndStop(world.url, reader.token, path)
    expect(head).toBe('HTTP/1.1 200 OK')
    const refused = await reader.call('GET', path)
    expect(expectFailure(refused, 'RATE_LIMITED').details[0].code).toBe('unread_answers')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    succeed(await reader.call('GET', `${path}&limit=1`.replace('limit=1000&', '')))
    expect(succeed(await other.call('GET', path)).meta).toMatchObject({ has_more: true, truncated: true })
    socket.destroy()
    await expect.poll(async () => (await reader.call('GET', path)).status, PATIENT).toBe(200)
  })
})

describe('When unsent answers of the process exceed its limit', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ PLINTH_MAX_UNSENT_BYTES: String(20 * MIB) }, first.database)
  })
  afterAll(() => world.close())

  test('large reads of every token are 429, and small ones are served', async () => {
    const reader = await world.newToken([{ permission: 'read' }])
    const { socket } = await askAndStop(world.url, reader.token, path)
    const refused = await world.call('GET', path)
    expect(expectFailure(refused, 'RATE_LIMITED').details[0].code).toBe('unsent_answers')
    succeed(await world.call('GET', '/v1/bases'))
    socket.destroy()
    await expect.poll(async () => (await world.call('GET', path)).status, PATIENT).toBe(200)
  })

  test('answers that no page bounds are 429 too, and what was written is answered', async () => {
    const type = /records\/(\w+)/.exec(path)?.[1]
    const select = { query: `SELECT id, data FROM "${type}" LIMIT 8` }
    const rewrite = `UPDATE "${type}" SET data = jsonb_set(data, '{n}', '1') WHERE id < 'r2' RETURNING id, data`
    const [alone] = succeed(await world.call('POST', '/v1/crm/sql', select)).data
    expect(Buffer.byteLength(JSON.stringify(alone))).toBeGreaterThan(MIB - 100)
    const reader = await world.newToken([{ permission: 'read' }])
    const { socket } = await askAndStop(world.url, reader.token, path)
    const refused = await world.call('POST', '/v1/crm/sql', select)
    expect(expectFailure(refused, 'RATE_LIMITED').details[0].code).toBe('unsent_answers')
    const written = await world.call('POST', '/v1/crm/sql/execute', { statements: rewrite })
    expect(succeed(written).meta.count).toBeGreaterThan(8)
    expect(written.text.length).toBeGreaterThan(4 * MIB)
    socket.destroy()
    await expect.poll(async () => (await world.call('POST', '/v1/crm/sql', select)).status, PATIENT).toBe(200)
  })
})

describe('A client that stops reading its answer', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ PLINTH_SEND_TIMEOUT_MS: '4000' }, first.database)
  })
  afterAll(() => world.close())

  test('is disconnected, whereas a slow client receives the whole answer', {}, async () => {
    const stopped = await askAndStop(world.url, world.adminToken, path)
    const slow = await askAndStop(world.url, world.adminToken, path)
    let taken = 0
    let pauses = 0
    slow.socket.on('data', (data: Buffer) => {
      taken += data.length
      // Reads slowly for longer than the send timeout, then the rest at once.
      if (++pauses > 40) return
      slow.socket.pause()
      setTimeout(() => slow.socket.resume(), 150)
    })
    slow.socket.resume()
    await expect.poll(() => taken, PATIENT).toBeGreaterThan(14.9 * MIB)
    // The other client has not read since. Its close arrives after the bytes in the socket buffer.
    await sleep(1000)
    const ended = new Promise<number>((resolve) => {
      let rest = 0
      stopped.socket.on('data', (data: Buffer) => {
        rest += data.length
      })
      stopped.socket.once('close', () => resolve(rest))
    })
    stopped.socket.resume()
    expect(await ended).toBeLessThan(14 * MIB)
    expect(slow.socket.destroyed).toBe(false)
    slow.socket.destroy()
  })
})

test('small machines keep fewer unsent bytes, and always two answers', () => {
  expect([24 * 1024, 1024, 128].map((machine) => unsentOn(machine * MIB) / MIB)).toEqual([256, 128, 32])
})
