import { get, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  const operations = times(200, (n) => ({
    type: 'create_record',
    record_type: 'note',
    data: { n, text: 'é'.repeat(200) },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  succeed(await world.call('PUT', '/v1/crm/records/note/long', { data: { text: 'x'.repeat(5000) } }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/note/short', { data: {} }), 201)
})
afterAll(() => world.close())

type Raw = {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}
/** The undecoded body of an answer; `fetch` would decode it. */
const ask = (path: string, encoding: string | undefined, more: Record<string, string> = {}, method = 'GET') =>
  new Promise<Raw>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${world.adminToken}`,
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
      ...more,
    }
    request(world.url + path, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })

const LIST = '/v1/crm/records/note?limit=200&sort=id'
const LONG = '/v1/crm/records/note/long'

test.each([LIST, LONG])(
  '%s is compressed when Accept-Encoding allows it, and decodes to the uncompressed bytes',
  async (path) => {
    const plain = await ask(path, undefined)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(Number(plain.headers['content-length'])).toBe(plain.bytes.length)
    const gzip = await ask(path, 'gzip, deflate, br')
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gzip.headers['vary']).toMatch(/accept-encoding/i)
    expect(gzip.bytes.length).toBeLessThan(plain.bytes.length / 4)
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true)
    const br = await ask(path, 'br')
    expect(br.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true)
    for (const refused of ['identity', 'zstd', 'gzip;q=0', ''])
      expect((await ask(path, refused)).bytes.equals(plain.bytes), refused).toBe(true)
  },
)

test('short answers, 304 and HEAD answers are not compressed', async () => {
  const short = await ask('/v1/crm/records/note/short', 'gzip')
  expect(short.headers).not.toHaveProperty('content-encoding')
  const fresh = await ask(LONG, 'gzip', { 'if-none-match': '"1"' })
  expect([fresh.status, fresh.bytes.length]).toEqual([304, 0])
  expect((await ask(LONG, 'gzip')).headers['etag']).toBe('"1"')
  const head = await ask(LONG, 'gzip', {}, 'HEAD')
  expect([head.status, head.bytes.length]).toEqual([200, 0])
  expect(head.headers).not.toHaveProperty('content-length')
  const plain = await ask(LONG, undefined)
  expect((await ask(LONG, undefined, {}, 'HEAD')).headers['content-length']).toBe(
    plain.headers['content-length'],
  )
})

test('error answers are compressed', async () => {
  const refused = await ask(`/v1/crm/records/note?${times(20, (n) => `unknown_${n}=1`).join('&')}`, 'gzip')
  expect(refused.status).toBe(400)
  expect(JSON.parse(gunzipSync(refused.bytes).toString()).error.code).toBe('VALIDATION_ERROR')
})

test('an event stream is not compressed, so that each event is sent at once', async () => {
  const headers = { authorization: `Bearer ${world.adminToken}`, 'accept-encoding': 'gzip, br' }
  await new Promise<void>((resolve, reject) => {
    get(`${world.url}/v1/crm/changes/stream?after=0`, { headers }, (answer) => {
      expect(answer.headers).not.toHaveProperty('content-encoding')
      answer.once('data', (chunk: Buffer) => {
        expect(chunk.toString()).toMatch(/^retry: /)
        answer.destroy()
        resolve()
      })
    }).on('error', reject)
  })
})
