// @module-tag full
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { times } from '../support/answers.ts'
import { type Answer, openServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

const PAGES = ['/graphql', '/docs/', '/docs/js/scalar.js', '/openapi.json']
const HTML = { accept: 'text/html' }
/** The largest file of the playground. */
const { script: SCRIPT } = JSON.parse(
  readFileSync('src/graphql/endpoint/playground-files/manifest.json', 'utf8'),
) as { script: string }
/** The encoded bytes of the response; `fetch` would decode them. */
async function raw(path: string, headers: Record<string, string>, method = 'GET') {
  const socket = open(server.url)
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${named.join('')}\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const end = bytes.indexOf('\r\n\r\n')
  return { head: bytes.subarray(0, end).toString().toLowerCase(), body: bytes.subarray(end + 4) }
}
const open = (url: string): Socket => connect(Number(new URL(url).port), new URL(url).hostname)
const lengthIn = (head: string) => Number(/content-length: (\d+)/.exec(head)?.[1])

test.each([...PAGES, SCRIPT])(
  '%s has equal content in each encoding, with a Content-Length',
  async (path) => {
    const plain = await raw(path, { ...HTML, 'accept-encoding': 'identity' })
    const none = await raw(path, HTML)
    const gzip = await raw(path, { ...HTML, 'accept-encoding': 'gzip' })
    const br = await raw(path, { ...HTML, 'accept-encoding': 'gzip, deflate, br' })
    expect(none.body.equals(plain.body)).toBe(true)
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true)
    expect(gzip.head).toContain('content-encoding: gzip')
    expect(br.head).toContain('content-encoding: br')
    for (const { head, body } of [plain, none, gzip, br]) {
      expect(lengthIn(head)).toBe(body.length)
      expect(head).toContain('vary: accept-encoding')
    }
  },
)

test.each(PAGES)(
  '%s is 304 for a matching If-None-Match, and HEAD returns the length without a body',
  async (path) => {
    const first = await server.as(null)('GET', path, undefined, HTML)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]+"$/)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const again = await server.as(null)('GET', path, undefined, { ...HTML, 'if-none-match': etag })
    expect(again.status).toBe(304)
    expect(again.text).toBe('')
    const other = await server.as(null)('GET', path, undefined, { ...HTML, 'if-none-match': '"another"' })
    expect(other.status).toBe(200)
    const head = await raw(path, { ...HTML, 'accept-encoding': 'br' }, 'HEAD')
    const whole = await raw(path, { ...HTML, 'accept-encoding': 'br' })
    expect(head.body.length).toBe(0)
    expect(lengthIn(head.head)).toBe(whole.body.length)
  },
)

test('40 clients that do not read a script share its buffer', async () => {
  const path = '/docs/js/scalar.js'
  await server.as(null)('GET', path, undefined, HTML)
  const used = () => process.memoryUsage().rss
  const before = used()
  const sockets = times(40, () => open(server.url))
  const answered = await Promise.all(
    sockets.map(async (socket) => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n`)
      await new Promise((resolve) => socket.once('readable', resolve))
      return 1
    }),
  )
  expect(answered).toHaveLength(40)
  // A copy per client would take 360 MB.
  expect(used() - before).toBeLessThan(180e6)
  for (const socket of sockets) socket.destroy()
})

test('an address above the limit of page requests is 429, and requests with a token are served', async () => {
  const limited = await openServer({ PLINTH_RATE_LIMIT: '1200' })
  try {
    // The allowance refills with time, so a slow machine needs more than one burst.
    const refused: Answer[] = []
    for (let burst = 0; burst < 20 && refused.length === 0; burst++) {
      const answers = await Promise.all(times(320, () => limited.as(null)('GET', '/')))
      refused.push(...answers.filter(({ status }) => status === 429))
    }
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused[0]?.body.error.code).toBe('RATE_LIMITED')
    expect((await limited.call('GET', '/v1/bases')).status).toBe(200)
    expect((await limited.as(null)('GET', '/healthz')).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('connections above PLINTH_MAX_CONNECTIONS are closed, until others end', async () => {
  const small = await openServer({ PLINTH_MAX_CONNECTIONS: '5' })
  try {
    const ended: Socket[] = []
    const sockets = times(9, () => {
      const socket = open(small.url)
      socket.on('error', () => {})
      socket.once('close', () => ended.push(socket))
      return socket
    })
    await until(() => ended.length === 4)
    expect(small.log.join('')).toContain('PLINTH_MAX_CONNECTIONS')
    const kept = sockets.filter((socket) => !ended.includes(socket))
    expect(kept).toHaveLength(5)
    for (const socket of kept.slice(0, 2)) socket.destroy()
    const healthy = () => fetch(`${small.url}/healthz`).then(({ status }) => status, String)
    await expect.poll(healthy).toBe(200)
    for (const socket of kept) socket.destroy()
  } finally {
    await small.close()
  }
})

test('connections that wait for nothing make room for others', async () => {
  const small = await openServer({ PLINTH_MAX_CONNECTIONS: '5' })
  const sockets = times(5, () => open(small.url))
  try {
    const answers = sockets.map(async (socket) => {
      socket.on('error', () => {}).write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
      return String((await once(socket, 'data'))[0])
    })
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/keep-alive/i)
    const healthy = () =>
      fetch(`${small.url}/healthz`, { signal: AbortSignal.timeout(2000) }).then(
        ({ status }) => status,
        String,
      )
    await expect.poll(healthy).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
    await small.close()
  }
})

test('a client with endless headers gets a 400', async () => {
  const socket = open(server.url)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n')
  const drip = setInterval(() => socket.write('x-more: 1\r\n'), 500)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(drip)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"code":"request_too_slow"')
})
