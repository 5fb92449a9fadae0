import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times, UUID7 } from '../../support/answers.ts'
import { link, linksOf } from '../../support/links.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let links: ReturnType<typeof linksOf>
beforeAll(async () => {
  world = await openWorld()
  links = linksOf(world)
  for (const type of ['person', 'company', 'secret']) {
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
    for (const id of ['a', 'b', 'c', 'd'])
      succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
  }
  await links.newRelType('knows')
})
afterAll(() => world.close())

const [A, B, C, D] = [
  ['person', 'a'],
  ['person', 'b'],
  ['person', 'c'],
  ['person', 'd'],
] as const
const [X, Y, S] = [
  ['company', 'a'],
  ['company', 'b'],
  ['secret', 'a'],
] as const
const idsOf = (list: Body) => list.data.map(({ id }: Body) => id)

describe('A relationship', () => {
  test('is created, read, changed and deleted, with a log entry for each write', {
    tags: 'full',
  }, async () => {
    const made = await links.put('k1', link('knows', A, B, { data: { how: 'school' }, external_id: 'x1' }))
    const whole = {
      id: 'k1',
      ...link('knows', A, B),
      data: { how: 'school' },
      external_id: 'x1',
      external_source: 'default',
      version: 1,
      created_at: expect.stringMatching(TIME),
      updated_at: made.body.created_at,
    }
    expect(succeed(made, 201)).toEqual({ ...whole, operation: 'created' })
    expect(made.headers.get('location')).toBe('/v1/crm/relationships/k1')
    expect(made.headers.get('etag')).toBe('"1"')
    expect(succeed(await links.get('k1'))).toEqual(whole)
    const same = succeed(await links.put('k1', link('knows', A, B, { data: { how: 'school' } })))
    expect(same).toEqual({ ...whole, operation: 'unchanged' })
    const changed = succeed(await links.put('k1', link('knows', A, B)))
    expect(changed).toMatchObject({ data: {}, external_id: 'x1', version: 2, operation: 'updated' })
    const gone = await links.remove('k1')
    expect(succeed(gone)).toEqual({ id: 'k1', deleted: true })
    expectFailure(await links.get('k1'), 'NOT_FOUND')
    expectFailure(await links.remove('k1'), 'NOT_FOUND')
    expect(succeed(await links.put('k1', link('knows', A, B)), 201).version).toBe(4)
    const log = await links.logOf('relationship', 'k1')
    expect(log.map(({ operation, version }) => [operation, version])).toEqual([
      ['create', 1],
      ['update', 2],
      ['delete', 3],
      ['create', 4],
    ])
    expect(log[0]).toMatchObject({ record_type: null, actor_name: 'admin', via: 'rest' })
    expect(log[0]?.data).toEqual({
      ...link('knows', A, B),
      data: { how: 'school' },
      external_id: 'x1',
      external_source: 'default',
    })
    succeed(await links.remove('k1'))
  })

  test('with ends that already have a link of its type updates that link, whatever the path id', {
    tags: 'full',
  }, async () => {
    succeed(await links.put('n1', link('knows', A, C)), 201)
    const again = await links.put('n2', link('knows', A, C, { data: { n: 2 } }))
    expect(succeed(again)).toMatchObject({ id: 'n1', data: { n: 2 }, version: 2 })
    expectFailure(await links.get('n2'), 'NOT_FOUND')
    const bare = await world.call('PUT', '/v1/crm/relationships', link('knows', A, C, { data: { n: 3 } }))
    expect(succeed(bare)).toMatchObject({ id: 'n1', version: 3 })
    const fresh = succeed(await world.call('PUT', '/v1/crm/relationships', link('knows', C, A)), 201)
    expect(fresh.id).toMatch(UUID7)
    const post = (body: object) => world.call('POST', '/v1/crm/relationships', body)
    expectFailure(await post(link('knows', C, A)), 'CONFLICT')
    expectFailure(await post(link('knows', C, B, { id: 'n1' })), 'VALIDATION_ERROR')
    expect(succeed(await post(link('knows', C, B, { id: 'n3' })), 201).id).toBe('n3')
    // Self-links are allowed, and the reverse direction is a different link.
    succeed(await links.put('n4', link('knows', A, A)), 201)
    for (const id of ['n1', 'n3', 'n4', fresh.id]) succeed(await links.remove(id))
  })

  test('refuses a change of its ends', { tags: 'full' }, async () => {
    succeed(await links.put('e1', link('knows', A, B)), 201)
    const fault = expectFault(await links.put('e1', link('knows', A, C)), '')
    expect(fault).toMatchObject({ code: 'ends_fixed', expected: link('knows', A, B) })
    succeed(await links.put('e2', link('knows', A, D)), 201)
    expectFault(await links.put('e2', link('knows', A, B)), '')
    expect(succeed(await links.get('e1')).version).toBe(1)
    for (const id of ['e1', 'e2']) succeed(await links.remove(id))
  })

  test('can be written by its external id, as records can', async () => {
    const pair = { external_id: 'p1', external_source: 'crm' }
    succeed(await links.put('p1', link('knows', A, B, pair)), 201)
    expect(succeed(await links.put('p2', link('knows', A, B, { ...pair, data: { n: 1 } }))).id).toBe('p1')
    expectFault(await links.put('p3', link('knows', B, C, pair)), '')
    succeed(await links.put('p4', link('knows', B, C)), 201)
    const [taken] = expectFailure(await links.put('p4', link('knows', B, C, pair)), 'CONFLICT').details
    expect(taken).toMatchObject({ path: '/external_id', code: 'duplicate_external_id', received: 'p1' })
    expect(taken.samples).toEqual(['p1'])
    const moved = { external_id: 'p2', external_source: 'crm' }
    expect(succeed(await links.put('p1', link('knows', A, B, { ...moved, data: { n: 1 } })))).toMatchObject({
      ...moved,
      version: 3,
    })
    succeed(await links.put('p4', link('knows', B, C, pair)))
    expectFault(await links.put('p5', link('knows', C, C, { external_source: 'crm' })), '/external_id')
    for (const id of ['p1', 'p4']) succeed(await links.remove(id))
  })

  test('obeys If-Match, If-None-Match and expected_version', async () => {
    const body = link('knows', A, B)
    expectFailure(await links.put('v1', body, { 'if-match': '"1"' }), 'NOT_FOUND')
    succeed(await links.put('v1', body, { 'if-none-match': '*' }), 201)
    expectFailure(await links.put('v1', body, { 'if-none-match': '*' }), 'CONFLICT')
    const stale = await links.put('v1', { ...body, data: { n: 1 } }, { 'if-match': '"7"' })
    expect(expectFailure(stale, 'CONFLICT').details[0]).toMatchObject({ expected: 1, received: 7 })
    succeed(await links.put('v1', { ...body, data: { n: 1 }, expected_version: 1 }))
    expectFailure(await links.remove('v1', { 'if-match': '"1"' }), 'CONFLICT')
    succeed(await links.remove('v1', { 'if-match': '"2"' }))
  })

  test('with an unknown type or end is refused, and nothing is written', { tags: 'full' }, async () => {
    await links.newRelType('works', { source_record_types: ['person'], target_record_types: ['company'] })
    const refused: [object, string, string, string?][] = [
      [link('wrks', A, X), '/rel_type', 'unknown_relationship_type', 'works'],
      [link('works', ['person', 'zz'], X), '/source_id', 'unknown_record'],
      [link('works', A, ['company', 'zz']), '/target_id', 'unknown_record'],
      [link('works', X, Y), '/source_record_type', 'end_not_allowed'],
      [link('works', A, B), '/target_record_type', 'end_not_allowed'],
      [link('knows', A, ['compny', 'a']), '/target_record_type', 'unknown_record_type', 'company'],
      [link('works', A, X, { data: [] }), '/data', 'type'],
      [link('works', A, X, { datas: {} }), '/datas', 'unknown_key', 'data'],
      [link('works', ['person', '?'], X), '/source_id', 'invalid_id'],
      [{ ...link('works', A, X), source_id: undefined }, '/source_id', 'required'],
    ]
    for (const [body, at, code, hint] of refused) {
      const fault = expectFault(await links.put('w1', body), at)
      expect(fault).toMatchObject({ code, ...(hint && { hint }) })
    }
    expectFailure(await links.get('w1'), 'NOT_FOUND')
    expect(await links.logOf('relationship', 'w1')).toEqual([])
    const both = await links.put('w1', link('works', ['person', 'y'], ['company', 'z']))
    expect(expectFailure(both, 'VALIDATION_ERROR').details).toHaveLength(2)
    expectFailure(await world.call('PUT', '/v1/absent/relationships/w1', link('works', A, X)), 'NOT_FOUND')
  })

  test('is validated against the schema of its type', { tags: 'full' }, async () => {
    const stars = { type: 'integer', minimum: 1, maximum: 5 }
    const data_schema = {
      type: 'object',
      required: ['stars'],
      properties: { stars },
      additionalProperties: false,
    }
    await links.newRelType('rated', { data_schema })
    succeed(await links.put('r1', link('rated', A, X, { data: { stars: 5 } })), 201)
    for (const data of [{ stars: 6 }, { stars: '5' }, {}, { stars: 3, x: 1 }])
      expectFailure(await links.put('r2', link('rated', B, X, { data })), 'VALIDATION_ERROR')
    expectFailure(await links.get('r2'), 'NOT_FOUND')
  })

  test('is written once under an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'link-1' }
    const first = await links.put('i1', link('knows', A, B), key)
    const again = await links.put('i1', link('knows', A, B), key)
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    succeed(await links.remove('i1'))
  })
})

