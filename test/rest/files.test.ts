import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times } from '../support/answers.ts'
import { putFile, sha256 } from '../support/files.ts'
import type { Answer, Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())

const at = (path: string, type = 'docs') => `/v1/crm/files/${type}/${path}`
const put = (path: string, content: string, headers = {}, type = 'docs') =>
  putFile(world.call, type, path, content, headers)
const get = (path: string, headers = {}, type = 'docs') =>
  world.call('GET', at(path, type), undefined, headers)
const meta = async (path: string, type = 'docs') => succeed(await get(`${path}?meta=1`, {}, type))
const list = async (query: string, type = 'docs') =>
  succeed(await world.call('GET', `/v1/crm/files/${type}?${query}`))
const pathsOf = ({ data }: Body): string[] => data.map(({ path }: Body) => path)
const versionsOf = async (path: string, type = 'docs'): Promise<number[]> =>
  succeed(await get(`${path}?history`, {}, type)).data.map(({ version }: Body) => version)
const newType = async (id: string, body: object) =>
  succeed(await world.call('PUT', `/v1/crm/file-types/${id}`, body), 201)

/** Sends a path as it is, since fetch would tidy it. */
const sendRaw = (method: string, path: string, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(world.url)
    const headers = { authorization: `Bearer ${world.adminToken}`, 'content-type': 'text/plain' }
    const sent = httpRequest({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const headers = new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
        )
        resolve({ status: response.statusCode ?? 0, text, body: JSON.parse(text), headers })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })

