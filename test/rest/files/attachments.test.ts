import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, utimes } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attachmentSweep } from '../../../src/engine/records/attachments/index.ts'
import type { Db } from '../../../src/engine/storage/database/client.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { large } from '../../support/files.ts'
import { IN_BUCKET } from '../../support/server.ts'
import { SERVERS } from '../../support/several-servers.ts'
import { openWorld, type World } from '../../support/world.ts'

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

/** Looks at the contents as files in the data directory. */
const inFolder = test.skipIf(IN_BUCKET || SERVERS > 1)
let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

/** Creates a record and returns the path of its attachments. */
async function newRecord(id = `d${++serial}`): Promise<string> {
  succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: {} }), 201)
  return `/v1/crm/records/deal/${id}/attachments`
}

async function sendForm(path: string, make: (form: FormData) => void, token = world.adminToken, more = {}) {
  const form = new FormData()
  make(form)
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...more },
    body: form,
  })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text), text, headers: response.headers }
}
const attach = (path: string, name: string, bytes: Uint8Array<ArrayBuffer>, type: string) =>
  sendForm(path, (form) => form.set('file', new Blob([bytes], { type }), name))

async function fetchBytes(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, bytes, text: bytes.toString(), headers: response.headers }
}
const bytesOf = (size: number) => new Uint8Array(randomBytes(size))

test('a form attaches its file whole, and the link reads it without a token', { tags: 'full' }, async () => {
  const path = await newRecord()
  const bytes = bytesOf(300_000)
  const made = await attach(path, 'chart é.png', bytes, 'image/png')
  const whole = {
    filename: 'chart é.png',
    content_type: 'image/png',
    size: bytes.length,
    sha256: sha256(bytes),
    status: 'ready',
  }
  expect(succeed(made, 201)).toEqual({ ...whole, id: expect.any(String), created_at: expect.any(String) })
  expect(made.headers.get('location')).toBe(`${path}/chart%20%C3%A9.png`)
  const { data, meta } = succeed(await world.call('GET', `${path}?include_total=true`))
  expect(data).toEqual([made.body])
  expect(meta).toMatchObject({ total: 1, has_more: false })
  const found = succeed(await world.call('GET', `${path}/chart%20%C3%A9.png`))
  expect(found).toMatchObject(whole)
  expect(found.url.startsWith(`${world.url}/attachments/`)).toBe(true)
  expect(Date.parse(found.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000)
  expect(Date.parse(found.expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000)
  const read = await fetchBytes(found.url)
  expect(read.status).toBe(200)
  expect(read.bytes.equals(bytes)).toBe(true)
  expect(Object.fromEntries(read.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'content-disposition': expect.stringMatching(/^inline; filename/),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-store',
    etag: `"${sha256(bytes)}"`,
  })
})

test('a link serves ranges, conditions and HEAD', { tags: 'full' }, async () => {
  const path = await newRecord()
  const text = `${'x'.repeat(5000)}end`
  succeed(
    await world.call('POST', path, { filename: 'a.txt', content_type: 'text/plain', content: text }),
    201,
  )
  const { url } = succeed(await world.call('GET', `${path}/a.txt`))
  const asking = (headers: Record<string, string>, method = 'GET') => fetchBytes(url, { method, headers })
  const plain = await asking({ 'accept-encoding': 'gzip' })
  expect([plain.text, plain.headers.get('content-encoding')]).toEqual([text, null])
  const part = await asking({ range: 'bytes=-3' })
  expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
    206,
    'end',
    'bytes 5000-5002/5003',
  ])
  const first = await asking({ range: 'bytes=0-0' })
  expect([first.status, first.text, first.headers.get('content-length')]).toEqual([206, 'x', '1'])
  const other = await asking({ range: 'bytes=0-0', 'if-range': '"another"' })
  expect([other.status, other.bytes.length]).toEqual([200, 5003])
  const past = await asking({ range: 'bytes=5003-' })
  expect([past.status, past.headers.get('content-range')]).toEqual([400, 'bytes */5003'])
  expect(JSON.parse(past.text).error.details[0].code).toBe('range_not_satisfiable')
  const etag = plain.headers.get('etag') ?? ''
  expect((await asking({ 'if-none-match': etag })).status).toBe(304)
  const head = await asking({}, 'HEAD')
  expect([head.status, head.bytes.length, head.headers.get('content-length')]).toEqual([200, 0, '5003'])
})

