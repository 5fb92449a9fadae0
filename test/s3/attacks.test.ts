import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createScope, getSigningKey } from '@smithy/signature-v4'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readList } from '../../src/s3/protocol/xml.ts'
import { expectFailure, succeed } from '../support/answers.ts'
import { putFile, sha256 } from '../support/files.ts'
import { faultOf, type Keys, newKeys, senderOf } from '../support/s3.ts'
import { hmacOf, rawTo, type Sent, Sha256, signedWith, signerOf } from '../support/s3-raw.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let keys: Keys
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  for (const type of ['crm/file-types/docs', 'crm/file-types/private', 'other/file-types/docs'])
    succeed(await world.call('PUT', `/v1/${type}`, {}), 201)
  for (const type of ['docs', 'private'])
    succeed(await putFile(world.call, type, 'seen.txt', `in ${type}`), 201)
  keys = await newKeys(world, { file_type: 'docs' })
})
afterAll(() => world.close())

const raw = (sent: Sent) => rawTo(world)(sent)
const signed = (...args: Parameters<ReturnType<typeof signedWith>>) => signedWith(world, keys)(...args)

const SEEN = '/s3/crm/docs/seen.txt'

test('a request without a signature, or with a bearer token, reads nothing', { tags: 'full' }, async () => {
  const bearer = { authorization: `Bearer ${world.adminToken}` }
  expect(await raw({ path: SEEN })).toMatchObject({ status: 403, code: 'AccessDenied' })
  expect(await raw({ path: SEEN, headers: bearer })).toMatchObject({
    status: 400,
    code: 'AuthorizationHeaderMalformed',
  })
  expect((await raw(await signed({ path: SEEN }))).text).toBe('in docs')
})

test('methods that S3 does not have are refused in its terms', { tags: 'full' }, async () => {
  for (const method of ['PATCH', 'OPTIONS']) {
    for (const path of ['/s3', '/s3/crm', SEEN])
      expect([method, path, await raw({ method, path })]).toMatchObject([
        ...[method, path, { status: 403, code: 'AccessDenied' }],
      ])
    expect(await raw(await signed({ method, path: SEEN }))).toMatchObject({
      ...{ status: 405, code: 'MethodNotAllowed' },
    })
  }
})

test('a NUL in the name of an object or in a parameter is refused', async () => {
  const upload = { uploadId: '\0', partNumber: '1' }
  const sent: Sent[] = [
    { path: '/s3/crm/docs/a%00b' },
    { path: '/s3/crm', query: { 'list-type': '2', prefix: 'docs/\0' } },
    { path: SEEN, query: { uploadId: '\0' } },
    { method: 'PUT', path: SEEN, query: upload, body: 'x' },
    { method: 'DELETE', path: SEEN, query: { uploadId: '\0' } },
  ]
  for (const each of sent)
    expect(await raw(await signed(each))).toMatchObject({ status: 400, code: 'InvalidURI' })
})