describe('a file', () => {
  test('is created with its location, its fields and the quoted digest as ETag', async () => {
    const made = await put('a/b c.txt', 'one', { 'x-service-label': 'first', 'x-file-metadata': '{"n":1}' })
    const { created_at, updated_at, ...file } = succeed(made, 201)
    expect(file).toEqual({
      path: 'a/b c.txt',
      file_type: 'docs',
      version: 1,
      content_sha256: sha256('one'),
      size: 3,
      content_type: 'text/plain',
      metadata: { n: 1 },
      label: 'first',
      operation: 'created',
    })
    expect(created_at).toMatch(TIME)
    expect(updated_at).toMatch(TIME)
    expect(made.headers.get('etag')).toBe(`"${sha256('one')}"`)
    expect(made.headers.get('location')).toBe('/v1/crm/files/docs/a/b%20c.txt')
  })

  test('is answered as it was sent, as nothing that a browser runs', async () => {
    await put('page.html', '<script>1</script>', { 'content-type': 'text/html' })
    const page = await get('page.html', { 'accept-encoding': 'gzip' })
    expect(page.text).toBe('<script>1</script>')
    expect(page.headers.get('content-type')).toBe('text/html')
    expect(page.headers.get('content-length')).toBe('18')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('content-disposition')).toBe('attachment; filename=page.html')
    expect(page.headers.get('content-security-policy')).toContain('sandbox')
    expect(page.headers.get('content-encoding')).toBeNull()
  })

  test('is not compressed, so that its length and its ETag hold', async () => {
    const text = 'the same line\n'.repeat(1000)
    await put('long.txt', text)
    const answer = await get('long.txt', { 'accept-encoding': 'gzip, br' })
    expect(answer.text).toBe(text)
    expect(answer.headers.get('content-length')).toBe(String(text.length))
    const head = await world.call('HEAD', at('long.txt'))
    expect(head.text).toBe('')
    for (const name of ['etag', 'content-type', 'content-length', 'content-disposition'])
      expect(head.headers.get(name), name).toBe(answer.headers.get(name))
  })

  test('without a body is empty', async () => {
    expect(succeed(await world.call('PUT', at('empty')), 201)).toMatchObject({
      size: 0,
      content_type: 'application/octet-stream',
      content_sha256: sha256(''),
    })
    const answer = await get('empty')
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  test('gets a version for each content, and none for the same content', async () => {
    await put('v.txt', 'one', { 'x-service-label': 'a' })
    expect(succeed(await put('v.txt', 'one', { 'x-service-label': 'a' }))).toMatchObject({
      operation: 'unchanged',
      version: 1,
    })
    expect(succeed(await put('v.txt', 'two', { 'x-service-label': 'b' }))).toMatchObject({
      operation: 'updated',
      version: 2,
    })
    const { data } = succeed(await get('v.txt?history'))
    expect(data.map(({ created_at, created_by, ...each }: Body) => [typeof created_by, each])).toEqual(
      [
        [2, 'two', 'b'],
        [1, 'one', 'a'],
      ].map(([version, content, label]) => [
        'string',
        { version, content_sha256: sha256(String(content)), size: 3, content_type: 'text/plain', label },
      ]),
    )
    expect((await get('v.txt?version=1')).text).toBe('one')
    expect((await get('v.txt?version=1')).headers.get('etag')).toBe(`"${sha256('one')}"`)
    expect(succeed(await get('v.txt?version=1&meta=1'))).toMatchObject({ version: 1, label: 'a' })
    expectFailure(await get('v.txt?version=3'), 'NOT_FOUND')
    for (const version of ['0', '-1', 'x', '1.5', ''])
      expectFault(await get(`v.txt?version=${version}`), 'query/version')
  })

  test('changes its properties without a version, with an entry in the log', async () => {
    await put('p.txt', 'one', { 'x-service-label': 'a' })
    const changed = await put('p.txt', 'one', { 'content-type': 'text/markdown', 'x-service-label': 'b' })
    expect(succeed(changed)).toMatchObject({ operation: 'updated', version: 1, label: 'b' })
    expect(succeed(await get('p.txt?history')).data).toMatchObject([
      { version: 1, label: 'b', content_type: 'text/markdown' },
    ])
    const { data } = succeed(await world.call('GET', '/v1/crm/changes?kind=file&id=docs/p.txt'))
    expect(data.map(({ operation, diff }: Body) => [operation, diff.length])).toEqual([
      ['create', 1],
      ['update', expect.any(Number)],
    ])
    expect(data[1].diff).toContainEqual({ op: 'replace', path: '/label', value: 'b' })
  })

  test('has one form of its name, decoded once', async () => {
    const composed = encodeURIComponent('caf\u00e9')
    const decomposed = encodeURIComponent('cafe\u0301')
    expect(succeed(await put(composed, 'one'), 201).path).toBe('caf\u00e9')
    expect(succeed(await put(decomposed, 'two')).path).toBe('caf\u00e9')
    expect((await get(composed)).text).toBe('two')
  })

  test.each([
    ['empty segment', 'a//b'],
    ['empty first segment', '/a'],
    ['folder', 'a/'],
    ['dot segment', './a'],
    ['parent segment', 'a/../b'],
    ['encoded parent segment', '%2e%2e/a'],
    ['encoded separator', '..%2fa'],
    ['backslash', 'a%5cb'],
    ['NUL', 'a%00'],
    ['control character', 'a%1f'],
    ['delete', 'a%7f'],
    ['C1 control character', 'a%C2%85'],
    ['direction override', 'a%E2%80%AEb'],
    ['bad UTF-8', '%ff'],
    ['overlong UTF-8', '%c0%ae'],
    ['surrogate', '%ed%a0%80'],
    ['broken escape', '%zz'],
    ['escape after decoding', '%252e%252e/x'],
    ['1,025 bytes', 'x'.repeat(1025)],
    ['1,026 bytes in 513 characters', '%C3%A9'.repeat(513)],
  ])('cannot have a path with %s', async (_what, path) => {
    for (const [method, body] of [['PUT', 'evil'], ['GET'], ['DELETE']] as const)
      expectFailure(await sendRaw(method, at(path), body), 'VALIDATION_ERROR')
  })

  test('can have any other name', async () => {
    await newType('odd', {})
    const names = ['a b+c', '100%.txt', '...', 'a..b', 'x:y@z', '日本語/😀', '#?&', 'y'.repeat(1024)]
    for (const name of names) {
      const url = name.split('/').map(encodeURIComponent).join('/')
      expect(succeed(await put(url, name, {}, 'odd'), 201).path).toBe(name)
      expect((await get(url, {}, 'odd')).text).toBe(name)
    }
    expect(pathsOf(await list('', 'odd'))).toEqual([...names].sort())
  })

  test('is needed to be read, changed or deleted', async () => {
    for (const query of ['', '?meta=1', '?history', '?diff&from=1&to=2'])
      expectFailure(await get(`none${query}`), 'NOT_FOUND')
    expectFailure(await world.call('PATCH', at('none'), { label: 'x' }), 'NOT_FOUND')
    expectFailure(await world.call('DELETE', at('none')), 'NOT_FOUND')
    for (const path of ['/v1/crm/files/nowhere/x', '/v1/nowhere/files/docs/x'])
      for (const [method, body] of [['PUT', 'x'], ['GET']] as const)
        expectFailure(
          await world.call(method, path, body, body && { 'content-type': 'text/plain' }),
          'NOT_FOUND',
        )
  })
})

describe('a request for a file', () => {
  test('names what it asks for, and nothing that does not belong to it', async () => {
    await put('q.txt', 'q')
    expectFault(await get('q.txt?metta=1'), 'query/metta')
    expectFault(await get('q.txt?meta=1&limit=2'), 'query/limit')
    expectFault(await get('q.txt?from=1'), 'query/from')
    expectFault(await get('q.txt?diff&from=1'), 'query/to')
    expectFault(await get('q.txt', { 'if-match': '"x"' }), 'header/If-Match')
  })

  test('gets the range that it asks for', async () => {
    await put('range.txt', '0123456789')
    for (const [range, text, shown] of [
      ['bytes=0-2', '012', '0-2'],
      ['bytes=8-', '89', '8-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=5-99', '56789', '5-9'],
    ] as const) {
      const part = await get('range.txt', { range })
      expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
        206,
        text,
        `bytes ${shown}/10`,
      ])
      expect(part.headers.get('content-length')).toBe(String(text.length))
    }
    for (const range of ['bytes=10-', 'bytes=-0', 'bytes=20-30']) {
      const past = await get('range.txt', { range })
      expectFault(past, 'header/Range')
      expect(past.headers.get('content-range')).toBe('bytes */10')
    }
    for (const headers of [{ range: 'lines=1-2' }, { range: 'bytes=0-1', 'if-range': '"other"' }])
      expect((await get('range.txt', headers)).text).toBe('0123456789')
  })

  test('with the ETag that it has is 304', async () => {
    await put('tag.txt', 'one')
    const same = await get('tag.txt', { 'if-none-match': `"${sha256('one')}"` })
    expect([same.status, same.text]).toEqual([304, ''])
    expect((await get('tag.txt', { 'if-none-match': `"${sha256('two')}"` })).text).toBe('one')
  })

  test('for a difference gets a unified diff of texts, and digests of other contents', async () => {
    for (const text of ['roses\nare\nred\n', 'roses\nare\nblue\n', 'a\u0000b']) await put('d.txt', text)
    const { diff, ...compared } = succeed(await get('d.txt?diff&from=1&to=2'))
    expect(compared).toMatchObject({ from: { version: 1, size: 14 }, to: { version: 2 }, binary: false })
    expect(diff).toContain('\n roses\n are\n-red\n+blue\n')
    expect(succeed(await get('d.txt?diff&from=2&to=1')).diff).toContain('-blue\n+red')
    expect(succeed(await get('d.txt?diff&from=2&to=3'))).toMatchObject({ binary: true, diff: null })
    expectFailure(await get('d.txt?diff&from=1&to=9'), 'NOT_FOUND')
  })

  test('for a difference of long texts with nothing in common fails, and others go on', async () => {
    const lines = (of: string) => times(20_000, (n) => `${of} ${n}`).join('\n')
    for (const of of ['one', 'two']) await put('far.txt', lines(of))
    const compared = get('far.txt?diff&from=1&to=2')
    expect(succeed(await get('far.txt?meta=1')).version).toBe(2)
    expectFailure(await compared, 'VALIDATION_ERROR')
  })
})