test('what a browser could run is downloaded and not shown', async () => {
  const path = await newRecord()
  const name = 'a"b;c é.html'
  for (const content_type of ['text/html', 'image/svg+xml', 'application/xhtml+xml']) {
    succeed(
      await world.call('POST', path, { filename: name, content_type, content: '<script>1</script>' }),
      201,
    )
    const { url } = succeed(await world.call('GET', `${path}/${encodeURIComponent(name)}`))
    const { headers } = await fetchBytes(url)
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename=/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('JSON attaches text and base64', async () => {
  const path = await newRecord()
  const bytes = bytesOf(1000)
  const text = await world.call('POST', path, {
    filename: 'n.txt',
    content_type: 'text/plain',
    content: 'héllo',
  })
  expect(succeed(text, 201)).toMatchObject({ size: 6, sha256: sha256('héllo'), content_type: 'text/plain' })
  const content_base64 = Buffer.from(bytes).toString('base64')
  const binary = await world.call('POST', path, { filename: 'b.bin', content_base64 })
  expect(succeed(binary, 201)).toMatchObject({
    sha256: sha256(bytes),
    content_type: 'application/octet-stream',
  })
  const empty = await world.call('POST', path, { filename: 'empty', content: '' })
  expect(succeed(empty, 201)).toMatchObject({ size: 0, status: 'ready' })
  expect(empty.body).not.toHaveProperty('upload_url')
})

test('base64 of several megabytes is attached, and what is no base64 at its end is refused', {
  tags: 'full',
}, async () => {
  const path = await newRecord()
  const bytes = Buffer.alloc(7_000_000, 'attached')
  const content_base64 = bytes.toString('base64')
  const answer = await world.call('POST', path, { filename: 'large.bin', content_base64 })
  expect(succeed(answer, 201)).toMatchObject({ size: bytes.length, sha256: sha256(bytes) })
  for (const end of ['=', '====', '-AAA', 'A=AA'])
    expectFault(
      await world.call('POST', path, { filename: 'bad', content_base64: content_base64.slice(0, -4) + end }),
      '/content_base64',
    )
  const put = await world.call('POST', '/graphql', {
    query:
      'mutation ($base64: String!) { putFile(base: "crm", fileType: "docs", path: "large", base64: $base64) { path } }',
    variables: { base64: content_base64 },
  })
  expect(put.body.errors?.[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ code: 'body_too_large' }],
  })
})

test('bad input is refused with its place, and attaches nothing', { tags: 'full' }, async () => {
  const path = await newRecord()
  const cases: [object, string, string][] = [
    [{ filename: 'c', content: 'x', content_base64: 'eA==' }, '/content_base64', 'exclusive'],
    [{ filename: 'c', content_base64: '***' }, '/content_base64', 'invalid_base64'],
    [{ filename: 'c', content_base64: 'eA' }, '/content_base64', 'invalid_base64'],
    [{ filename: 'c', content: 'x', content_type: 'text' }, '/content_type', 'invalid_content_type'],
    [
      { filename: 'c', content: 'x', content_type: 'text/plain\r\nx: y' },
      '/content_type',
      'invalid_content_type',
    ],
    [{ content: 'x' }, '/filename', 'required'],
    [{ filename: 'c', contents: 'x' }, '/contents', 'unknown_field'],
    [{ filename: 'c', content_sha256: sha256('x') }, '/content_sha256', 'unknown_field'],
    ...[
      '',
      '.',
      '..',
      'a/b',
      'a\\b',
      '../../etc/passwd',
      'a\r\nx: y',
      'a\tb',
      'x'.repeat(256),
      'a\u202eb',
    ].map((filename): [object, string, string] => [
      { filename, content: 'x' },
      '/filename',
      'invalid_filename',
    ]),
  ]
  for (const [body, place, code] of cases) {
    const [detail] = expectFailure(await world.call('POST', path, body), 'VALIDATION_ERROR').details
    expect([detail.path, body]).toEqual([place, body])
    if (code !== 'required' && code !== 'unknown_field') expect(detail.code).toBe(code)
  }
  succeed(await world.call('POST', path, { filename: 'é'.repeat(255), content: 'x' }), 201)
  expect(succeed(await world.call('GET', path)).data).toHaveLength(1)
  succeed(await world.call('GET', `${path}/${encodeURIComponent('é'.repeat(255))}`))
})

test('a form with anything but one file is refused', { tags: 'full' }, async () => {
  const path = await newRecord()
  const blob = new Blob(['x'], { type: 'text/plain' })
  const codeOf = async (make: (form: FormData) => void) =>
    expectFailure(await sendForm(path, make), 'VALIDATION_ERROR').details[0].code
  expect(await codeOf(() => {})).toMatch(/required|malformed_form/)
  expect(await codeOf((form) => form.set('other', blob, 'a.txt'))).toBe('unknown_field')
  expect(await codeOf((form) => form.set('filename', 'a.txt'))).toBe('unknown_field')
  const twice = (form: FormData) => {
    form.append('file', blob, 'a.txt')
    form.append('file', blob, 'b.txt')
  }
  expect(await codeOf(twice)).toBe('unknown_field')
  expect(await codeOf((form) => form.set('file', blob, 'a/b.txt'))).toBe('invalid_filename')
  const send = (type: string, body: string) => world.call('POST', path, body, { 'content-type': type })
  const at = 'multipart/form-data; boundary=x'
  for (const body of [
    '',
    'x',
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
    '--x\r\ncontent-disposition: form-data\r\n\r\nno name\r\n--x--\r\n',
    '--x\r\ncontent-disposition: form-data; filename="a"\r\n\r\nno name\r\n--x--\r\n',
    `${'--x\r\n\r\n\r\n'.repeat(3)}--x--\r\n`,
  ])
    expectFailure(await send(at, body), 'VALIDATION_ERROR')
  expectFailure(await send('multipart/form-data', '--x--'), 'VALIDATION_ERROR')
  expectFailure(await send('text/plain', 'x'), 'VALIDATION_ERROR')
  expectFailure(
    await world.call('POST', '/v1/crm/records/deal', '--x--', { 'content-type': at }),
    'VALIDATION_ERROR',
  )
  expect(succeed(await world.call('GET', path)).data).toEqual([])
})

inFolder('a form that ends in the middle of its file leaves nothing open', async () => {
  const path = await newRecord()
  const begun = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
  const other = '--x\r\ncontent-disposition: form-data; name="b"\r\n\r\n1\r\n'
  const temporary = () => readdir(`${world.dataDir}/blobs/tmp`)
  const send = (text: string) => {
    const request = http.request(world.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.adminToken}`,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': 10_000_000,
      },
    })
    request.on('error', () => {}).write(text)
    return request
  }
  const cut = send(begun + 'x'.repeat(100_000))
  await expect.poll(temporary).toHaveLength(1)
  cut.destroy()
  await expect.poll(temporary).toEqual([])
  const refused = send(other + begun + 'x'.repeat(100_000))
  const [answer] = (await once(refused, 'response')) as [http.IncomingMessage]
  expect(answer.statusCode).toBe(400)
  answer.resume()
  refused.destroy()
  await expect.poll(temporary).toEqual([])
  expect(succeed(await world.call('GET', path)).data).toEqual([])
})

inFolder('a form for an absent record, type or base is refused before its file is stored', async () => {
  const bytes = bytesOf(2_000_000)
  for (const path of ['records/deal/none', 'records/none/d1']) {
    const answer = await attach(`/v1/crm/${path}/attachments`, 'a.bin', bytes, 'image/png')
    expectFailure(answer, 'NOT_FOUND')
  }
  const blobs = await readdir(`${world.dataDir}/blobs`, { recursive: true })
  expect(blobs.filter((name) => name.endsWith(sha256(bytes)))).toEqual([])
})

test('a signed upload is pending, then ready, in the name of who prepared it', { tags: 'full' }, async () => {
  const path = await newRecord()
  const { call, id } = await world.newToken([{ permission: 'write' }])
  const bytes = bytesOf(200_000)
  const made = succeed(await call('POST', path, { filename: 'up.bin', content_type: 'image/png' }), 201)
  expect(made).toMatchObject({ status: 'pending', size: null, sha256: null })
  const waiting = succeed(await world.call('GET', `${path}/up.bin`))
  expect(waiting).toMatchObject({ status: 'pending', url: null, expires_at: null })
  const put = (body: Uint8Array<ArrayBuffer>, type = 'image/png') =>
    fetchBytes(made.upload_url, { method: 'PUT', body, headers: { 'content-type': type } })
  expect((await fetchBytes(made.upload_url)).status).toBe(403)
  const wrong = await put(bytes, 'text/html')
  expect([wrong.status, JSON.parse(wrong.text).error.details[0].code]).toEqual([400, 'content_type_mismatch'])
  const done = await put(bytes)
  expect([done.status, JSON.parse(done.text)]).toEqual([
    200,
    {
      ...made,
      upload_url: undefined,
      expires_at: undefined,
      status: 'ready',
      size: 200_000,
      sha256: sha256(bytes),
    },
  ])
  expect((await put(bytes)).status).toBe(200)
  const another = await put(bytesOf(10))
  expect([another.status, JSON.parse(another.text).error.code]).toEqual([409, 'CONFLICT'])
  const { url } = succeed(await world.call('GET', `${path}/up.bin`))
  expect((await fetchBytes(url, { method: 'PUT', body: 'evil' })).status).toBe(403)
  expect((await fetchBytes(url)).bytes.equals(bytes)).toBe(true)
  const { data } = succeed(await world.call('GET', `/v1/crm/changes?kind=attachment&id=${made.id}`))
  expect(data).toMatchObject([{ operation: 'create', actor: { token_id: id, via: 'rest' } }])
})

test('an upload that breaks off or is too late leaves what was there', async () => {
  const path = await newRecord()
  succeed(await world.call('POST', path, { filename: 'a', content: 'old' }), 201)
  const made = succeed(await world.call('POST', path, { filename: 'a' }), 201)
  const { hostname, port, pathname } = new URL(made.upload_url)
  await new Promise((done) => {
    const headers = { 'content-length': 1_000_000 }
    const request = http.request({ hostname, port, path: pathname, method: 'PUT', headers })
    request.on('error', done)
    request.write(randomBytes(100_000), () => request.destroy())
  })
  const found = succeed(await world.call('GET', `${path}/a`))
  expect([found.status, found.sha256]).toEqual(['ready', sha256('old')])
  await world.database.query(
    `UPDATE plinth.attachment SET created_at = now() - interval '16 minutes' WHERE id = $1`,
    [made.id],
  )
  expect((await fetchBytes(made.upload_url, { method: 'PUT', body: 'new' })).status).toBe(404)
  expect(succeed(await world.call('GET', path)).data.map((each: { id: string }) => each.id)).toEqual([
    found.id,
  ])
})

test('a link that is altered, moved or expired is refused', { tags: 'full' }, async () => {
  const path = await newRecord()
  for (const filename of ['one', 'two'])
    succeed(await world.call('POST', path, { filename, content: `secret of ${filename}` }), 201)
  const { url } = succeed(await world.call('GET', `${path}/one`))
  const sealed = url.slice(url.lastIndexOf('/') + 1)
  for (let at = 0; at < sealed.length; at += 7) {
    const forged = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    const answer = await fetchBytes(`${world.url}/attachments/${forged}`)
    expect([answer.status, answer.text.includes('secret')]).toEqual([403, false])
  }
  for (const forged of ['x', `${sealed}A`, sealed.slice(0, -4), '%00', '..%2f..'])
    expect((await fetchBytes(`${world.url}/attachments/${forged}`)).status).toBe(403)
})

test('a link ends within a second after the token that made it is revoked; those of other tokens stay', async () => {
  const path = await newRecord()
  const { id, call } = await world.newToken([{ permission: 'write' }])
  succeed(await call('POST', path, { filename: 'kept.txt', content: 'kept' }), 201)
  const { url } = succeed(await call('GET', `${path}/kept.txt`))
  const { upload_url } = succeed(await call('POST', path, { filename: 'new.txt' }), 201)
  const { url: other } = succeed(await world.call('GET', `${path}/kept.txt`))
  expect((await fetchBytes(url)).status).toBe(200)
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  await expect.poll(async () => (await fetchBytes(url)).status, { timeout: 1000 }).toBe(403)
  const put = await fetchBytes(upload_url, { method: 'PUT', body: 'late' })
  expect([put.status, put.text]).toEqual([403, expect.stringContaining('link_ended')])
  expect((await fetchBytes(other)).text).toBe('kept')
  const listed = succeed(await world.call('GET', path)).data
  expect(listed.filter((each: { status: string }) => each.status === 'ready')).toHaveLength(1)
})

test('a link expires with the token that made it', async () => {
  const path = await newRecord()
  succeed(await world.call('POST', path, { filename: 'kept.txt', content: 'kept' }), 201)
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const { token } = succeed(
    await world.call('POST', '/v1/tokens', {
      name: 'short',
      grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }],
      expires_at,
    }),
    201,
  )
  const found = succeed(await world.as(token)('GET', `${path}/kept.txt`))
  expect(found.expires_at).toBe(expires_at)
})

test('an upload to a link is what its headers declare, and a link has no parameters', async () => {
  const path = await newRecord()
  const announced = { filename: 'x', content_type: 'text/plain' }
  const { upload_url: link } = succeed(await world.call('POST', path, announced), 201)
  const send = async (body: string, more: Record<string, string>, url = link) => {
    const headers = { 'content-type': 'text/plain', ...more }
    const { status, text } = await fetchBytes(url, { method: 'PUT', body, headers })
    const answer = JSON.parse(text)
    return [status, answer.error?.details[0].code ?? answer.status]
  }
  const digest = `sha-256=:${createHash('sha256').update('whole').digest('base64')}:`
  expect(await send('part', { 'content-digest': digest })).toEqual([400, 'digest_mismatch'])
  expect(await send('part', { 'content-digest': 'md5=:abc:' })).toEqual([400, 'malformed'])
  expect(await send('part', { 'content-encoding': 'gzip' })).toEqual([400, 'unsupported_encoding'])
  expect(await send('part', { 'content-range': 'bytes 0-3/8' })).toEqual([400, 'unsupported'])
  expect(await send('part', {}, `${link}?content_type=text/html`)).toEqual([400, 'unknown_key'])
  expect(succeed(await world.call('GET', `${path}/x`)).status).toBe('pending')
  expect(await send('whole', { 'content-digest': digest })).toEqual([200, 'ready'])
  const { url } = succeed(await world.call('GET', `${path}/x`))
  expect(JSON.parse((await fetchBytes(`${url}?x=1`)).text).error.details[0].path).toBe('query/x')
  expect((await fetchBytes(url)).text).toBe('whole')
})

test('a filename taken again replaces the attachment, its id and its link', { tags: 'full' }, async () => {
  const path = await newRecord()
  const send = async (content: string) =>
    succeed(await world.call('POST', path, { filename: 'x', content }), 201)
  const one = await send('one')
  const { url } = succeed(await world.call('GET', `${path}/x`))
  const two = await send('two')
  expect(two.id).not.toBe(one.id)
  expect(succeed(await world.call('GET', path)).data).toEqual([two])
  expect((await fetchBytes(url)).status).toBe(404)
  expectFailure(await world.call('DELETE', `${path}/${one.id}`), 'NOT_FOUND')
  expect(succeed(await world.call('DELETE', `${path}/${two.id}`))).toEqual({ id: two.id, deleted: true })
  expectFailure(await world.call('DELETE', `${path}/${two.id}`), 'NOT_FOUND')
  expectFailure(await world.call('GET', `${path}/x`), 'NOT_FOUND')
  const { data } = succeed(await world.call('GET', `/v1/crm/changes?kind=attachment&order=asc`))
  const own = data.filter((each: { id: string }) => each.id === one.id || each.id === two.id)
  expect(own.map((each: { id: string; operation: string }) => [each.id, each.operation])).toEqual([
    [one.id, 'create'],
    [one.id, 'delete'],
    [two.id, 'create'],
    [two.id, 'delete'],
  ])
})

test('many writers of one filename leave one attachment', { tags: 'full' }, async () => {
  const path = await newRecord()
  const sent = await Promise.all(
    Array.from({ length: 12 }, (_, n) => world.call('POST', path, { filename: 'x', content: `${n}` })),
  )
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201]))
  expect(succeed(await world.call('GET', path)).data).toHaveLength(1)
})

test('attachments go with their record and come back with it, and not with another of its id', {
  tags: 'full',
}, async () => {
  const path = await newRecord('life')
  const record = '/v1/crm/records/deal/life'
  const made = succeed(await world.call('POST', path, { filename: 'x', content: 'one' }), 201)
  const { url } = succeed(await world.call('GET', `${path}/x`))
  succeed(await world.call('DELETE', record))
  expectFailure(await world.call('GET', path), 'NOT_FOUND')
  expect((await fetchBytes(url)).status).toBe(404)
  succeed(await world.call('POST', `${record}/restore`))
  expect(succeed(await world.call('GET', path)).data).toEqual([made])
  expect((await fetchBytes(url)).text).toBe('one')
  succeed(await world.call('DELETE', record))
  succeed(await world.call('PUT', record, { data: {} }), 201)
  expect(succeed(await world.call('GET', path)).data).toEqual([])
  expectFailure(await world.call('GET', `${path}/x`), 'NOT_FOUND')
})

test('the grants of the record hold for its attachments, in their log too', { tags: 'full' }, async () => {
  const path = await newRecord()
  const type = await world.newType()
  const made = succeed(await world.call('POST', path, { filename: 'x', content: 'one' }), 201)
  const reader = await world.newToken([{ permission: 'read' }])
  const other = await world.newToken([{ permission: 'write', record_type: type }])
  succeed(await reader.call('GET', `${path}/x`))
  for (const [method, at, body] of [
    ['POST', path, { filename: 'y', content: 'x' }],
    ['DELETE', `${path}/${made.id}`, undefined],
  ] as const) {
    expectFailure(await reader.call(method, at, body), 'FORBIDDEN')
    expectFailure(await other.call(method, at, body), 'FORBIDDEN')
  }
  for (const at of [path, `${path}/x`]) expectFailure(await other.call('GET', at), 'FORBIDDEN')
  const form = (token: string) => sendForm(path, (body) => body.set('file', new Blob(['x']), 'z'), token)
  expectFailure(await form(reader.token), 'FORBIDDEN')
  const seen = async (call: typeof reader.call, query = '') =>
    succeed(await call('GET', `/v1/crm/changes?kind=attachment${query}`)).data.length
  expect(await seen(reader.call)).toBeGreaterThan(0)
  expect(await seen(other.call)).toBe(0)
  expect(await seen(other.call, '&group=request')).toBe(0)
  expectFailure(await world.as(null)('GET', path), 'UNAUTHORIZED')
  expect(succeed(await world.call('GET', path)).data).toEqual([made])
})

test('a dry run and a repeated key attach once', { tags: 'full' }, async () => {
  const path = await newRecord()
  const body = { filename: 'x', content: 'one' }
  const dry = await world.call('POST', `${path}?dry_run=true`, body)
  expect(succeed(dry, 201)).toMatchObject({ filename: 'x', dry_run: true })
  expect(succeed(await world.call('GET', path)).data).toEqual([])
  const key = { 'idempotency-key': `k-${path}` }
  const make = (form: FormData) => form.set('file', new Blob(['same']), 'f')
  const first = await sendForm(path, make, world.adminToken, key)
  const second = await sendForm(path, make, world.adminToken, key)
  expect(second.body).toEqual(succeed(first, 201))
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  const differs = (form: FormData) => form.set('file', new Blob(['other']), 'f')
  expectFailure(await sendForm(path, differs, world.adminToken, key), 'CONFLICT')
})

test('expand shows attachments of a record, in a list and behind a link, within the grants', {
  tags: 'full',
}, async () => {
  const path = await newRecord('whole')
  const type = await world.newType()
  succeed(await world.call('PUT', '/v1/crm/relationship-types/of', {}), 201)
  succeed(await world.call('PUT', `/v1/crm/records/${type}/t`, { data: {} }), 201)
  const ends = { source_record_type: type, source_id: 't', target_record_type: 'deal', target_id: 'whole' }
  succeed(await world.call('PUT', '/v1/crm/relationships/of-1', { rel_type: 'of', ...ends }), 201)
  const made: unknown[] = []
  for (const filename of ['b', 'a'])
    made.push(succeed(await world.call('POST', path, { filename, content: filename }), 201))
  succeed(await world.call('POST', path, { filename: 'pending' }), 201)
  const one = succeed(await world.call('GET', '/v1/crm/records/deal/whole?expand=attachments'))
  expect(one._expanded).toEqual({ attachments: made })
  const far = succeed(await world.call('GET', `/v1/crm/records/${type}?expand=of.attachments,attachments`))
  expect(far.data[0]._expanded.attachments).toEqual([])
  expect(far.data[0]._expanded.of[0].record._expanded).toEqual({ attachments: made })
  const near = await world.newToken([{ permission: 'read', record_type: type }])
  const seen = await near.call('GET', `/v1/crm/records/${type}?expand=of.attachments`)
  expect(seen.text).not.toContain('sha256')
  for (const expand of ['~attachments', 'attachments.of', 'attachment'])
    expectFailure(await world.call('GET', `/v1/crm/records/deal?expand=${expand}`), 'VALIDATION_ERROR')
  succeed(await world.call('PUT', '/v1/crm/relationship-types/attachments', {}), 201)
  const taken = succeed(await world.call('GET', '/v1/crm/records/deal/whole?expand=attachments'))
  expect(taken._expanded).toEqual({ attachments: [] })
  succeed(await world.call('DELETE', '/v1/crm/relationship-types/attachments'))
})

test('no digest gives a content that the request has not sent', async () => {
  const path = await newRecord()
  const made = succeed(await world.call('POST', path, { filename: 'x', content: 'private' }), 201)
  const [, , , , , id] = path.split('/')
  const query = `mutation { createAttachment(base: "crm", recordType: "deal", recordId: "${id}", filename: "y", contentSha256: "${made.sha256}") { id } }`
  const { body } = await world.call('POST', '/graphql', { query })
  expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(succeed(await world.call('GET', path)).data).toHaveLength(1)
})

inFolder(
  'sweeps keep attachments of records and of the trash, and delete purged and expired ones with their contents',
  async () => {
    const { query } = world.database
    const db = { query: (how: { text: string }, values: unknown[]) => query(how.text, values) }
    const sweep = attachmentSweep(db as unknown as Db)
    const filenames = async () =>
      (await query<{ filename: string }>('SELECT filename FROM plinth.attachment')).map((row) => row.filename)
    for (const [id, filename] of [
      ['stays', 'sweep-kept'],
      ['trashed', 'sweep-trashed'],
      ['purged', 'sweep-purged'],
    ] as const) {
      const path = await newRecord(id)
      succeed(await world.call('POST', path, { filename, content: large(filename) }), 201)
      if (id === 'stays') succeed(await world.call('POST', path, { filename: 'sweep-pending' }), 201)
      else succeed(await world.call('DELETE', `/v1/crm/records/deal/${id}`))
    }
    await query(
      `UPDATE plinth.change SET at = at - interval '31 days' WHERE id = 'purged' AND kind = 'record'`,
    )
    await query(
      `UPDATE plinth.attachment SET created_at = now() - interval '1 hour' WHERE filename = 'sweep-pending'`,
    )
    await sweep()
    const left = await filenames()
    expect(left).toEqual(expect.arrayContaining(['sweep-kept', 'sweep-trashed']))
    expect(left.filter((name) => name === 'sweep-purged' || name === 'sweep-pending')).toEqual([])
    const at = (name: string) => join(world.dataDir, 'blobs', name.slice(0, 2), name.slice(2, 4), name)
    const old = new Date(Date.now() - 72 * 3_600_000)
    const names = ['sweep-kept', 'sweep-trashed', 'sweep-purged'].map((content) => at(sha256(large(content))))
    for (const name of names) await utimes(name, old, old)
    await query(`SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
    await expect.poll(() => query('SELECT FROM graphile_worker.jobs')).toEqual([])
    expect(names.map((name) => existsSync(name))).toEqual([true, true, false])
  },
)

test('a slow body has a time limit where it is read whole, and none where it streams', {
  tags: 'full',
}, async () => {
  const quick = await openWorld({ PLINTH_REQUEST_TIMEOUT_MS: '1000' })
  try {
    succeed(await quick.call('PUT', '/v1/crm/record-types/deal', {}), 201)
    succeed(await quick.call('PUT', '/v1/crm/records/deal/d', { data: {} }), 201)
    const drip = (method: string, address: string, headers: Record<string, string>, parts: string[]) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const all = { authorization: `Bearer ${quick.adminToken}`, ...headers }
        const request = http.request(address, { method, headers: all }, (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        })
        request.on('error', reject)
        const next = () => {
          const part = parts.shift()
          if (part === undefined) {
            request.end()
            return
          }
          request.write(part)
          setTimeout(next, 700)
        }
        next()
      })
    const parts = () => ['{"da', 'ta":', '{}', '}']
    const slow = await drip(
      'PUT',
      `${quick.url}/v1/crm/records/deal/e`,
      { 'content-type': 'application/json' },
      parts(),
    )
    expect([slow.status, slow.text]).toEqual([400, expect.stringContaining('request_too_slow')])
    const made = succeed(
      await quick.call('POST', '/v1/crm/records/deal/d/attachments', { filename: 'a' }),
      201,
    )
    const done = await drip('PUT', made.upload_url, {}, parts())
    expect([done.status, JSON.parse(done.text).size]).toEqual([200, 11])
  } finally {
    await quick.close()
  }
})

