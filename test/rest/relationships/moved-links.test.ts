import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let deal: string
let company: string
let n = 0

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  deal = await world.newType()
  company = await world.newType()
  for (const id of ['d1', 'd2']) await putRecord(deal, id)
  for (const id of ['acme', 'globex', 'umbra']) await putRecord(company, id)
})

const putRecord = async (type: string, id: string) =>
  succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
const newRelType = async (cardinality: string) => {
  const id = `moves_${++n}`
  succeed(await world.call('PUT', `/v1/crm/relationship-types/${id}`, { cardinality }), 201)
  return id
}
const ends = (rel_type: string, source_id: string, target_id: string) => ({
  rel_type,
  source_record_type: deal,
  source_id,
  target_record_type: company,
  target_id,
})
const link = (body: object, query = '') => world.call('PUT', `/v1/crm/relationships${query}`, body)
const linksOf = async (relType: string) => {
  const filter = encodeURIComponent(JSON.stringify({ field: 'rel_type', op: 'eq', value: relType }))
  const { data } = succeed(await world.call('GET', `/v1/crm/relationships?filter=${filter}&sort=source_id`))
  return data.map((one: Body) => [one.source_id, one.target_id])
}
const batch = (operations: object[], query = '') =>
  world.call('POST', `/v1/crm/batch${query}`, { operations })

test('a conflict of cardinality names the operation that solves it, which moves the link', {
  tags: 'full',
}, async () => {
  const relType = await newRelType('many_to_one')
  const former = succeed(await link(ends(relType, 'd1', 'acme')), 201)
  const { details } = expectFailure(await link(ends(relType, 'd1', 'globex')), 'CONFLICT')
  expect(details).toMatchObject([
    { path: '/source_id', code: 'cardinality', hint: '"replace": true', samples: [{ id: former.id }] },
  ])
  expect(details[0].message).toContain('upsert_relationship')
  const moved = succeed(await link({ ...ends(relType, 'd1', 'globex'), replace: true }), 201)
  expect(moved).toMatchObject({ operation: 'created', replaced: [former.id], target_id: 'globex' })
  expect(await linksOf(relType)).toEqual([['d1', 'globex']])
  const { data } = succeed(await world.call('GET', `/v1/crm/changes?kind=relationship&id=${former.id}`))
  expect(data.map((entry: Body) => entry.operation)).toEqual(['create', 'delete'])
  const same = succeed(await link({ ...ends(relType, 'd1', 'globex'), replace: true }))
  expect(same).toMatchObject({ id: moved.id, operation: 'unchanged' })
  expect(same).not.toHaveProperty('replaced')
})

test('replace: true makes room at both ends of a one_to_one type', { tags: 'full' }, async () => {
  const relType = await newRelType('one_to_one')
  const first = succeed(await link(ends(relType, 'd1', 'acme')), 201)
  const second = succeed(await link(ends(relType, 'd2', 'globex')), 201)
  const moved = succeed(await link({ ...ends(relType, 'd1', 'globex'), replace: true }), 201)
  expect(moved.replaced.toSorted()).toEqual([first.id, second.id].toSorted())
  expect(await linksOf(relType)).toEqual([['d1', 'globex']])
})

test('replace: true moves the link of the id, whose versions go on', { tags: 'full' }, async () => {
  const relType = await newRelType('many_to_many')
  const path = `/v1/crm/relationships/${relType}-l`
  succeed(await world.call('PUT', path, ends(relType, 'd1', 'acme')), 201)
  const body = ends(relType, 'd1', 'globex')
  expectFailure(await world.call('PUT', path, body), 'VALIDATION_ERROR')
  const moved = succeed(await world.call('PUT', path, { ...body, replace: true }), 201)
  expect(moved).toMatchObject({ id: `${relType}-l`, version: 3, replaced: [`${relType}-l`] })
  expect(await linksOf(relType)).toEqual([['d1', 'globex']])
  const { details } = expectFailure(
    await link({ ...ends(relType, 'd2', 'acme'), replace: true }),
    'VALIDATION_ERROR',
  )
  expect(details).toMatchObject([{ path: '/replace', code: 'not_replaceable' }])
})