describe('a list of files', () => {
  beforeAll(async () => {
    await newType('tree', {})
    for (const path of ['a_b/1', 'axb/2', 'r/a', 'r/s/b', 'r/s/t/c', 'r/s.x', 'r/s0', 'z'])
      succeed(await put(path, path, {}, 'tree'), 201)
  })

  test('has the files below a literal prefix, in the order of their paths', async () => {
    expect(pathsOf(await list('prefix=a_b/', 'tree'))).toEqual(['a_b/1'])
    expect(pathsOf(await list('prefix=r/s', 'tree'))).toEqual(['r/s.x', 'r/s/b', 'r/s/t/c', 'r/s0'])
    expect(pathsOf(await list('prefix=none', 'tree'))).toEqual([])
    expect((await list('prefix=z', 'tree')).data).toMatchObject([{ kind: 'file', size: 1, version: 1 }])
  })

  test('with a depth has folders in place of what lies deeper', async () => {
    const level = async (query: string) =>
      (await list(query, 'tree')).data.map(({ kind, path }: Body) => `${kind} ${path}`)
    expect(await level('depth=1')).toEqual(['folder a_b/', 'folder axb/', 'folder r/', 'file z'])
    expect(await level('depth=1&prefix=r/')).toEqual(['file r/a', 'file r/s.x', 'folder r/s/', 'file r/s0'])
    expect(await level('depth=2&prefix=r/')).toEqual([
      'file r/a',
      'file r/s.x',
      'file r/s/b',
      'folder r/s/t/',
      'file r/s0',
    ])
    expect((await list('depth=1', 'tree')).data[0]).toEqual({ kind: 'folder', path: 'a_b/' })
    for (const depth of ['0', '-1', 'x'])
      expectFault(await world.call('GET', `/v1/crm/files/tree?depth=${depth}`), 'query/depth')
  })

  test.each(['', '&depth=1', '&depth=2'])(
    'has pages that add up, by offset and by cursor%s',
    async (depth) => {
      const whole = await list(`limit=100&include_total=true${depth}`, 'tree')
      expect(whole.meta).toMatchObject({ total: whole.data.length, has_more: false })
      const byOffset = []
      const byCursor = []
      for (let offset = 0, cursor = ''; ; offset += 3) {
        const next = await list(`limit=3&offset=${offset}${depth}`, 'tree')
        const same = await list(`limit=3${depth}${cursor && `&cursor=${cursor}`}`, 'tree')
        byOffset.push(...next.data)
        byCursor.push(...same.data)
        cursor = same.meta.next_cursor
        expect(next.meta.has_more).toBe(same.meta.has_more)
        if (!next.meta.has_more) break
      }
      expect(byOffset).toEqual(whole.data)
      expect(byCursor).toEqual(whole.data)
    },
  )
})