test('a record takes 1,000 attachments: one more is 409, and a name can be replaced and deleted', {
  tags: 'full',
}, async () => {
  const path = await newRecord()
  const put = (filename: string) => world.call('POST', path, { filename, content: filename })
  succeed(await put('first.txt'), 201)
  await world.database.query(
    `INSERT INTO plinth.attachment (base_id, id, record_type, record_id, record_created_at, filename, content_type, size, sha256, status, actor_name)
     SELECT base_id, 'copy-' || n, record_type, record_id, record_created_at, 'copy-' || n, content_type, size, sha256, status, actor_name
     FROM plinth.attachment, generate_series(1, 999) n WHERE record_id = $1`,
    [path.split('/')[5]],
  )
  expect(expectFailure(await put('more.txt'), 'CONFLICT').details[0].code).toBe('too_many_attachments')
  expectFailure(await world.call('POST', path, { filename: 'link.txt' }), 'CONFLICT')
  succeed(await put('first.txt'), 201)
  succeed(await world.call('DELETE', `${path}/copy-1`))
  succeed(await put('more.txt'), 201)
  expectFailure(await put('again.txt'), 'CONFLICT')
  expect(succeed(await world.call('GET', `${path}?limit=1&include_total=true`)).meta.total).toBe(1000)
})