test('a dry run of a move shows it and changes nothing', { tags: 'full' }, async () => {
  const relType = await newRelType('many_to_one')
  const former = succeed(await link(ends(relType, 'd1', 'acme')), 201)
  const shown = succeed(await link({ ...ends(relType, 'd1', 'globex'), replace: true }, '?dry_run=true'), 201)
  expect(shown).toMatchObject({ replaced: [former.id], dry_run: true })
  expect(await linksOf(relType)).toEqual([['d1', 'acme']])
})

test('concurrent moves of one source all succeed, and leave one link', { tags: 'full' }, async () => {
  const relType = await newRelType('many_to_one')
  succeed(await link(ends(relType, 'd1', 'acme')), 201)
  const answers = await Promise.all(
    times(12, (i) => link({ ...ends(relType, 'd1', i % 2 ? 'umbra' : 'globex'), replace: true })),
  )
  for (const answer of answers) expect([200, 201]).toContain(answer.status)
  const left = await linksOf(relType)
  expect(left).toHaveLength(1)
  const [counts] = await world.database.query<{ made: number; gone: number }>(
    `SELECT count(*) FILTER (WHERE operation = 'create')::int AS made, count(*) FILTER (WHERE operation = 'delete')::int AS gone
     FROM plinth.change WHERE kind = 'relationship' AND data ->> 'rel_type' = $1`,
    [relType],
  )
  expect(counts?.made).toBe((counts?.gone ?? 0) + 1)
})

test('concurrent moves that cross at a one_to_one type leave each end one link', {
  tags: 'full',
}, async () => {
  const relType = await newRelType('one_to_one')
  const pairs = [
    ['d1', 'acme'],
    ['d2', 'acme'],
    ['d1', 'globex'],
    ['d2', 'globex'],
  ] as const
  const answers = await Promise.all(
    [...pairs, ...pairs].map(([source, target]) => link({ ...ends(relType, source, target), replace: true })),
  )
  for (const answer of answers) expect([200, 201]).toContain(answer.status)
  const left = await linksOf(relType)
  expect(new Set(left.map(([source]: string[]) => source)).size).toBe(left.length)
  expect(new Set(left.map(([, target]: string[]) => target)).size).toBe(left.length)
  expect(left.length).toBeGreaterThan(0)
})

test('a batch moves links in order, and says what was replaced', { tags: 'full' }, async () => {
  const relType = await newRelType('many_to_one')
  const move = (target: string) => ({
    type: 'upsert_relationship',
    ...ends(relType, 'd1', target),
    replace: true,
  })
  const { data } = succeed(await batch([move('acme'), move('globex'), move('umbra'), move('umbra')]))
  expect(data.map(({ operation }: Body) => operation)).toEqual(['created', 'created', 'created', 'unchanged'])
  expect(data.map(({ replaced }: Body) => replaced)).toEqual([
    undefined,
    [data[0].id],
    [data[1].id],
    undefined,
  ])
  expect(await linksOf(relType)).toEqual([['d1', 'umbra']])
})