describe('a precondition of a file', () => {
  test('is its digest or its existence, and a miss changes nothing', async () => {
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

  test('lets one of 64 writers write', async () => {
    await put('race.txt', 'start')
    const headers = { 'if-match': `"${sha256('start')}"` }
    const answers = await Promise.all(times(64, (n) => put('race.txt', `writer ${n}`, headers)))
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    for (const answer of answers) if (answer !== winners[0]) expectFailure(answer, 'CONFLICT')
    expect(await versionsOf('race.txt')).toEqual([2, 1])
    expect((await meta('race.txt')).content_sha256).toBe(winners[0]?.body.content_sha256)
  })

  test('lets one of 64 writers create', async () => {
    const answers = await Promise.all(times(64, (n) => put('made.txt', `${n}`, { 'if-none-match': '*' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(63)
    expect(await versionsOf('made.txt')).toEqual([1])
  })

  test('is not needed: 64 writers make 64 versions without a gap', async () => {
    const answers = await Promise.all(times(64, (n) => put('all.txt', `writer ${n}`)))
    expect(answers.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(times(64, (n) => n + 1))
    for (const { body } of answers)
      expect(sha256((await get(`all.txt?version=${body.version}`)).text)).toBe(body.content_sha256)
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

describe('the policy of a file type', () => {
  test('holds metadata to the schema', async () => {
    const schema = { type: 'object', required: ['year'], properties: { year: { type: 'integer' } } }
    await newType('typed', { metadata_schema: schema })
    const year = (json: string) => ({ 'x-file-metadata': json })
    succeed(await put('m.txt', 'x', year('{"year":2024}'), 'typed'), 201)
    expectFault(await put('n.txt', 'x', year('{"year":"x"}'), 'typed'), 'header/X-File-Metadata/year')
    expectFailure(await put('n.txt', 'x', {}, 'typed'), 'VALIDATION_ERROR')
    expectFailure(await get('n.txt', {}, 'typed'), 'NOT_FOUND')
    expectFault(
      await world.call('PATCH', at('m.txt', 'typed'), { metadata: { year: 'x' } }),
      '/metadata/year',
    )
    expect((await meta('m.txt', 'typed')).metadata).toEqual({ year: 2024 })
  })

  test('limits the size to the byte, declared or not', async () => {
    await newType('small', { storage: { max_bytes: 10 } })
    succeed(await put('fits', '0123456789', {}, 'small'), 201)
    expect(
      expectFailure(await put('over', '0123456789x', {}, 'small'), 'VALIDATION_ERROR').details,
    ).toMatchObject([{ code: 'too_large', expected: 10 }])
    const chunked = new ReadableStream({
      start(controller) {
        for (const part of ['01234', '56789', 'x']) controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      },
    })
    const answer = await fetch(`${world.url}${at('over', 'small')}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.adminToken}`, 'content-type': 'text/plain' },
      body: chunked,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(400)
    expect(pathsOf(await list('', 'small'))).toEqual(['fits'])
  })

  test('takes the content types that it names', async () => {
    await newType('texts', { storage: { content_types: ['text/plain', 'audio/*'] } })
    for (const type of ['text/plain; charset=utf-8', 'AUDIO/ogg; codecs=opus'])
      succeed(await put(type.slice(0, 4), 'x', { 'content-type': type }, 'texts'), 201)
    for (const type of ['text/html', 'text/plainx', 'audiox/mpeg'])
      expectFault(await put('c', 'x', { 'content-type': type }, 'texts'), 'header/Content-Type')
    expectFault(
      await world.call('PATCH', at('text', 'texts'), { content_type: 'text/html' }),
      '/content_type',
    )
    expectFailure(await get('c', {}, 'texts'), 'NOT_FOUND')
  })

  test('that is immutable takes a path once', async () => {
    await newType('sealed', { storage: { immutable: true } })
    succeed(await put('s.txt', 'one', {}, 'sealed'), 201)
    succeed(await put('s.txt', 'one', {}, 'sealed'))
    expectFailure(await put('s.txt', 'two', {}, 'sealed'), 'CONFLICT')
    expectFailure(await world.call('PATCH', at('s.txt', 'sealed'), { path: 't.txt' }), 'CONFLICT')
    expectFailure(await world.call('DELETE', at('s.txt', 'sealed')), 'CONFLICT')
    expect((await get('s.txt', {}, 'sealed')).text).toBe('one')
    expect(await versionsOf('s.txt', 'sealed')).toEqual([1])
  })

  test('keeps the newest versions, from the next write on', async () => {
    await newType('last', {})
    for (const text of ['1', '2', '3']) await put('k.txt', text, {}, 'last')
    succeed(await world.call('PUT', '/v1/crm/file-types/last', { storage: { keep_versions: 2 } }))
    expect(await versionsOf('k.txt', 'last')).toEqual([3, 2, 1])
    await put('k.txt', '4', {}, 'last')
    expect(await versionsOf('k.txt', 'last')).toEqual([4, 3])
    expectFailure(await get('k.txt?version=1', {}, 'last'), 'NOT_FOUND')
  })

  test('cannot be deleted with its files unless its id is confirmed', async () => {
    await newType('held', {})
    await put('x.txt', 'x', {}, 'held')
    for (const query of ['', '?confirm=other'])
      expectFailure(await world.call('DELETE', `/v1/crm/file-types/held${query}`), 'CONFLICT')
    expect((await get('x.txt', {}, 'held')).text).toBe('x')
    succeed(await world.call('DELETE', '/v1/crm/file-types/held?confirm=held'))
    expectFailure(await get('x.txt', {}, 'held'), 'NOT_FOUND')
    const { data } = succeed(await world.call('GET', '/v1/crm/changes?kind=file&id=held/x.txt'))
    expect(data.map(({ operation }: Body) => operation)).toEqual(['create', 'delete'])
    await newType('held', {})
    expect(pathsOf(await list('', 'held'))).toEqual([])
  })
})

describe('a change of a file', () => {
  test('leaves its content', async () => {
    await put('tag2.txt', 'bytes', { 'x-service-label': 'old' })
    const changes = { metadata: { a: 1 }, label: null, content_type: 'text/markdown' }
    const changed = await world.call('PATCH', at('tag2.txt'), changes)
    expect(succeed(changed)).toMatchObject({ ...changes, version: 1, operation: 'updated' })
    expect(changed.headers.get('etag')).toBe(`"${sha256('bytes')}"`)
    expect((await get('tag2.txt')).headers.get('content-type')).toBe('text/markdown')
    expect(succeed(await world.call('PATCH', at('tag2.txt'), {})).operation).toBe('unchanged')
    expectFault(await world.call('PATCH', at('tag2.txt'), { metdata: {} }), '/metdata')
  })

  test('moves it with its versions, never onto another', async () => {
    for (const text of ['one', 'two']) await put('old/name', text)
    await put('taken', 'taken')
    expectFailure(await world.call('PATCH', at('old/name'), { path: 'taken' }), 'CONFLICT')
    for (const path of ['', '/x', 'x/', 'a/../b', 'a\\b', 'a\u0001', '%2e%2e/x'])
      expectFault(await world.call('PATCH', at('old/name'), { path }), '/path')
    expect(succeed(await world.call('PATCH', at('old/name'), { path: 'new/name' }))).toMatchObject({
      path: 'new/name',
      version: 2,
    })
    expectFailure(await get('old/name'), 'NOT_FOUND')
    expect((await get('new/name?version=1')).text).toBe('one')
    expect((await get('taken')).text).toBe('taken')
    const changes = async (id: string) =>
      succeed(await world.call('GET', `/v1/crm/changes?kind=file&id=${id}`)).data.map(
        ({ operation }: Body) => operation,
      )
    expect(await changes('docs/old/name')).toEqual(['create', 'update', 'delete'])
    expect(await changes('docs/new/name')).toEqual(['create'])
  })

  test('that deletes it takes it out of every read and frees its path, with a new version', async () => {
    await put('gone/x', 'x')
    expect(succeed(await world.call('DELETE', at('gone/x')))).toEqual({ id: 'gone/x', deleted: true })
    for (const query of ['', '?meta=1', '?version=1', '?history'])
      expectFailure(await get(`gone/x${query}`), 'NOT_FOUND')
    expectFailure(await world.call('DELETE', at('gone/x')), 'NOT_FOUND')
    expect(pathsOf(await list('prefix=gone/'))).toEqual([])
    expect(succeed(await put('gone/x', 'again'), 201).version).toBe(2)
    expectFailure(await get('gone/x?version=1'), 'NOT_FOUND')
  })
})

describe('a revert of a change of a file', () => {
  const lastSeq = async (path: string): Promise<number> =>
    succeed(await world.call('GET', `/v1/crm/changes?kind=file&id=docs/${path}&order=desc&limit=1`)).data[0]
      .seq
  const revert = async (path: string) => world.call('POST', `/v1/crm/changes/${await lastSeq(path)}/revert`)

  test('restores a deleted file with its versions', async () => {
    for (const text of ['one', 'two']) await put('back.txt', text, { 'x-service-label': text })
    succeed(await world.call('DELETE', at('back.txt')))
    expect(succeed(await revert('back.txt'))).toMatchObject({ operation: 'restore', kind: 'file' })
    expect((await get('back.txt')).text).toBe('two')
    expect((await get('back.txt?version=1')).text).toBe('one')
    expect(await versionsOf('back.txt')).toEqual([2, 1])
  })

  test('does not restore a file onto another', async () => {
    await put('place.txt', 'one')
    succeed(await world.call('DELETE', at('place.txt')))
    const seq = await lastSeq('place.txt')
    await put('place.txt', 'other')
    expectFailure(await world.call('POST', `/v1/crm/changes/${seq}/revert`), 'CONFLICT')
    expectFailure(await world.call('POST', `/v1/crm/changes/${seq}/revert?force=true`), 'CONFLICT')
    expect((await get('place.txt')).text).toBe('other')
  })

  test('brings back the former content as a new version', async () => {
    await put('undo.txt', 'one', { 'x-service-label': 'a' })
    await put('undo.txt', 'two')
    succeed(await revert('undo.txt'))
    expect((await get('undo.txt')).text).toBe('one')
    expect(await meta('undo.txt')).toMatchObject({ version: 3, label: 'a' })
  })

  test('removes a created file, and moves a moved one back', async () => {
    await put('made-by-mistake', 'x')
    succeed(await revert('made-by-mistake'))
    expectFailure(await get('made-by-mistake'), 'NOT_FOUND')
    for (const entry of ['there', 'here']) {
      await put('here', 'x')
      succeed(await world.call('PATCH', at('here'), { path: 'there' }))
      succeed(await revert(entry))
      expect((await get('here')).text).toBe('x')
      expectFailure(await get('there'), 'NOT_FOUND')
    }
  })

  test('of a whole request undoes a move', async () => {
    await put('from', 'x')
    succeed(await world.call('PATCH', at('from'), { path: 'to' }, { 'x-request-id': 'a-move' }))
    succeed(await world.call('POST', '/v1/crm/revert', { request_id: 'a-move' }))
    expect((await get('from')).text).toBe('x')
    expectFailure(await get('to'), 'NOT_FOUND')
  })
})

describe('a token', () => {
  test('with read reads files and writes none', async () => {
    await put('rights', 'mine')
    const { call } = await world.newToken([{ permission: 'read' }])
    expect((await call('GET', at('rights'))).text).toBe('mine')
    for (const [method, body] of [['PUT', 'x'], ['PATCH', { label: 'x' }], ['DELETE']] as const)
      expectFailure(await call(method, at('rights'), body), 'FORBIDDEN')
    expect((await get('rights')).text).toBe('mine')
  })

  test('for one record type sees nothing of files', async () => {
    await world.newType()
    await put('hidden', 'mine')
    const { call } = await world.newToken([{ record_type: 'type1', permission: 'admin' }])
    for (const path of [at('hidden'), at('absent'), '/v1/crm/files/docs', '/v1/crm/file-types/docs'])
      expectFailure(await call('GET', path), 'FORBIDDEN')
    expectFailure(await putFile(call, 'docs', 'hidden', 'theirs'), 'FORBIDDEN')
    const { data } = succeed(await call('GET', '/v1/crm/changes?limit=1000'))
    expect(data.filter(({ kind }: Body) => kind === 'file')).toEqual([])
  })
})
