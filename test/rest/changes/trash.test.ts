import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const at = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const put = async (type: string, id: string, body: object = {}) =>
  (await world.call('PUT', at(type, id), { data: { n: 1 }, ...body })).body
const remove = async (type: string, id: string) => succeed(await world.call('DELETE', at(type, id)))
const restore = (type: string, id: string, headers = {}) =>
  world.call('POST', `${at(type, id)}/restore`, undefined, headers)
const trash = async (query = ''): Promise<Body> => succeed(await world.call('GET', `/v1/crm/trash${query}`))
const DAY = 86_400_000

/** Moves the log of the type so many days into the past. */
const age = (type: string, days: number) =>
  world.database.query(
    `UPDATE plinth.change SET at = at - make_interval(days => $2) WHERE kind = 'record' AND record_type = $1`,
    [type, days],
  )

describe('Restoring a deleted record', () => {
  test('returns it unchanged under the next version, and only once', { tags: 'full' }, async () => {
    const type = await world.newType()
    const pair = { external_id: 'e', external_source: 's' }
    const made = await put(type, 'a', pair)
    await put(type, 'a', { data: { n: 2 } })
    succeed(await world.call('POST', `${at(type, 'a')}/cancel`))
    await remove(type, 'a')
    const answer = await restore(type, 'a')
    const back = succeed(answer)
    expect(back).toMatchObject({ id: 'a', data: { n: 2 }, ...pair, status: 'cancelled', version: 5 })
    expect(back.created_at).toBe(made.created_at)
    expect(answer.headers.get('etag')).toBe('"5"')
    expect(succeed(await world.call('GET', at(type, 'a')))).toEqual(back)
    expect(succeed(await restore(type, 'a'))).toMatchObject({ status: 'active', version: 6 })
    expect(succeed(await restore(type, 'a')).version).toBe(6)
    const log = (await world.logOf(type, 'a')).map((row) => [row.version, row.operation])
    expect(log.slice(3)).toEqual([
      [4, 'delete'],
      [5, 'restore'],
      [6, 'restore'],
    ])
  })

  test('is refused while its external id is in use', async () => {
    const type = await world.newType()
    await put(type, 'a', { external_id: 'e' })
    await remove(type, 'a')
    await put(type, 'b', { external_id: 'e' })
    const error = expectFailure(await restore(type, 'a'), 'CONFLICT')
    expect(error.details[0]).toMatchObject({ code: 'duplicate_external_id', received: 'e' })
    expect((await world.logOf(type, 'a')).map((row) => row.operation)).toEqual(['create', 'delete'])
    await remove(type, 'b')
    expect(succeed(await restore(type, 'a'))).toMatchObject({ external_id: 'e', external_source: 'default' })
  })

  test('creates its index entries again; a duplicate in a unique index is refused', {
    tags: 'full',
  }, async () => {
    const indexes = [
      { fields: ['data.n'], unique: true },
      { fields: ['data.name'] },
      { fields: ['data.text'], type: 'text' },
    ]
    const type = await world.newType({ indexes })
    const data = { n: 7, name: 'x', text: 'quick brown fox' }
    await put(type, 'a', { data })
    await remove(type, 'a')
    await put(type, 'b', { data: { n: 7 } })
    const refused = expectFailure(await restore(type, 'a'), 'CONFLICT')
    expect(refused.details[0]).toMatchObject({ code: 'duplicate_value', path: '/data/n' })
    await remove(type, 'b')
    succeed(await restore(type, 'a'))
    for (const filter of [
      { field: 'data.n', op: 'eq', value: 7 },
      { field: 'data.name', op: 'eq', value: 'x' },
      { field: 'data.text', op: 'search', value: 'brown' },
    ]) {
      const found = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, { filter }))
      expect(found.data.map(({ id }: Body) => id)).toEqual(['a'])
    }
    expectFailure(await world.call('PUT', at(type, 'c'), { data: { n: 7 } }), 'CONFLICT')
  })

  test('ignores the current schema, and flags the record if invalid', async () => {
    const type = await world.newType()
    await put(type, 'a', { data: { n: 'old' } })
    await remove(type, 'a')
    const json_schema = { type: 'object', properties: { n: { type: 'number' } } }
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema }))
    expect(succeed(await restore(type, 'a'))).toMatchObject({ data: { n: 'old' }, valid: false })
  })

  test('acts on the existing record if the id was created again', async () => {
    const type = await world.newType()
    await put(type, 'a', { data: { life: 1 } })
    await remove(type, 'a')
    await put(type, 'a', { data: { life: 2 } })
    expect(succeed(await restore(type, 'a'))).toMatchObject({ data: { life: 2 }, version: 3 })
  })

  test('is 404 after trash_days, even before it is purged, and if its type was deleted', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    await put(type, 'a')
    await remove(type, 'a')
    await age(type, 29)
    expect((await trash(`?record_type=${type}`)).data).toHaveLength(1)
    await age(type, 2)
    expect((await trash(`?record_type=${type}`)).data).toEqual([])
    const error = expectFailure(await restore(type, 'a'), 'NOT_FOUND')
    expect(error.details[0].code).toBe('trash_expired')
    await put(type, 'b')
    await remove(type, 'b')
    succeed(await world.call('DELETE', `/v1/crm/record-types/${type}`))
    const gone = expectFailure(await restore(type, 'b'), 'NOT_FOUND')
    expect(gone.details[0].code).toBe('record_type_not_found')
    expect((await trash()).data.filter((each: Body) => each.record_type === type)).toEqual([])
  })

  test('with If-Match expects the last version before the deletion', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'a')
    await put(type, 'a', { data: { n: 2 } })
    await remove(type, 'a')
    const error = expectFailure(await restore(type, 'a', { 'if-match': '"1"' }), 'CONFLICT')
    expect(error.details[0]).toMatchObject({ code: 'version_mismatch', expected: 2, received: 1 })
    expect(succeed(await restore(type, 'a', { 'if-match': '"2"' })).version).toBe(4)
  })

  test('happens once for concurrent requests', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'a')
    await remove(type, 'a')
    const answers = await Promise.all(times(12, () => restore(type, 'a')))
    expect(answers.map((answer) => succeed(answer).version)).toEqual(times(12, () => 3))
    expect(await world.logOf(type, 'a')).toHaveLength(3)
  })

  test('as a dry run or without write permission changes nothing', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'a')
    await remove(type, 'a')
    const dry = succeed(await world.call('POST', `${at(type, 'a')}/restore?dry_run=true`))
    expect(dry).toMatchObject({ dry_run: true, version: 3 })
    const { call } = await world.newToken([{ permission: 'read' }])
    expectFailure(await call('POST', `${at(type, 'a')}/restore`), 'FORBIDDEN')
    expectFailure(await world.call('GET', at(type, 'a')), 'NOT_FOUND')
    expect(await world.logOf(type, 'a')).toHaveLength(2)
  })
})

