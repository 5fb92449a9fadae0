import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { filesIn, sha256 } from '../../support/files.ts'
import { SERVERS } from '../../support/several-servers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { at, put, get, meta, versionsOf } = filesIn(() => world)

describe('a precondition of a file', () => {
  test('is its digest or its existence, and a miss changes nothing', { tags: 'full' }, async () => {
    await put('cas.txt', 'one')
    const tag = `"${sha256('one')}"`
    expectFault(await put('cas.txt', 'x', { 'if-match': sha256('one') }), 'header/If-Match')
    succeed(await put('cas.txt', 'two', { 'if-match': tag }))
    for (const match of [tag, `W/"${sha256('two')}"`, '"1"']) {
      const { details } = expectFailure(await put('cas.txt', 'three', { 'if-match': match }), 'CONFLICT')
      expect(details).toMatchObject([
        { path: 'header/If-Match', code: 'content_mismatch', expected: sha256('two') },
      ])
    }
    for (const [method, body] of [['PATCH', { label: 'x' }], ['DELETE']] as const)
      expectFailure(await world.call(method, at('cas.txt'), body, { 'if-match': tag }), 'CONFLICT')
    expectFailure(await put('cas.txt', 'three', { 'if-none-match': '*' }), 'CONFLICT')
    expect((await get('cas.txt')).text).toBe('two')
    expect(await versionsOf('cas.txt')).toEqual([2, 1])
    succeed(await put('cas.txt', 'three', { 'if-match': `"other", "${sha256('two')}"` }))
    succeed(await put('cas.txt', 'four', { 'if-match': '*' }))
  })

  test('on an absent path is not found, or creates it', async () => {
    for (const match of ['*', `"${sha256('x')}"`])
      expectFailure(await put('fresh.txt', 'x', { 'if-match': match }), 'NOT_FOUND')
    expectFailure(await get('fresh.txt'), 'NOT_FOUND')
    succeed(await put('fresh.txt', 'x', { 'if-none-match': '*' }), 201)
  })

  test('lets one of 64 writers write', { tags: 'full' }, async () => {
    await put('race.txt', 'start')
    const headers = { 'if-match': `"${sha256('start')}"` }
    const answers = await Promise.all(times(64, (n) => put('race.txt', `writer ${n}`, headers)))
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    for (const answer of answers) if (answer !== winners[0]) expectFailure(answer, 'CONFLICT')
    expect(await versionsOf('race.txt')).toEqual([2, 1])
    expect((await meta('race.txt')).content_sha256).toBe(winners[0]?.body.content_sha256)
  })

  test('lets one of 64 writers create', { tags: 'full' }, async () => {
    const answers = await Promise.all(times(64, (n) => put('made.txt', `${n}`, { 'if-none-match': '*' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(63)
    expect(await versionsOf('made.txt')).toEqual([1])
  })

  test('is not needed: 64 writers make 64 versions without a gap', { tags: 'full' }, async () => {
    const answers = await Promise.all(times(64, (n) => put('all.txt', `writer ${n}`)))
    expect(answers.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(times(64, (n) => n + 1))
    for (const { body } of answers)
      expect(sha256((await get(`all.txt?version=${body.version}`)).text)).toBe(body.content_sha256)
  })
})

type Sent = { path: string; length: number; body: string; origin?: string; connection?: string }

/** Sends an upload as it is on the wire. Returns the responses, when the connection is closed. */
async function responsesTo({
  path,
  length,
  body,
  origin = '',
  connection = 'close',
}: Sent): Promise<string[]> {
  const { hostname, port } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  const head = [
    `PUT ${origin}${at(path)} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${world.adminToken}`,
    'content-type: text/plain',
    `content-length: ${length}`,
    `connection: ${connection}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  if (body.length < length) socket.end()
  let all = ''
  for await (const bytes of socket) all += bytes
  return all.split(/(?=HTTP\/1\.1 )/)
}

describe('a JSON Patch of a file', () => {
  const patch = (path: string, operations: unknown, type = 'application/json-patch+json') =>
    world.call('PATCH', at(path), operations, { 'content-type': type })

  test('changes metadata, label, type and path at once, without a version', { tags: 'full' }, async () => {
    await put('j.txt', 'x', { 'x-file-metadata': '{"client":"acme","tags":["a"],"old":1}' })
    const answer = await patch('j.txt', [
      { op: 'test', path: '/metadata/client', value: 'acme' },
      { op: 'add', path: '/metadata/tags/-', value: 'b' },
      { op: 'move', from: '/metadata/old', path: '/metadata/new' },
      { op: 'replace', path: '/label', value: 'signed' },
      { op: 'replace', path: '/content_type', value: 'text/markdown' },
      { op: 'replace', path: '/path', value: 'k.txt' },
    ])
    expect(succeed(answer)).toMatchObject({
      ...{ path: 'k.txt', version: 1, operation: 'updated', label: 'signed', content_type: 'text/markdown' },
      metadata: { client: 'acme', tags: ['a', 'b'], new: 1 },
    })
    expectFailure(await get('j.txt'), 'NOT_FOUND')
    const removed = [
      { op: 'remove', path: '/metadata' },
      { op: 'remove', path: '/label' },
    ]
    expect(succeed(await patch('k.txt', removed))).toMatchObject({ metadata: {}, label: null, version: 1 })
    expect(succeed(await patch('k.txt', []))).toMatchObject({ operation: 'unchanged' })
  })

  test('that is refused says where, and changes nothing', { tags: 'full' }, async () => {
    await put('l.txt', 'x', { 'x-file-metadata': '{"n":1}' })
    const before = await meta('l.txt')
    const failed = await patch('l.txt', [
      { op: 'replace', path: '/metadata/n', value: 2 },
      { op: 'test', path: '/label', value: 'no' },
    ])
    expect(expectFailure(failed, 'CONFLICT').details).toMatchObject([
      { path: '/1/value', code: 'test_failed' },
    ])
    for (const [operation, path] of [
      [{ op: 'replace', path: '/size', value: 9 }, '/0/path'],
      [{ op: 'replace', path: '/metadata/m', value: 9 }, '/0/path'],
      [{ op: 'replace', path: '/content_type', value: 'text' }, '/content_type'],
      [{ op: 'remove', path: '/content_type' }, '/content_type'],
      [{ op: 'replace', path: '/path', value: '../a' }, '/0'],
      [{ op: 'replace', path: '/metadata', value: 'x'.repeat(20_000) }, '/metadata'],
    ] as const)
      expectFault(await patch('l.txt', [operation]), path)
    expectFault(await patch('l.txt', [{ op: 'remove', path: '/label' }], 'application/json'), '')
    expectFault(await patch('l.txt', { label: 'x' }), '')
    expect(await meta('l.txt')).toEqual(before)
  })

  test('over GraphQL comes alone', async () => {
    await put('m.txt', 'x')
    const of = async (args: string) =>
      (
        await world.call('POST', '/graphql', {
          query: `mutation { patchFile(base: "crm", fileType: "docs", path: "m.txt", operations: [{op: "replace", path: "/label", value: "x"}]${args}) { label } }`,
        })
      ).body
    expect(await of(', label: "y"')).toMatchObject({
      errors: [
        { extensions: { code: 'VALIDATION_ERROR', details: [{ path: '/operations', code: 'exclusive' }] } },
      ],
    })
    expect(await of('')).toMatchObject({ data: { patchFile: { label: 'x' } } })
  })
})

describe('an upload', () => {
  const digestOf = (text: string) => `sha-256=:${Buffer.from(sha256(text), 'hex').toString('base64')}:`

  test('with another digest than the declared one stores nothing', async () => {
    succeed(await put('digest.txt', 'good', { 'content-digest': digestOf('good') }), 201)
    for (const path of ['digest.txt', 'digest2.txt'])
      expectFailure(await put(path, 'evil', { 'content-digest': digestOf('good') }), 'VALIDATION_ERROR')
    expectFault(await put('digest.txt', 'x', { 'content-digest': 'md5=:abc:' }), 'header/Content-Digest')
    expect((await get('digest.txt')).text).toBe('good')
    expectFailure(await get('digest2.txt'), 'NOT_FOUND')
  })

  test('says which header is wrong', async () => {
    for (const [name, value, path] of [
      ['x-file-metadata', '{bad', 'header/X-File-Metadata'],
      ['x-file-metadata', '[]', 'header/X-File-Metadata'],
      ['x-file-metadata', `{"a":"${'x'.repeat(20_000)}"}`, 'header/X-File-Metadata'],
      ['x-service-label', 'x'.repeat(257), 'header/X-Service-Label'],
      ['content-encoding', 'gzip', 'header/Content-Encoding'],
      ['content-range', 'bytes 0-1/2', 'header/Content-Range'],
      ['content-type', 'text/plain; charset', 'header/Content-Type'],
    ] as const)
      expectFault(await put('head.txt', 'x', { [name]: value }), path)
    expectFailure(await get('head.txt'), 'NOT_FOUND')
  })

  // The balancer answers what is malformed.
  test.skipIf(SERVERS > 1)(
    'has the bytes that it declares, and what comes after them is malformed',
    async () => {
      const sent = { path: 'long.txt', length: 3, body: 'abcdef', connection: 'keep-alive' }
      const statuses = (await responsesTo(sent)).map((response) => response.slice(9, 12))
      expect(statuses).toEqual(['201', '400'])
      expect((await get('long.txt')).text).toBe('abc')
    },
  )

  test('of fewer bytes than it declares stores nothing', async () => {
    await responsesTo({ path: 'short.txt', length: 100, body: 'abc' })
    expectFailure(await get('short.txt'), 'NOT_FOUND')
  })

  test('may name the server in its URL', async () => {
    const [stored] = await responsesTo({ path: 'absolute.txt', length: 3, body: 'abc', origin: world.url })
    expect(stored).toMatch(/^HTTP\/1\.1 201 .*"path":"absolute\.txt"/s)
    expect((await get('absolute.txt')).text).toBe('abc')
  })

  test('that is rehearsed stores nothing', async () => {
    expect(succeed(await put('dry.txt?dry_run=true', 'x'), 201)).toMatchObject({ dry_run: true, size: 1 })
    expectFailure(await get('dry.txt'), 'NOT_FOUND')
  })

  test('with an Idempotency-Key takes effect once, for the same content', async () => {
    const headers = { 'idempotency-key': 'upload-1' }
    const first = await put('idem.txt', 'one', headers)
    await put('idem.txt', 'two')
    const again = await put('idem.txt', 'one', headers)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expectFailure(await put('idem.txt', 'other', headers), 'CONFLICT')
    expect((await get('idem.txt')).text).toBe('two')
  })

  test('cannot refer to a content by its digest over GraphQL', async () => {
    await put('known.txt', 'secret')
    const query = `mutation { putFile(base: "crm", fileType: "docs", path: "stolen", contentType: "text/plain",
      contentSha256: "${sha256('secret')}") { path } }`
    const { errors } = succeed(await world.call('POST', '/graphql', { query }))
    expect(errors[0].extensions.code).toBe('VALIDATION_ERROR')
    expectFailure(await get('stolen'), 'NOT_FOUND')
  })
})