test('any altered part of a signed request is refused', { tags: 'full' }, async () => {
  const good = await signed({ path: SEEN, headers: { 'x-amz-meta-a': '1' } })
  const { authorization = '' } = good.headers
  const altered: Sent[] = [
    { ...good, path: '/s3/crm/docs/seen.txu' },
    { ...good, path: `${SEEN}?x-id=GetObject` },
    { ...good, method: 'HEAD' },
    { ...good, headers: { ...good.headers, 'x-amz-meta-a': '2' } },
    { ...good, headers: { ...good.headers, 'x-amz-acl': 'private' } },
    { ...good, headers: { ...good.headers, host: 'example.com' } },
    { ...good, headers: { ...good.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    { ...good, headers: { ...good.headers, 'x-amz-security-token': 'x' } },
    { ...good, headers: { ...good.headers, authorization: authorization.replace(/.$/, 'x') } },
    { ...good, headers: { ...good.headers, authorization: authorization.replace('us-east-1', 'eu-west-1') } },
  ]
  for (const each of altered) {
    const { status, text } = await raw(each)
    expect([400, 403], JSON.stringify(each)).toContain(status)
    expect(text).not.toContain('in docs')
  }
  expect((await raw(good)).status).toBe(200)
})

test('a signature is valid for 15 minutes on either side', async () => {
  const minutes = (count: number) => ({ at: new Date(Date.now() + count * 60_000) })
  for (const count of [-14, 14])
    expect((await raw(await signed({ path: SEEN }, minutes(count)))).status).toBe(200)
  for (const count of [-16, 16])
    expect(await raw(await signed({ path: SEEN }, minutes(count)))).toMatchObject({
      status: 403,
      code: 'RequestTimeTooSkewed',
    })
})

test('a credential reaches nothing outside its file type, its base and its permission', {
  tags: 'full',
}, async () => {
  const send = senderOf(keys)
  const denied = { code: 'AccessDenied', status: 403 }
  for (const place of [{ Key: 'private/seen.txt' }, { Bucket: 'other', Key: 'docs/seen.txt' }]) {
    expect(await faultOf(send('GetObject', place))).toEqual(denied)
    expect((await faultOf(send('HeadObject', place))).status).toBe(403)
    expect(await faultOf(send('PutObject', { ...place, Body: 'evil' }))).toEqual(denied)
    expect(await faultOf(send('DeleteObject', place))).toEqual(denied)
    expect(await faultOf(send('CreateMultipartUpload', place))).toEqual(denied)
  }
  const copies = [
    { Key: 'docs/stolen', CopySource: 'crm/private/seen.txt' },
    { Key: 'docs/stolen', CopySource: 'other/docs/seen.txt' },
    { Key: 'private/planted', CopySource: 'crm/docs/seen.txt' },
  ]
  for (const copy of copies) expect(await faultOf(send('CopyObject', copy))).toEqual(denied)
  expect(await faultOf(send('ListObjectsV2', { Prefix: 'private/' }))).toEqual(denied)
  expect(await faultOf(send('ListObjectsV2', { Bucket: 'other' }))).toEqual(denied)
  const all = await send('ListObjectsV2', {})
  expect(all.Contents.map(({ Key }: { Key: string }) => Key)).toEqual(['docs/seen.txt'])
  const { Errors } = await send('DeleteObjects', { Delete: { Objects: [{ Key: 'private/seen.txt' }] } })
  expect(Errors).toMatchObject([{ Key: 'private/seen.txt', Code: 'AccessDenied' }])
  const reader = senderOf(await newKeys(world, { permission: 'read' }))
  expect(await faultOf(reader('PutObject', { Key: 'docs/seen.txt', Body: 'evil' }))).toEqual(denied)
  expect(await faultOf(reader('DeleteObject', { Key: 'docs/seen.txt' }))).toEqual(denied)
  for (const type of ['docs', 'private'])
    expect((await world.call('GET', `/v1/crm/files/${type}/seen.txt`)).text).toBe(`in ${type}`)
})

test('a credential ends when it is revoked, with its token, and with its file type', {
  tags: 'full',
}, async () => {
  const Key = 'docs/seen.txt'
  const gone = { code: 'InvalidAccessKeyId', status: 403 }
  const own = await newKeys(world)
  const send = senderOf(own)
  await send('GetObject', { Key })
  const { data } = succeed(await world.call('GET', '/v1/crm/s3-credentials'))
  expect(data[0]).toMatchObject({ id: own.id, masked: `PLTS…${own.access_key_id.slice(-4)}` })
  expect(JSON.stringify(data)).not.toContain(own.access_key_id)
  succeed(await world.call('DELETE', `/v1/crm/s3-credentials/${own.id}`))
  expect(await faultOf(send('GetObject', { Key }))).toEqual(gone)
  expectFailure(await world.call('DELETE', `/v1/crm/s3-credentials/${own.id}`), 'NOT_FOUND')

  const token = await world.newToken([{ permission: 'write' }])
  const ofToken = senderOf(await newKeys(world, {}, { call: token.call }))
  await ofToken('GetObject', { Key })
  succeed(await world.call('DELETE', `/v1/tokens/${token.id}`))
  expect(await faultOf(ofToken('GetObject', { Key }))).toEqual(gone)

  succeed(await world.call('PUT', '/v1/crm/file-types/brief', {}), 201)
  const ofType = senderOf(await newKeys(world, { file_type: 'brief' }))
  await ofType('ListObjectsV2', {})
  succeed(await world.call('DELETE', '/v1/crm/file-types/brief'))
  expect(await faultOf(ofType('ListObjectsV2', {}))).toEqual(gone)

  const expired = await newKeys(world)
  const late = `UPDATE plinth.s3_credential SET expires_at = now() - interval '1 second' WHERE id = $1`
  await world.database.query(late, [expired.id])
  expect((await faultOf(senderOf(expired)('GetObject', { Key }))).code).toBe('ExpiredToken')
})

test('a credential revoked during an upload writes nothing', async () => {
  const own = await newKeys(world)
  const send = senderOf(own)
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let finish: () => void = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const Body = Readable.from(
    (async function* () {
      yield Buffer.from('first ')
      begin()
      await finished
      yield Buffer.from('second')
    })(),
  )
  const upload = faultOf(send('PutObject', { Key: 'docs/late', Body, ContentLength: 12 }))
  await begun
  succeed(await world.call('DELETE', `/v1/crm/s3-credentials/${own.id}`))
  finish()
  expect((await upload).status).toBe(403)
  expectFailure(await world.call('GET', '/v1/crm/files/docs/late'), 'NOT_FOUND')
})

test('a token gives no more than it has, and sees no credentials of others', { tags: 'full' }, async () => {
  const reader = await world.newToken([{ permission: 'read' }])
  const make = (body: object, call = reader.call) => call('POST', '/v1/crm/s3-credentials', body)
  expectFailure(await make({ permission: 'write', expires_in: 60 }), 'FORBIDDEN')
  const typed = await world.newToken([{ permission: 'write', record_type: 'task' }])
  expectFailure(await make({ permission: 'read', expires_in: 60 }, typed.call), 'FORBIDDEN')
  for (const [body, path] of [
    [{ permission: 'read' }, '/expires_in'],
    [{ permission: 'read', expires_in: 43_201 }, '/expires_in'],
    [{ permission: 'read', expires_in: 0 }, '/expires_in'],
    [{ permission: 'admin', expires_in: 60 }, '/permission'],
    [{ permission: 'read', expires_in: 60, file_type: 'nope' }, '/file_type'],
    [{ permission: 'read', expires_in: 60, prefix: 'x' }, '/prefix'],
  ] as const)
    expect(expectFailure(await make(body), 'VALIDATION_ERROR').details[0]).toMatchObject({ path })
  const brief = await world.newToken([{ permission: 'read' }], {
    expires_at: new Date(Date.now() + 60_000).toISOString(),
  })
  expectFailure(await make({ permission: 'read', expires_in: 3600 }, brief.call), 'FORBIDDEN')
  const { data } = succeed(await reader.call('GET', '/v1/crm/s3-credentials'))
  expect(data).toEqual([])
  expectFailure(await reader.call('DELETE', `/v1/crm/s3-credentials/${keys.id}`), 'NOT_FOUND')
})

test.each([
  ['docs/../private/seen.txt', 'InvalidArgument'],
  ['docs/%2e%2e/private/seen.txt', 'InvalidArgument'],
  ['docs/%252e%252e/private/seen.txt', 'InvalidArgument'],
  ['docs//seen.txt', 'InvalidArgument'],
  ['docs/./seen.txt', 'InvalidArgument'],
  ['docs/a%5Cb', 'InvalidArgument'],
  ['docs/a%00b', 'InvalidURI'],
  ['docs/a%E2%80%AEb', 'InvalidArgument'],
  ['docs/%25zz', 'NoSuchKey'],
  [`docs/${'x'.repeat(1025)}`, 'InvalidArgument'],
  ['seen.txt', 'NoSuchKey'],
])('the key %s is refused', async (key, code) => {
  // Signed as clients sign: each byte of the key encoded once.
  const path = `/s3/crm/${key}`
  expect(await raw(await signed({ path }))).toMatchObject({ code })
})

const put = (body: string, more: Record<string, string>, payload?: string) =>
  signed(
    {
      method: 'PUT',
      path: '/s3/crm/docs/bad',
      body,
      headers: { 'content-length': String(Buffer.byteLength(body)), ...more },
    },
    payload === undefined ? {} : { payload },
  )
const crc = 'AAAAAA=='
const WITHOUT_LENGTH = {
  method: 'PUT',
  path: '/s3/crm/docs/bad',
  body: 'body',
  headers: { 'transfer-encoding': 'chunked' },
}

test.each<[string, () => Promise<Sent>, string]>([
  ['no length', () => signed(WITHOUT_LENGTH), 'MissingContentLength'],
  ['another digest', () => put('body', {}, sha256('other')), 'XAmzContentSHA256Mismatch'],
  ['another MD5', () => put('body', { 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' }), 'BadDigest'],
  ['no MD5', () => put('body', { 'content-md5': 'x' }), 'InvalidDigest'],
  ['another CRC32', () => put('body', { 'x-amz-checksum-crc32': crc }), 'BadDigest'],
  ['an unknown checksum', () => put('body', { 'x-amz-checksum-xxh3': crc }), 'InvalidRequest'],
  ['an unknown payload', () => put('body', {}, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD'), 'NotImplemented'],
  ['encryption', () => put('body', { 'x-amz-server-side-encryption': 'AES256' }), 'NotImplemented'],
  ['another encoding', () => put('body', { 'content-encoding': 'aws-chunked,gzip' }), 'NotImplemented'],
  ['a public ACL', () => put('body', { 'x-amz-acl': 'public-read' }), 'NotImplemented'],
])('a body with %s is refused, and stores nothing', async (_what, request, code) => {
  expect((await raw(await request())).code).toBe(code)
  expectFailure(await world.call('GET', '/v1/crm/files/docs/bad'), 'NOT_FOUND')
})

test('what XML cannot have is in no response', { tags: 'full' }, async () => {
  const body = '<Delete><Object><Key>docs/\ufffe</Key></Object></Delete>'
  const digest = createHash('md5').update(body).digest('base64')
  const path = '/s3/crm'
  const request = { method: 'POST', path, query: { delete: '' }, body, headers: { 'content-md5': digest } }
  const { status, text } = await raw(await signed(request))
  expect([status, /[\ufffe\uffff]/.test(text)]).toEqual([200, false])
  const other = await raw(await signed({ path: SEEN, query: { '\u0001': '' } }))
  expect(other).toMatchObject({ status: 501, code: 'NotImplemented' })
  expect(other.text).not.toContain('\u0001')
})

const TRAILER = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
const chunked = (body: string, size: number, payload = TRAILER, trailer = 'x-amz-checksum-crc32') =>
  put(
    body,
    { 'x-amz-decoded-content-length': String(size), ...(trailer && { 'x-amz-trailer': trailer }) },
    payload,
  )

test.each<[string, string, number, string]>([
  ['another checksum', `4\r\nbody\r\n0\r\nx-amz-checksum-crc32:${crc}\r\n\r\n`, 4, 'BadDigest'],
  ['no trailer', '4\r\nbody\r\n0\r\n\r\n', 4, 'InvalidRequest'],
  ['another trailer', '4\r\nbody\r\n0\r\nx-amz-checksum-sha1:x\r\n\r\n', 4, 'InvalidRequest'],
  ['no last chunk', '4\r\nbody\r\n', 4, 'IncompleteBody'],
  ['a chunk that ends before', '9\r\nbody', 9, 'IncompleteBody'],
  ['a chunk that is longer', '2\r\nbody\r\n0\r\n\r\n', 4, 'InvalidRequest'],
  ['a size that is no number', 'zz\r\nbody\r\n0\r\n\r\n', 4, 'InvalidRequest'],
  ['fewer bytes than declared', '4\r\nbody\r\n0\r\n\r\n', 5, 'IncompleteBody'],
  ['more bytes than declared', '4\r\nbody\r\n0\r\n\r\n', 3, 'InvalidRequest'],
  ['bytes after its end', `0\r\nx-amz-checksum-crc32:${crc}\r\n\r\nmore`, 0, 'InvalidRequest'],
  ['an endless line', 'x'.repeat(5000), 4, 'InvalidRequest'],
])('a chunked body with %s is refused, and stores nothing', async (_what, body, size, code) => {
  expect((await raw(await chunked(body, size))).code).toBe(code)
  expectFailure(await world.call('GET', '/v1/crm/files/docs/bad'), 'NOT_FOUND')
})

test('a query parameter or payload with the name of a member of every object is refused as any other', {
  tags: 'full',
}, async () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'x']) {
    const query = Object.fromEntries([[name, '1']])
    expect(await raw(await signed({ path: SEEN, query })), name).toMatchObject({
      status: 501,
      code: 'NotImplemented',
    })
    expect((await raw({ ...(await signed({ path: SEEN })), path: `${SEEN}?${name}=1` })).status, name).toBe(
      403,
    )
    const sent = await signed({ method: 'PUT', path: '/s3/crm/docs/bad', body: 'x' }, { payload: name })
    expect((await raw(sent)).code, name).toBe('NotImplemented')
  }
  expectFailure(await world.call('GET', '/v1/crm/files/docs/bad'), 'NOT_FOUND')
})

test('a body in chunks of one byte is stored whole', { tags: 'full' }, async () => {
  const chunks = `${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`
  const sent = await put(chunks, { 'x-amz-decoded-content-length': '50000' }, TRAILER)
  expect((await raw(sent)).status).toBe(200)
  expect(await world.call('GET', '/v1/crm/files/docs/bad')).toMatchObject({ text: 'x'.repeat(50_000) })
  succeed(await world.call('DELETE', '/v1/crm/files/docs/bad'))
})

test('signed chunks are checked one by one', async () => {
  const PAYLOAD = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
  const at = new Date()
  const chunks = ['first chunk, ', 'second chunk', '']
  const path = '/s3/crm/docs/chunks'
  const size = chunks.join('').length
  const length = chunks.reduce(
    (sum, each) =>
      sum + each.length.toString(16).length + each.length + 2 + 2 + ';chunk-signature='.length + 64,
    0,
  )
  const headers = { 'x-amz-decoded-content-length': String(size), 'content-length': String(length) }
  const head = await signed({ method: 'PUT', path, headers }, { payload: PAYLOAD, at })
  const longDate = String(head.headers['x-amz-date'])
  const day = longDate.slice(0, 8)
  const credentials = { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key }
  const key = await getSigningKey(Sha256 as never, credentials, day, 'us-east-1', 's3')
  const scope = createScope(day, 'us-east-1', 's3')
  let previous = /Signature=(\w+)/.exec(String(head.headers['authorization']))?.[1] ?? ''
  const written = chunks.map((each) => {
    const text = ['AWS4-HMAC-SHA256-PAYLOAD', longDate, scope, previous, sha256(''), sha256(each)].join('\n')
    previous = hmacOf(key).update(text).digest('hex')
    return `${each.length.toString(16)};chunk-signature=${previous}\r\n${each}\r\n`
  })
  const body = written.join('')
  expect(body.length).toBe(length)
  for (const bad of [body.replace('second', 'SECOND'), written.toReversed().join('').slice(0, length)])
    expect((await raw({ ...head, body: bad })).status).toBeGreaterThanOrEqual(400)
  expectFailure(await world.call('GET', '/v1/crm/files/docs/chunks'), 'NOT_FOUND')
  expect((await raw({ ...head, body })).status).toBe(200)
  expect((await world.call('GET', '/v1/crm/files/docs/chunks')).text).toBe('first chunk, second chunk')
})

test.each([
  ['<!DOCTYPE a [<!ENTITY b "docs/seen.txt">]><Delete><Object><Key>&b;</Key></Object></Delete>'],
  ['<Delete><Object><Key>&unknown;</Key></Object></Delete>'],
  ['<Delete><Object><Key>docs/\0</Key></Object></Delete>'],
  ['<Delete><Object><Key>docs/&#0;</Key></Object></Delete>'],
  ['<Delete><Object><Key>docs/seen.txt</Key></Object>'],
  ['<Delete></Delete>'],
  [''],
  ['<Other><Object><Key>docs/seen.txt</Key></Object></Other>'],
  [`<Delete>${'<Object><Key>docs/no</Key></Object>'.repeat(1001)}</Delete>`],
  [`<Delete>${'<a>'.repeat(50_000)}</Delete>`],
  [`<Delete>${' '.repeat(3 * 1024 * 1024)}</Delete>`],
])('XML that is malformed, hostile or too large is refused: %.60s', async (body) => {
  const sent = await signerOf(keys).sign({
    method: 'POST',
    protocol: 'http:',
    hostname: new URL(world.url).host,
    path: '/s3/crm',
    query: { delete: '' },
    headers: {
      host: new URL(world.url).host,
      'x-amz-content-sha256': sha256(body),
      'content-length': String(Buffer.byteLength(body)),
    },
  })
  const answer = await raw({ method: 'POST', path: '/s3/crm?delete=', headers: sent.headers, body })
  expect(answer).toMatchObject({ status: 400, code: 'MalformedXML' })
  expect((await world.call('GET', '/v1/crm/files/docs/seen.txt')).status).toBe(200)
})

test('secrets are in no log', () => {
  const log = world.log.join('\n')
  expect(log).toContain('"s3":"GetObject"')
  for (const secret of [keys.secret_access_key, keys.session_token]) expect(log).not.toContain(secret)
})

test('an XML body that is costly to parse is read in turns of the event loop', { tags: 'full' }, async () => {
  const attributes = Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(' ')
  async function* body() {
    yield Buffer.from(`<Delete ${attributes}><Object><Key>docs/a</Key></Object></Delete>`)
  }
  let passes = 0
  let isDone = false
  const count = () => {
    passes++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { items } = await readList(body(), 'Delete', 'Object', 1000)
  isDone = true
  expect(items).toEqual([new Map([['Key', 'docs/a']])])
  expect(passes).toBeGreaterThan(10)
})