test('a batch, REST and link_records delete a link by its ends', { tags: 'full' }, async () => {
  const relType = await newRelType('many_to_many')
  for (const id of ['acme', 'globex', 'umbra']) succeed(await link(ends(relType, 'd1', id)), 201)
  const unlink = { type: 'delete_relationship', ...ends(relType, 'd1', 'acme') }
  const { data } = succeed(await batch([unlink]))
  expect(data).toMatchObject([{ operation: 'deleted', version: 2 }])
  const absent = expectFailure(await batch([unlink]), 'NOT_FOUND')
  expect(absent.details).toMatchObject([{ path: '/operations/0/rel_type', code: 'relationship_not_found' }])
  const query = (target: string) => `?${new URLSearchParams(ends(relType, 'd1', target))}`
  expect(succeed(await world.call('DELETE', `/v1/crm/relationships${query('globex')}`))).toMatchObject({
    deleted: true,
  })
  expectFailure(await world.call('DELETE', `/v1/crm/relationships${query('globex')}`), 'NOT_FOUND')
  expectFailure(await world.call('DELETE', `/v1/crm/relationships?rel_type=${relType}`), 'VALIDATION_ERROR')
  const { body } = await callTool(
    world,
    '/mcp/crm',
    'link_records',
    { ...ends(relType, 'd1', 'umbra'), remove: true },
    { token: world.adminToken },
  )
  expect(body.deleted).toBe(true)
  expect(await linksOf(relType)).toEqual([])
})

test('a batch deletes by ends what it linked before, once, and takes a reference as an end', {
  tags: 'full',
}, async () => {
  const relType = await newRelType('many_to_many')
  const created = { type: 'create_record', name: 'new', record_type: deal, data: {} }
  const byRef = { ...ends(relType, 'd1', 'acme'), source_id: { $ref: 'new' } }
  const { data } = succeed(
    await batch([
      created,
      { type: 'upsert_relationship', name: 'l', ...byRef },
      { type: 'delete_relationship', ...byRef },
    ]),
  )
  expect(data.map(({ operation }: Body) => operation)).toEqual(['created', 'created', 'deleted'])
  const held = succeed(await link(ends(relType, 'd2', 'acme')), 201)
  const twice = [
    { type: 'delete_relationship', id: held.id },
    { type: 'delete_relationship', ...ends(relType, 'd2', 'acme') },
  ]
  for (const operations of [twice, twice.toReversed()])
    expect(expectFailure(await batch(operations), 'NOT_FOUND').details[0].path).toMatch(/^\/operations\/1\//)
  expect(await linksOf(relType)).toEqual([['d2', 'acme']])
})

test.each([
  [{ id: 'x', rel_type: 'y' }, '/operations/0/rel_type', 'exclusive'],
  [{}, '/operations/0/id', 'required'],
  [{ rel_type: 'y', source_id: 'd1' }, '/operations/0/source_record_type', 'required'],
  [
    {
      rel_type: 'y y',
      ...{ source_record_type: 'a', source_id: 'd', target_record_type: 'b', target_id: 'c' },
    },
    '/operations/0/rel_type',
    'invalid_id',
  ],
])('a deletion by ends is refused when it is %j', async (more, path, code) => {
  const { details } = expectFailure(
    await batch([{ type: 'delete_relationship', ...more }]),
    'VALIDATION_ERROR',
  )
  expect(details[0]).toMatchObject({ path, code })
})

test('replace: true does not delete a link whose other end the token may not write', {
  tags: 'full',
}, async () => {
  const relType = await newRelType('many_to_one')
  const secret = await world.newType()
  await putRecord(secret, 'hidden')
  const hidden = { ...ends(relType, 'd1', 'hidden'), target_record_type: secret }
  succeed(await link(hidden), 201)
  const grant = { base: 'crm', environment: '*' }
  for (const permission of [null, 'read'] as const) {
    const { token } = succeed(
      await world.call('POST', '/v1/tokens', {
        name: 'narrow',
        grants: [
          { ...grant, record_type: [deal, company], permission: 'write' },
          ...(permission ? [{ ...grant, record_type: secret, permission }] : []),
        ],
      }),
      201,
    )
    const body = { ...ends(relType, 'd1', 'acme'), replace: true }
    const answer = await world.as(token)('PUT', '/v1/crm/relationships', body)
    const { details } = expectFailure(answer, 'CONFLICT')
    expect(details[0].code).toBe('cardinality')
    expect(details[0]).not.toHaveProperty('hint')
    expect(JSON.stringify(answer.body).includes('hidden')).toBe(permission === 'read')
  }
  expect(await linksOf(relType)).toEqual([['d1', 'hidden']])
})
