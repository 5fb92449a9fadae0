import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME } from '../../support/answers.ts'
import { filesIn, sha256 } from '../../support/files.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { at, put, get, list, pathsOf, newType } = filesIn(() => world)

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

  test('gets a version for each content, and none for the same content', { tags: 'full' }, async () => {
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

  test('changes its properties without a version, with an entry in the log', { tags: 'full' }, async () => {
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
    ['direction mark', 'a%E2%80%8Fb'],
    ['noncharacter', 'a%EF%BF%BE'],
    ['noncharacter at its end', '%F4%8F%BF%BFa'],
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

  test('can have any other name', { tags: 'full' }, async () => {
    await newType('odd', {})
    const names = ['a b+c', '100%.txt', '...', 'a..b', 'x:y@z', '日本語/😀', '#?&', 'y'.repeat(1024)]
    for (const name of names) {
      const url = name.split('/').map(encodeURIComponent).join('/')
      expect(succeed(await put(url, name, {}, 'odd'), 201).path).toBe(name)
      expect((await get(url, {}, 'odd')).text).toBe(name)
    }
    expect(pathsOf(await list('', 'odd'))).toEqual([...names].sort())
  })

  test('is needed to be read, changed or deleted', { tags: 'full' }, async () => {
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