describe('The cardinality', () => {
  const kinds: [string, boolean, boolean][] = [
    ['many_to_many', true, true],
    ['one_to_many', true, false],
    ['many_to_one', false, true],
    ['one_to_one', false, false],
  ]
  test.each(kinds)(
    '%s accepts a second target: %s, a second source: %s',
    async (cardinality, twoTargets, twoSources) => {
      const type = `card_${cardinality}`
      await links.newRelType(type, { cardinality })
      succeed(await links.put(`${type}-1`, link(type, A, X)), 201)
      const second = await links.put(`${type}-2`, link(type, A, Y))
      const third = await links.put(`${type}-3`, link(type, B, X))
      for (const [answer, isFree, at, end] of [
        [second, twoTargets, '/source_id', 'target'],
        [third, twoSources, '/target_id', 'source'],
      ] as const) {
        if (isFree) succeed(answer, 201)
        else {
          const [fault] = expectFailure(answer, 'CONFLICT').details
          expect(fault).toMatchObject({ path: at, code: 'cardinality', expected: cardinality })
          expect(fault.message).toContain(`one ${end}`)
          expect(fault.samples).toEqual([{ id: `${type}-1`, ...link(type, A, X) }])
        }
      }
      succeed(await links.put(`${type}-1`, link(type, A, X, { data: { again: true } })))
      succeed(await links.remove(`${type}-1`))
      if (!twoTargets) succeed(await links.put(`${type}-2`, link(type, A, Y)), 201)
    },
  )

  test('one_to_one leaves exactly one link after 16 concurrent writes to one end', {
    tags: 'full',
  }, async () => {
    await links.newRelType('spouse', { cardinality: 'one_to_one' })
    const ends = [A, B, C, D]
    const answers = await Promise.all(
      times(16, (n) => links.put(`s${n}`, link('spouse', A, ends[n % 4] ?? A))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true)
    const left = await links.list({ filter: { field: 'rel_type', op: 'eq', value: 'spouse' } })
    expect(left.data).toHaveLength(1)
    const log = await Promise.all(times(16, (n) => links.logOf('relationship', `s${n}`)))
    expect(log.flat()).toHaveLength(1)
  })

  test('many_to_many leaves one link after 16 concurrent writes to the same ends under different ids', {
    tags: 'full',
  }, async () => {
    await links.newRelType('twin')
    const answers = await Promise.all(
      times(16, (n) => links.put(`t${n}`, link('twin', A, B, { data: { n } }))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    const versions = answers.map((answer) => answer.body.version).sort((a, b) => a - b)
    expect(versions).toEqual(times(16, (n) => n + 1))
  })
})

describe('The list of relationships', () => {
  beforeAll(async () => {
    await links.newRelType('led', {
      data_schema: { type: 'object', properties: { since: { type: 'string', format: 'date' }, n: {} } },
    })
    const people = [A, B, C, D]
    for (const [n, person] of people.entries())
      succeed(
        await links.put(
          `led${n}`,
          link('led', person, n < 2 ? X : Y, { data: { n, since: `202${n}-01-01` } }),
        ),
        201,
      )
  })
  const where = (field: string, op: string, value: unknown) => ({
    and: [
      { field: 'rel_type', op: 'eq', value: 'led' },
      { field, op, value },
    ],
  })

  test('filters, sorts, pages and counts by columns and by data', { tags: 'full' }, async () => {
    const all = { filter: { field: 'rel_type', op: 'eq', value: 'led' } }
    expect(idsOf(await links.list(all))).toEqual(['led3', 'led2', 'led1', 'led0'])
    expect(idsOf(await links.list({ ...all, sort: 'data.n' }))).toEqual(['led0', 'led1', 'led2', 'led3'])
    expect(
      idsOf(await links.list({ ...all, sort: [{ field: 'target_id' }, { field: 'id', direction: 'desc' }] })),
    ).toEqual(['led1', 'led0', 'led3', 'led2'])
    expect(idsOf(await links.list({ filter: where('target_id', 'eq', 'b') }))).toEqual(['led3', 'led2'])
    expect(idsOf(await links.list({ filter: where('data.n', 'gte', 2) }))).toEqual(['led3', 'led2'])
    expect(
      idsOf(await links.list({ filter: where('data.since', 'lt', '2021-01-01T00:00:00+14:00') })),
    ).toEqual(['led0'])
    expect(idsOf(await links.list({ filter: where('source_id', 'in', ['a', 'd']) }))).toEqual([
      'led3',
      'led0',
    ])
    const of = {
      and: [...where('source_record_type', 'eq', 'person').and, { field: 'source_id', op: 'eq', value: 'b' }],
    }
    expect(idsOf(await links.list({ filter: of }))).toEqual(['led1'])
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await links.list({
        ...all,
        sort: '-data.n',
        limit: 3,
        include_total: true,
        ...(cursor && { cursor }),
      })
      expect(page.meta.total).toBe(4)
      seen.push(...idsOf(page))
      cursor = page.meta.next_cursor
      if (!cursor) break
    }
    expect(seen).toEqual(['led3', 'led2', 'led1', 'led0'])
    expect(idsOf(await links.list({ ...all, limit: 2, offset: 1 }))).toEqual(['led2', 'led1'])
  })

  test.each<[string, string]>([
    ['filter={"field":"status","op":"eq","value":"x"}', 'query/filter/field'],
    ['filter={"field":"version","op":"like","value":"x"}', 'query/filter/op'],
    ['filter={}', 'query/filter'],
    ['sort=nope', 'query/sort'],
    ['sort=data.a[]', 'query/sort'],
    ['limit=0', 'query/limit'],
    ['fields=id', 'query/fields'],
    ['cursor=x', 'query/cursor'],
  ])('refuses %s', async (query, at) => {
    expectFault(await world.call('GET', `/v1/crm/relationships?${query}`), at)
  })
})

describe('A link to a record type without a grant', () => {
  let limited: Awaited<ReturnType<World['newToken']>>
  beforeAll(async () => {
    await links.newRelType('tied', { cardinality: 'one_to_one' })
    succeed(await links.put('hidden', link('tied', A, S, { external_id: 'h' })), 201)
    succeed(await links.put('shown', link('tied', B, X)), 201)
    limited = await world.newToken([{ permission: 'write', record_type: ['person', 'company', 'absent'] }])
  })

  test('is absent from reads, lists and counts', async () => {
    expectFailure(await links.get('hidden', limited.call), 'NOT_FOUND')
    expectFailure(await links.remove('hidden', {}, limited.call), 'NOT_FOUND')
    for (const filter of [
      { field: 'rel_type', op: 'eq', value: 'tied' },
      { field: 'source_id', op: 'in', value: ['a', 'b'] },
    ]) {
      const list = await links.list({ filter, include_total: true, limit: 1000 }, limited.call)
      expect(idsOf(list)).toContain('shown')
      expect(idsOf(list)).not.toContain('hidden')
      expect(list.meta.total).toBe(list.data.length)
    }
  })

  test('is refused, whether or not the record exists', async () => {
    for (const type of ['secret', 'nowhere'])
      expectFailure(await links.put('w', link('tied', A, [type, 'a']), {}, limited.call), 'FORBIDDEN')
    expectFault(
      await links.put('w', link('tied', A, ['absent', 'a']), {}, limited.call),
      '/target_record_type',
    )
  })

  test('counts for the cardinality, but its id and type are not disclosed', async () => {
    const refused = await links.put('w', link('tied', A, Y), {}, limited.call)
    const [fault] = expectFailure(refused, 'CONFLICT').details
    expect(fault.code).toBe('cardinality')
    expect(refused.text).not.toMatch(/hidden|secret/)
    const named = await links.put('w', link('tied', B, Y), {}, limited.call)
    expect(named.text).toContain('shown')
    const taken = await links.put('hidden', link('tied', C, Y), {}, limited.call)
    expectFailure(taken, 'CONFLICT')
    expect(taken.text).not.toContain('secret')
    const pair = await links.put('w', link('tied', C, Y, { external_id: 'h' }), {}, limited.call)
    expectFailure(pair, 'CONFLICT')
    expect(pair.text).not.toMatch(/hidden|secret/)
  })

  test('has a relationship type that is answered like an absent one', async () => {
    await links.newRelType('sealed', { target_record_types: ['secret'] })
    const codes = await Promise.all(
      ['sealed', 'absent'].map(async (type) =>
        expectFault(await links.put('w', link(type, A, X), {}, limited.call), '/rel_type'),
      ),
    )
    expect(codes.map(({ code }) => code)).toEqual(['unknown_relationship_type', 'unknown_relationship_type'])
    expect(codes[1].allowed).not.toContain('sealed')
  })

  test('needs read permission on both ends to read a link, and write permission to write it', {
    tags: 'full',
  }, async () => {
    const reader = await world.newToken([{ permission: 'read' }])
    succeed(await links.get('shown', reader.call))
    expectFailure(await links.put('w', link('tied', C, Y), {}, reader.call), 'FORBIDDEN')
    expectFailure(await links.remove('shown', {}, reader.call), 'FORBIDDEN')
    expectFailure(await links.put('w', { nonsense: 1 }, {}, reader.call), 'FORBIDDEN')
    const half = await world.newToken([
      { permission: 'write', record_type: 'person' },
      { permission: 'read', record_type: 'company' },
    ])
    succeed(await links.get('shown', half.call))
    expectFailure(await links.remove('shown', {}, half.call), 'FORBIDDEN')
    expectFailure(await links.put('w', link('tied', C, Y), {}, half.call), 'FORBIDDEN')
  })
})
