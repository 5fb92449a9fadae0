import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const changes = async (query: string, call: Call = world.call): Promise<Body> =>
  succeed(await call('GET', `/v1/crm/changes?${query}`))
const put = (type: string, id: string, data: object, request?: string, call: Call = world.call) =>
  call('PUT', `/v1/crm/records/${type}/${id}`, { data }, request ? { 'x-request-id': request } : {})
const batch = async (request: string, operations: object[], call: Call = world.call): Promise<Body> =>
  succeed(await call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': request }))

describe('order and range', () => {
  let type: string
  beforeAll(async () => {
    type = await world.newType()
    for (let n = 0; n < 7; n++) await put(type, 'a', { n })
  })
  const values = ({ data }: Body) =>
    data.map((entry: Body) => entry.diff[0].value.data?.n ?? entry.diff[0].value)

  test('order=desc lists the newest first, and pages go on at next_before', async () => {
    const found: number[] = []
    let query = `record_type=${type}&order=desc&limit=3`
    for (;;) {
      const page = await changes(query)
      expect(page.meta).not.toHaveProperty('next_after')
      found.push(...values(page))
      if (!page.meta.has_more) {
        expect(page.meta).not.toHaveProperty('next_before')
        break
      }
      query = `record_type=${type}&order=desc&limit=3&before=${page.meta.next_before}`
    }
    expect(found).toEqual([6, 5, 4, 3, 2, 1, 0])
  })

  test('after and before bound the entries in both orders', async () => {
    const all = (await changes(`record_type=${type}`)).data.map(({ seq }: Body) => seq)
    const within = `record_type=${type}&after=${all[1]}&before=${all[4]}`
    expect(values(await changes(within))).toEqual([2, 3])
    expect(values(await changes(`${within}&order=desc`))).toEqual([3, 2])
    expect(values(await changes(`record_type=${type}&before=0`))).toEqual([])
  })

  test('since and until find their entries in a page, whatever came before', { tags: 'full' }, async () => {
    const { data } = await changes(`record_type=${type}`)
    const at = data[3].at
    for (const order of ['asc', 'desc']) {
      const since = await changes(`record_type=${type}&since=${at}&order=${order}`)
      expect(since.data).toEqual(expect.arrayContaining(data.slice(3)))
      expect(since.data.every((entry: Body) => entry.at >= at)).toBe(true)
      expect(since.meta.has_more).toBe(false)
      const until = await changes(`record_type=${type}&until=${at}&order=${order}`)
      expect(until.data.every((entry: Body) => entry.at < at)).toBe(true)
      expect(until.meta.has_more).toBe(false)
    }
    expect((await changes('since=2999-01-01T00:00:00Z')).data).toEqual([])
  })

  test('operation and request_id narrow the list', async () => {
    await batch('narrow-1', [
      { type: 'patch_record', record_type: type, id: 'a', data: { n: 10 } },
      { type: 'create_record', record_type: type, id: 'b', data: {} },
    ])
    const of = async (query: string) =>
      (await changes(query)).data.map(({ id, operation }: Body) => [id, operation])
    expect(await of('request_id=narrow-1')).toEqual([
      ['a', 'update'],
      ['b', 'create'],
    ])
    expect(await of('request_id=narrow-1&operation=create')).toEqual([['b', 'create']])
    expect(await of('request_id=narrow-1&order=desc&limit=1')).toEqual([['b', 'create']])
    expect(await of('request_id=none')).toEqual([])
    expectFault(await world.call('GET', '/v1/crm/changes?operation=creat'), 'query/operation')
    expectFault(await world.call('GET', '/v1/crm/changes?order=down'), 'query/order')
    expectFault(await world.call('GET', '/v1/crm/changes?group=request&order=asc'), 'query/order')
    expectFault(await world.call('GET', '/v1/crm/changes?group=request&include=before'), 'query/include')
  })
})

describe('include=before', () => {
  test('adds the replaced value to each step, and what a deletion took', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'x', { name: 'old', 'a/b~c': 1, list: [1, 2, 3], gone: { deep: true } })
    await put(type, 'x', { name: 'new', 'a/b~c': 2, list: [1, 5], added: null })
    succeed(await world.call('DELETE', `/v1/crm/records/${type}/x`))
    const { data } = await changes(`record_type=${type}&include=before`)
    expect(data[0].diff[0]).not.toHaveProperty('before')
    const steps = Object.fromEntries(data[1].diff.map((step: Body) => [`${step.op} ${step.path}`, step]))
    expect(steps['replace /data/name']).toMatchObject({ before: 'old', value: 'new' })
    expect(steps['replace /data/a~1b~0c']).toMatchObject({ before: 1, value: 2 })
    expect(steps['remove /data/gone']).toMatchObject({ before: { deep: true } })
    expect(steps['remove /data/list/2']).toMatchObject({ before: 3 })
    expect(steps['replace /data/list/1']).toMatchObject({ before: 2 })
    expect(steps['add /data/added']).not.toHaveProperty('before')
    expect(data[2].diff).toEqual([
      {
        op: 'remove',
        path: '',
        before: {
          data: { name: 'new', 'a/b~c': 2, list: [1, 5], added: null },
          status: 'active',
          external_id: null,
          external_source: null,
        },
      },
    ])
    const plain = await changes(`record_type=${type}`)
    expect(JSON.stringify(plain)).not.toContain('"before"')
  })
})

