import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { filesIn, sha256 } from '../../support/files.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(() => world.close())
const { at, put, get, meta, list, pathsOf, versionsOf } = filesIn(() => world)

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

  test('patches its metadata, which leaves the other members', async () => {
    await put('merged.txt', 'bytes', { 'x-file-metadata': '{"a":1,"b":2,"in":{"x":1,"y":2}}' })
    const patch = { metadata: { b: null, c: 3, in: { x: null } } }
    for (const type of ['application/json', 'application/merge-patch+json']) {
      const { status, body } = await world.call('PATCH', at('merged.txt'), patch, { 'content-type': type })
      expect([status, body.metadata]).toEqual([200, { a: 1, c: 3, in: { y: 2 } }])
    }
    const edit = { edits: [{ find: 'bytes', replace: 'text' }], metadata: { a: null, d: 4 } }
    const edited = succeed(await world.call('PATCH', at('merged.txt'), edit))
    expect(edited).toMatchObject({ version: 2, metadata: { c: 3, in: { y: 2 }, d: 4 } })
    expect(edited.metadata).not.toHaveProperty('a')
    const half = 'x'.repeat(LIMITS.fileMetadataBytes / 2)
    succeed(await world.call('PATCH', at('merged.txt'), { metadata: { one: half } }))
    expectFault(await world.call('PATCH', at('merged.txt'), { metadata: { two: half } }), '/metadata')
    expect((await meta('merged.txt')).metadata).not.toHaveProperty('two')
  })

  test('moves it with its versions, never onto another', { tags: 'full' }, async () => {
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
  // A change is in the log of all once the transactions that began before it have ended, such as those of jobs.
  const lastSeq = (path: string): Promise<number> => {
    const address = `/v1/crm/changes?kind=file&id=docs/${path}&order=desc&limit=1`
    return vi.waitUntil(async () => succeed(await world.call('GET', address)).data[0]?.seq, {
      timeout: 30_000,
    })
  }
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

  test('removes a created file, and moves a moved one back', { tags: 'full' }, async () => {
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
