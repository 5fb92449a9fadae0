import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectDetail, expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { filesIn, putFile } from '../../support/files.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { at, put, get, meta, list, pathsOf, versionsOf, newType } = filesIn(() => world)

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

  test('takes the content types that it names, in any case', { tags: 'full' }, async () => {
    const storage = { content_types: ['text/plain', 'audio/*', 'Image/PNG', 'Font/*'] }
    await newType('texts', { storage })
    for (const type of ['text/plain; charset=utf-8', 'AUDIO/ogg; codecs=opus', 'image/png', 'font/woff2'])
      succeed(await put(type.slice(0, 4), 'x', { 'content-type': type }, 'texts'), 201)
    for (const type of ['text/html', 'text/plainx', 'audiox/mpeg'])
      expectFault(await put('c', 'x', { 'content-type': type }, 'texts'), 'header/Content-Type')
    expectFault(
      await world.call('PATCH', at('text', 'texts'), { content_type: 'text/html' }),
      '/content_type',
    )
    expectFailure(await get('c', {}, 'texts'), 'NOT_FOUND')
  })

  test('that is immutable takes a path once', { tags: 'full' }, async () => {
    await newType('sealed', { storage: { immutable: true } })
    succeed(await put('s.txt', 'one', {}, 'sealed'), 201)
    succeed(await put('s.txt', 'one', {}, 'sealed'))
    expectFailure(await put('s.txt', 'two', {}, 'sealed'), 'CONFLICT')
    expectFailure(await world.call('PATCH', at('s.txt', 'sealed'), { path: 't.txt' }), 'CONFLICT')
    expectFailure(await world.call('DELETE', at('s.txt', 'sealed')), 'CONFLICT')
    expect((await get('s.txt', {}, 'sealed')).text).toBe('one')
    expect(await versionsOf('s.txt', 'sealed')).toEqual([1])
  })

  test('keeps the newest versions, from the next write on', { tags: 'full' }, async () => {
    await newType('last', {})
    for (const text of ['1', '2', '3']) await put('k.txt', text, {}, 'last')
    succeed(await world.call('PUT', '/v1/crm/file-types/last', { storage: { keep_versions: 2 } }))
    expect(await versionsOf('k.txt', 'last')).toEqual([3, 2, 1])
    await put('k.txt', '4', {}, 'last')
    expect(await versionsOf('k.txt', 'last')).toEqual([4, 3])
    expectFailure(await get('k.txt?version=1', {}, 'last'), 'NOT_FOUND')
  })

  test('cannot be deleted with its files unless its id is confirmed', { tags: 'full' }, async () => {
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

test('a file that is sent while its type is deleted is not found, or goes with the type', {
  tags: 'full',
}, async () => {
  const send = (name: string) =>
    Array.from({ length: 30 }, (_, n) => put(`${name}${n}`, `${name} ${n}`, {}, 'brief'))
  for (let round = 0; round < 3; round++) {
    await newType('brief', {})
    const before = send('before')
    const gone = world.call('DELETE', '/v1/crm/file-types/brief?confirm=brief')
    const after = gone.then(() => Promise.all(send('after')))
    const answers = [...(await Promise.all([...before, ...send('during')])), ...(await after)]
    succeed(await gone)
    for (const answer of answers)
      if (answer.status !== 201)
        expectDetail(answer, 404, { path: 'path/file_type', code: 'file_type_not_found' })
    await newType('brief', {})
    expect((await list('limit=1000', 'brief')).data).toEqual([])
    succeed(await world.call('DELETE', '/v1/crm/file-types/brief'))
  }
})

test('a base that holds only files is deleted only with its id in confirm', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/bases/shelf', {}), 201)
  succeed(await world.call('PUT', '/v1/shelf/file-types/docs', {}), 201)
  succeed(await world.call('PUT', '/v1/shelf/files/docs/a.txt', 'a', { 'content-type': 'text/plain' }), 201)
  expectDetail(await world.call('DELETE', '/v1/bases/shelf'), 409, {
    path: 'query/confirm',
    code: 'confirm_required',
  })
  expect((await world.call('GET', '/v1/shelf/files/docs/a.txt')).text).toBe('a')
  succeed(await world.call('DELETE', '/v1/bases/shelf?confirm=shelf'))
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

  test('for one record type sees nothing of files', { tags: 'full' }, async () => {
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