describe('The trash', () => {
  test('shows each deleted record with its time of deletion, its time of expiry and who deleted it', async () => {
    const type = await world.newType()
    const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'remover' })
    const record = await put(type, 'a', { external_id: 'e' })
    succeed(await call('DELETE', at(type, 'a')))
    const { data, meta } = await trash(`?record_type=${type}&include_total=true`)
    const { operation, ...was } = record
    expect(operation).toBe('created')
    expect(data).toEqual([
      {
        ...was,
        deleted_at: expect.stringMatching(TIME),
        deleted_by: { token_id: tokenId, name: 'remover', kind: 'program', via: 'rest' },
        expires_at: expect.stringMatching(TIME),
      },
    ])
    expect(Date.parse(data[0].expires_at) - Date.parse(data[0].deleted_at)).toBe(30 * DAY)
    expect(meta.total).toBe(1)
  })

  test('contains deleted records, but none that was restored or created again, paged newest first', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await put(type, id)
      await remove(type, id)
    }
    succeed(await restore(type, 'b'))
    await put(type, 'd')
    const seen: string[] = []
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await trash(`?record_type=${type}&limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      seen.push(...page.data.map(({ id }: Body) => id))
      more = page.meta.has_more
      cursor = page.meta.next_cursor
    }
    expect(seen).toEqual(['e', 'c', 'a'])
    const counted = await trash(`?record_type=${type}&limit=1&offset=2&include_total=true`)
    expect([counted.data[0].id, counted.meta.total]).toEqual(['a', 3])
    await remove(type, 'b')
    expect((await trash(`?record_type=${type}`)).data[0]).toMatchObject({ id: 'b', version: 3 })
  })

  test('shows and counts only granted types, and a type without a grant is 403', {
    tags: 'full',
  }, async () => {
    const [mine, theirs] = [await world.newType(), await world.newType()]
    for (const type of [mine, theirs]) {
      await put(type, 'a')
      await remove(type, 'a')
    }
    const { call } = await world.newToken([{ record_type: mine, permission: 'read' }])
    const { data, meta } = succeed(await call('GET', '/v1/crm/trash?include_total=true'))
    expect(data.map((each: Body) => each.record_type)).toEqual([mine])
    expect(meta.total).toBe(1)
    expectFailure(await call('GET', `/v1/crm/trash?record_type=${theirs}`), 'FORBIDDEN')
    expectFailure(await call('GET', '/v1/crm/trash?record_type=never'), 'FORBIDDEN')
    expectFailure(await call('GET', '/v1/other/trash'), 'FORBIDDEN')
  })

  test('of an absent base or type is 404, and unknown parameters are refused', async () => {
    expectFailure(await world.call('GET', '/v1/absent/trash'), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/crm/trash?record_type=never'), 'NOT_FOUND')
    expectFault(await world.call('GET', '/v1/crm/trash?type=x'), 'query/type')
  })

  test('applies the current trash_days of the base', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/short', { settings: { trash_days: 0 } }), 201)
    succeed(await world.call('PUT', '/v1/short/record-types/t', {}), 201)
    succeed(await world.call('PUT', '/v1/short/records/t/a', { data: {} }), 201)
    succeed(await world.call('DELETE', '/v1/short/records/t/a'))
    expect(succeed(await world.call('GET', '/v1/short/trash')).data).toEqual([])
    expectFailure(await world.call('POST', '/v1/short/records/t/a/restore'), 'NOT_FOUND')
    succeed(await world.call('PUT', '/v1/bases/short', { settings: { trash_days: 1 } }))
    expect(succeed(await world.call('GET', '/v1/short/trash')).data).toHaveLength(1)
    succeed(await world.call('POST', '/v1/short/records/t/a/restore'))
  })
})
