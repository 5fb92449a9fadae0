import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BodyRoom, roomFor } from '../../../src/http/large-bodies.ts'
import { succeed } from '../../support/answers.ts'
import { openServer, type TestServer } from '../../support/server.ts'

const MB = 1024 * 1024

describe('The memory budget of large bodies', () => {
  test('admits bodies while it has room, then in order of arrival', () => {
    const room = new BodyRoom(10)
    const admitted: string[] = []
    const take = (token: string, bytes: number, name: string) =>
      room.take(token, bytes, () => void admitted.push(name))
    const first = take('a', 6, 'first')
    const second = take('b', 4, 'second')
    take('c', 4, 'third')
    const fourth = take('d', 4, 'fourth')
    expect(admitted).toEqual(['first', 'second'])
    second()
    expect(admitted).toEqual(['first', 'second', 'third'])
    fourth()
    first()
    expect(admitted).toEqual(['first', 'second', 'third'])
  })

  test('gives one token at most half of it, or one body', () => {
    const room = new BodyRoom(10)
    const admitted: string[] = []
    const take = (token: string, bytes: number, name: string) =>
      room.take(token, bytes, () => void admitted.push(name))
    const end = take('greedy', 3, 'greedy 1')
    take('greedy', 3, 'greedy 2')
    take('modest', 7, 'modest')
    expect(admitted).toEqual(['greedy 1', 'modest'])
    end()
    expect(admitted).toEqual(['greedy 1', 'modest', 'greedy 2'])
  })

  test('releases a body once, although it is released twice', () => {
    const room = new BodyRoom(10)
    let admitted = 0
    const end = room.take('a', 10, () => void admitted++)
    end()
    end()
    room.take('b', 10, () => void admitted++)
    room.take('c', 1, () => void admitted++)
    expect(admitted).toBe(2)
  })

  test('depends on the memory of the machine, and has room for one body of the largest size', () => {
    expect(roomFor(10 * MB, 24 * 1024 * MB)).toBe(128 * MB)
    expect(roomFor(10 * MB, 1024 * MB)).toBe(16 * MB)
    expect(roomFor(40 * MB, 1024 * MB)).toBe(40 * MB)
  })
})

describe('A server under load of large bodies', () => {
  let server: TestServer
  const open: Socket[] = []
  beforeAll(async () => {
    // With this limit one body of the largest size fills the whole budget.
    server = await openServer({ PLINTH_MAX_BODY_BYTES: String(1024 * MB) })
    succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
    succeed(await server.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  })
  afterAll(async () => {
    for (const socket of open) socket.destroy()
    await server.close()
  })

  /** Sends a request whose body never completes. */
  async function park(bytes: number): Promise<Socket> {
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    open.push(socket)
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(
      `POST /v1/crm/batch HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${server.adminToken}\r\n` +
        `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n{`,
    )
    await sleep(200)
    return socket
  }
  const text = 'x'.repeat(800_000)
  const large = (id: string) => ({
    operations: [{ type: 'upsert_record', record_type: 'deal', id, data: { text } }],
  })

  test('lets a large body wait for room, and serves small ones', { tags: 'full' }, async () => {
    const parked = await park(1000 * MB)
    let isAnswered = false
    const waiting = server.call('POST', '/v1/crm/batch', large('waited')).then((answer) => {
      isAnswered = true
      return answer
    })
    expect((await server.call('PUT', '/v1/crm/records/deal/small', { data: {} })).status).toBe(201)
    await sleep(200)
    expect(isAnswered).toBe(false)
    parked.destroy()
    expect((await waiting).status).toBe(200)
  })

  test('refuses a large body with 429 after a wait, and writes nothing of it', {
    tags: 'full',
  }, async () => {
    const parked = await park(1000 * MB)
    const answer = await server.call('POST', '/v1/crm/batch', large('refused'))
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.body.error.details[0].code).toBe('busy')
    parked.destroy()
    expect((await server.call('GET', '/v1/crm/records/deal/refused')).status).toBe(404)
    expect((await server.call('POST', '/v1/crm/batch', large('later'))).status).toBe(200)
  })

  test('keeps the room of those with a token and of those without apart', { tags: 'full' }, async () => {
    const parked = await park(1000 * MB)
    const answer = await server.as(null)('POST', '/inbound/default/crm/none/ingest', { text })
    expect(answer.status).toBe(401)
    parked.destroy()
  })
})