describe('group=request', () => {
  test('lists one item per request, newest first, with counts', { tags: 'full' }, async () => {
    const type = await world.newType()
    const { id, call } = await world.newToken([{ permission: 'write' }], { name: 'grouper' })
    const operations = ['a', 'b', 'c'].map((each) => ({
      type: 'create_record',
      record_type: type,
      id: each,
      data: {},
    }))
    await batch('group-1', operations, call)
    await batch('group-2', [
      { type: 'patch_record', record_type: type, id: 'a', data: { n: 1 } },
      { type: 'delete_record', record_type: type, id: 'b' },
    ])
    const { data, meta } = await changes(`group=request&record_type=${type}`)
    expect(data.map((group: Body) => [group.request_id, group.count])).toEqual([
      ['group-2', 2],
      ['group-1', 3],
    ])
    expect(data[1]).toEqual({
      request_id: 'group-1',
      call: null,
      actor: { token_id: id, name: 'grouper', kind: 'program', via: 'rest' },
      first_at: expect.any(String),
      last_at: expect.any(String),
      last_seq: expect.any(Number),
      count: 3,
      by: [{ kind: 'record', record_type: type, operation: 'create', count: 3 }],
      undone: 0,
      undone_by: null,
    })
    expect(data[0].by).toEqual(
      expect.arrayContaining([
        { kind: 'record', record_type: type, operation: 'update', count: 1 },
        { kind: 'record', record_type: type, operation: 'delete', count: 1 },
      ]),
    )
    expect(meta).toEqual({ has_more: false, limit: 50 })
  })

  test('pages list each request once, also one with many changes', { tags: 'full' }, async () => {
    const type = await world.newType()
    for (let n = 0; n < 6; n++)
      await batch(
        `page-${n}`,
        Array.from({ length: 4 }, (_, i) => ({
          type: 'upsert_record',
          record_type: type,
          id: `r${i}`,
          data: { n },
        })),
      )
    const found: string[] = []
    let query = `group=request&record_type=${type}&limit=2`
    for (;;) {
      const page = await changes(query)
      for (const group of page.data) expect(group.count).toBe(4)
      found.push(...page.data.map(({ request_id }: Body) => request_id))
      if (!page.meta.has_more) break
      query = `group=request&record_type=${type}&limit=2&before=${page.meta.next_before}`
    }
    expect(found).toEqual([5, 4, 3, 2, 1, 0].map((n) => `page-${n}`))
  })

  test('two tokens that send the same request id make two groups', async () => {
    const type = await world.newType()
    const other = await world.newToken([{ permission: 'write' }], { name: 'other' })
    await put(type, 'a', {}, 'same')
    await put(type, 'b', {}, 'same', other.call)
    const { data } = await changes(`group=request&record_type=${type}`)
    expect(data.map(({ request_id, actor, count }: Body) => [request_id, actor.name, count])).toEqual([
      ['same', 'other', 1],
      ['same', 'admin', 1],
    ])
  })

  test('counts only what the token may read', { tags: 'full' }, async () => {
    const [open, closed] = [await world.newType(), await world.newType()]
    succeed(await world.call('PUT', '/v1/crm/relationship-types/joins', {}), 201)
    const end = (side: string, type: string, id: string) => ({
      [`${side}_record_type`]: type,
      [`${side}_id`]: id,
    })
    await batch('mixed', [
      { type: 'create_record', record_type: open, id: 'a', data: {} },
      { type: 'create_record', record_type: open, id: 'b', data: {} },
      { type: 'create_record', record_type: closed, id: 'c', data: {} },
      {
        type: 'upsert_relationship',
        rel_type: 'joins',
        ...end('source', open, 'a'),
        ...end('target', open, 'b'),
      },
      {
        type: 'upsert_relationship',
        rel_type: 'joins',
        ...end('source', open, 'a'),
        ...end('target', closed, 'c'),
      },
    ])
    await batch('hidden', [{ type: 'create_record', record_type: closed, id: 'd', data: {} }])
    const part = await world.newToken([{ record_type: open, permission: 'read' }])
    const seen = await changes('group=request', part.call)
    const group = seen.data.find(({ request_id }: Body) => request_id === 'mixed')
    expect(group.count).toBe(3)
    expect(group.by).toEqual([
      { kind: 'record', record_type: open, operation: 'create', count: 2 },
      { kind: 'relationship', record_type: null, operation: 'create', count: 1 },
    ])
    expect(JSON.stringify(seen)).not.toContain('hidden')
    expect(JSON.stringify(seen)).not.toContain(`"${closed}"`)
    const whole = await changes('group=request')
    expect(whole.data.find(({ request_id }: Body) => request_id === 'mixed').count).toBe(5)
  })

  test('says which request took it back, until that is taken back too', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'a', { n: 1 }, 'made')
    await put(type, 'a', { n: 2 }, 'changed')
    const of = async (request: string): Promise<Body> =>
      (await changes(`group=request&request_id=${request}`)).data[0]
    const revert = async (request: string, as: string) => {
      const { last_seq } = await of(request)
      succeed(
        await world.call('POST', `/v1/crm/changes/${last_seq}/revert`, undefined, { 'x-request-id': as }),
      )
    }
    await revert('changed', 'undo')
    expect((await of('changed')).undone_by).toBe('undo')
    expect((await of('made')).undone_by).toBeNull()
    await revert('undo', 'redo')
    expect((await of('changed')).undone_by).toBeNull()
    expect((await of('undo')).undone_by).toBe('redo')
  })

  test('says how much of it was taken back in part, whichever part', async () => {
    const type = await world.newType()
    const operations = ['a', 'b', 'c'].map((each) => ({
      ...{ type: 'upsert_record', record_type: type, id: each, data: {} },
    }))
    succeed(await world.call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': 'parts' }))
    const of = async (): Promise<Body> => (await changes('group=request&request_id=parts')).data[0]
    const { data } = await changes('request_id=parts')
    const revert = (seq: number, as: string) =>
      world.call('POST', `/v1/crm/changes/${seq}/revert`, undefined, { 'x-request-id': as })
    for (const [n, { seq }] of data.entries()) {
      expect(await of()).toMatchObject({ count: 3, undone: n, undone_by: null })
      succeed(await revert(seq, `part-${n}`))
    }
    expect(await of()).toMatchObject({ undone: 3, undone_by: 'part-2' })
    const [again] = (await changes('request_id=part-1')).data
    succeed(await revert(again.seq, 'again'))
    expect(await of()).toMatchObject({ undone: 2, undone_by: null })
  })
})
