import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(() => world.close())

const PATH = '/v1/crm/records/note/n1'
const json = { 'content-type': 'application/json' }
const detailsOf = async (
  path: string,
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
) => {
  const answer = await world.call(method, path, body, headers)
  expectFailure(answer, 'VALIDATION_ERROR')
  return answer.body.error.details
}

describe('A body that is not JSON in UTF-8', () => {
  const body = '{"data":{"a":1}}'
  test.each([
    ['deflate', body],
    ['gzip', gzipSync(body)],
    ['br, identity', body],
  ])('is refused for its Content-Encoding: %s', async (encoding, bytes) => {
    const [detail] = await detailsOf(PATH, 'PUT', bytes, { ...json, 'content-encoding': encoding })
    expect(detail).toMatchObject({ path: 'header/Content-Encoding', code: 'unsupported_encoding' })
    expectFailure(await world.call('GET', PATH), 'NOT_FOUND')
  })

  test.each(['utf-16', 'latin1', '"iso-8859-1"'])('is refused for its charset: %s', async (charset) => {
    const type = `application/json; charset=${charset}`
    const [detail] = await detailsOf(PATH, 'PUT', body, { 'content-type': type })
    expect(detail).toMatchObject({ path: 'header/Content-Type', code: 'unsupported_charset' })
    expectFailure(await world.call('GET', PATH), 'NOT_FOUND')
  })

  test.each(['utf-8', 'UTF8', '"utf-8"', 'us-ascii'])('is accepted with the charset %s', async (charset) => {
    const type = `application/json; charset=${charset}`
    succeed(
      await world.call('PUT', `/v1/crm/records/note/ok?dry_run=true`, body, { 'content-type': type }),
      201,
    )
  })
})

/** The status and body of a request that fetch does not send: a GET or HEAD with a body. */
async function readWith(method: string, path: string, body: string, framing: string): Promise<string> {
  const { port, hostname } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  const auth = `authorization: Bearer ${world.adminToken}`
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${auth}\r\ncontent-type: application/json\r\n${framing}\r\nconnection: close\r\n\r\n${body}`,
  )
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

test('a GET or HEAD with a body is refused', async () => {
  const body = '{"filter":{"field":"data.a","op":"eq","value":1}}'
  const sized = `content-length: ${body.length}`
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const list = '/v1/crm/records/note'
  expect(await readWith('GET', list, body, sized)).toMatch(/^HTTP\/1\.1 400 [\s\S]*unexpected_body/)
  expect(await readWith('GET', list, chunked, 'transfer-encoding: chunked')).toMatch(/^HTTP\/1\.1 400 /)
  expect(await readWith('HEAD', list, body, sized)).toMatch(/^HTTP\/1\.1 400 /)
  expect(await readWith('GET', '/v1/crm/changes/stream', body, sized)).toMatch(/^HTTP\/1\.1 400 /)
  expect(await readWith('GET', list, '{}', 'content-length: 2')).toMatch(/^HTTP\/1\.1 200 /)
})

test.each(['x', '200-ok'])('Expect: %s is 400 with a JSON error and the request id', async (expectation) => {
  const { port, hostname } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `PUT ${PATH} HTTP/1.1\r\nhost: localhost\r\nexpect: ${expectation}\r\nx-request-id: odd-1\r\ncontent-length: 0\r\n\r\n`,
  )
  let answer = ''
  for await (const chunk of socket) answer += chunk
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toMatch(/x-request-id: odd-1/i)
  expect(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).toMatchObject({
    error: { code: 'VALIDATION_ERROR', details: [{ path: 'header/Expect' }], request_id: 'odd-1' },
  })
})

describe('A large body', () => {
  const filler = ' '.repeat(1024 * 1024)
  test.each([
    ['POST', '/v1/crm/records/note/query'],
    ['POST', '/v1/crm/records/note/aggregate'],
    ['POST', '/v1/crm/sql'],
    ['PUT', '/v1/bases/big'],
    ['PUT', '/v1/crm/record-types/big'],
  ])('over 1 MiB is 400 for %s %s', async (method, path) => {
    const [detail] = await detailsOf(path, method, `{}${filler}`, json)
    expect(detail).toMatchObject({ path: '', code: 'body_too_large', expected: 1024 * 1024 })
    expect(detail.message).toContain('1048576')
  })

  test('of a record is limited by its data, not by its whitespace', { tags: 'full' }, async () => {
    const [detail] = await detailsOf(PATH, 'PUT', { data: { text: 'x'.repeat(1_500_000) } })
    expect(detail).toMatchObject({ path: '/data' })
    expect(detail.code).not.toBe('body_too_large')
    const pretty = JSON.stringify({ data: { list: times(20_000, (n) => ({ n })) } }, null, 10)
    expect(pretty.length).toBeGreaterThan(1024 * 1024)
    succeed(await world.call('PUT', `${PATH}-pretty`, pretty, json), 201)
  })

  test('of a batch can have several megabytes, and its records are stored unchanged', {
    tags: 'full',
  }, async () => {
    const operations = times(40, (n) => ({
      type: 'create_record',
      record_type: 'note',
      id: `b${n}`,
      data: { list: times(4000, (i) => ({ n, i, text: `é${i}\u{1f600}"\\` })) },
    }))
    succeed(await world.call('POST', '/v1/crm/batch', { operations }))
    const { data } = succeed(await world.call('GET', '/v1/crm/records/note/b39'))
    expect(data).toEqual(operations[39]?.data)
  })

  test.each([
    ['POST', '/v1/crm/records/note/query'],
    ['PUT', PATH],
    ['POST', '/v1/crm/batch'],
    ['PUT', '/v1/bases/crm'],
    ['POST', '/v1/tokens'],
    ['POST', '/v1/crm/providers/openai/import'],
  ])('with 150,000 unknown keys is 400, never 500: %s %s', { tags: 'full' }, async (method, path) => {
    const keys = Object.fromEntries(times(150_000, (n) => [n.toString(36), 1]))
    const answer = await world.call(method, path, keys)
    expectFailure(answer, 'VALIDATION_ERROR')
  })
})

describe('A body over the limit', () => {
  const large = `{"data":{"text":"${'x'.repeat(20 * 1024 * 1024)}"}}`

  test('is 400 for clients that send all of it before they read, also repeatedly', {
    tags: 'full',
  }, async () => {
    for (const headers of times(5, () => json)) {
      const [detail] = await detailsOf(PATH, 'PUT', large, headers)
      expect(detail).toMatchObject({ code: 'body_too_large' })
    }
    const graphql = await world.call('POST', '/graphql', { query: large })
    expect(graphql.status).toBe(400)
    expect(graphql.body.errors[0].extensions.details[0]).toMatchObject({ code: 'body_too_large' })
    const call = await world.call(
      'POST',
      '/mcp/crm',
      { large },
      { accept: 'application/json, text/event-stream' },
    )
    expect(call.status).toBe(400)
  })

  test('is 400 when it is sent in chunks', async () => {
    const chunk = new TextEncoder().encode(large.slice(0, 1024 * 1024))
    const body = new ReadableStream({
      start: (controller) => {
        for (const _ of times(20, (n) => n)) controller.enqueue(chunk)
        controller.close()
      },
    })
    const response = await fetch(world.url + PATH, {
      method: 'PUT',
      headers: { ...json, authorization: `Bearer ${world.adminToken}` },
      body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('body_too_large')
  })

  test('is read only up to a limit, and then the connection is closed', async () => {
    const { port, hostname } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    const head = [
      'PUT /v1/crm/records/note/n1 HTTP/1.1',
      'host: x',
      `authorization: Bearer ${world.adminToken}`,
    ]
    socket.write(
      [...head, 'content-type: application/json', 'content-length: 1000000000', '', ''].join('\r\n'),
    )
    const part = Buffer.alloc(1024 * 1024, 'x')
    let sent = 0
    const send = () => {
      while (!socket.destroyed && socket.write(part)) sent++
    }
    socket.on('drain', send)
    send()
    await closed
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toMatch(/connection: close/i)
    expect(sent).toBeLessThan(100)
  })
})
