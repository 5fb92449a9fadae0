import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { lastSeq, linkNames, logAfter } from '../../support/links.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let note: string
let person: string

beforeAll(async () => {
  world = await openWorld()
  note = await world.newType()
  person = await world.newType()
  const wrote = { source_record_types: [person], target_record_types: [note] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/wrote', wrote), 201)
  const rated = {
    data_schema: { type: 'object', properties: { stars: { type: 'integer' } }, required: ['stars'] },
    cardinality: 'many_to_one',
  }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/rated', rated), 201)
  for (const id of ['n1', 'n2']) {
    const body = { data: {}, external_id: id.toUpperCase(), external_source: 'mail' }
    succeed(await world.call('PUT', `/v1/crm/records/${note}/${id}`, body), 201)
  }
})
afterAll(() => world.close())

const put = (id: string, relationships: unknown, more: object = {}, recordType = person, query = '') =>
  world.call('PUT', `/v1/crm/records/${recordType}/${id}${query}`, { data: {}, relationships, ...more })
const of = (id: string, links: readonly string[]) => links.filter((each) => each.includes(id))
const pathsOf = (error: Body): string[] => error.details.map(({ path }: { path: string }) => path)

test('a PUT adds links to and from the record, by id and by external id, and removes none', {
  tags: 'full',
}, async () => {
  succeed(await put('ann', [{ rel_type: 'wrote', record_type: note, id: 'n1' }]), 201)
  const byPair = { rel_type: 'wrote', record_type: note, external_id: 'N2', external_source: 'mail' }
  expect(succeed(await put('ann', [byPair]))).toMatchObject({ operation: 'unchanged', version: 1 })
  const incoming = { rel_type: 'wrote', direction: 'incoming', record_type: person, id: 'ann' }
  succeed(await put('n3', [incoming], {}, note), 201)
  succeed(await put('ann', []))
  expect(of('ann', await linkNames(world))).toEqual(['wrote:ann>n1', 'wrote:ann>n2', 'wrote:ann>n3'])
})

test('a POST and a PUT by external id add links, also to the record itself', { tags: 'full' }, async () => {
  const at = `/v1/crm/records/${person}`
  const relationships = [{ rel_type: 'wrote', record_type: note, id: 'n1' }]
  const posted = succeed(await world.call('POST', at, { data: {}, relationships }), 201)
  const upserted = succeed(
    await world.call('PUT', at, { data: {}, external_id: 'by-pair', relationships }),
    201,
  )
  const links = await linkNames(world, 'wrote')
  for (const { id } of [posted, upserted]) expect(of(id, links)).toEqual([`wrote:${id}>n1`])
  const self = { rel_type: 'rated', record_type: person, id: 'self', data: { stars: 5 } }
  succeed(await put('self', [self]), 201)
  expect(await linkNames(world, 'rated')).toEqual(['rated:self>self'])
})

test('the answer says how many links were created, updated and left as they were', {
  tags: 'full',
}, async () => {
  const rated = (id: string, stars: number) => ({ rel_type: 'wrote', record_type: note, id, data: { stars } })
  const made = succeed(await put('told', [rated('n1', 1), rated('n2', 2)]), 201)
  expect(made.relationships).toEqual({ created: 2, updated: 0, unchanged: 0 })
  const next = succeed(await put('told', [rated('n1', 1), rated('n2', 3)]))
  expect(next.relationships).toEqual({ created: 0, updated: 1, unchanged: 1 })
  const dry = succeed(await put('told', [rated('n1', 5)], {}, person, '?dry_run=true'))
  expect(dry.relationships).toEqual({ created: 0, updated: 1, unchanged: 0 })
  for (const none of [undefined, []])
    expect(succeed(await put('told', none))).not.toHaveProperty('relationships')
  expect(succeed(await world.call('GET', `/v1/crm/records/${person}/told`))).not.toHaveProperty(
    'relationships',
  )

  const at = `/v1/crm/records/${person}`
  const relationships = [rated('n1', 1)]
  const posted = succeed(await world.call('POST', at, { data: {}, relationships }), 201)
  const paired = await world.call('PUT', at, { data: {}, external_id: 'told-pair', relationships })
  for (const { relationships } of [posted, succeed(paired, 201)])
    expect(relationships).toEqual({ created: 1, updated: 0, unchanged: 0 })
  const key = { 'idempotency-key': 'told-key' }
  const send = () => world.call('POST', at, { data: {}, relationships }, key)
  expect((await send()).text).toBe((await send()).text)
})

test('a batch says what became of the links of each record', async () => {
  const upsert = (id: string, relationships?: object[]) => ({
    ...{ type: 'upsert_record', record_type: person, id, data: {} },
    ...(relationships && { relationships }),
  })
  const wrote = (id: string) => ({ rel_type: 'wrote', record_type: note, id })
  const operations = [upsert('b1', [wrote('n1'), wrote('n2')]), upsert('b2', [wrote('n1')]), upsert('b3')]
  const { data } = succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  expect(data.map(({ relationships }: Body) => relationships)).toEqual([
    { created: 2, updated: 0, unchanged: 0 },
    { created: 1, updated: 0, unchanged: 0 },
    undefined,
  ])
  const again = succeed(await world.call('POST', '/v1/crm/batch', { operations: operations.slice(0, 1) }))
  expect(again.data[0]).toMatchObject({ operation: 'unchanged', relationships: { created: 0, unchanged: 2 } })
})

test('a PUT writes an existing link only if its data changes, and keeps its data if none is sent', async () => {
  const link = { rel_type: 'rated', record_type: note, id: 'n1' }
  succeed(await put('critic', [{ ...link, data: { stars: 1 } }]), 201)
  const seq = await lastSeq(world)
  succeed(await put('critic', [{ ...link, data: { stars: 1 } }]))
  succeed(await put('critic', [link]))
  expect(await logAfter(world, seq)).toEqual([])
  expect(succeed(await put('critic', [{ ...link, data: { stars: 2 } }])).operation).toBe('unchanged')
  expect(await logAfter(world, seq)).toMatchObject([
    { kind: 'relationship', operation: 'update', version: 2, data: { data: { stars: 2 } } },
  ])
})

test('an invalid link is refused with its path, and neither record nor link is written', async () => {
  const seq = await lastSeq(world)
  const good = { rel_type: 'wrote', record_type: note, id: 'n1' }
  const answer = await put('ghost', [
    good,
    { ...good, id: 'absent' },
    { ...good, rel_type: 'wrot' },
    { rel_type: 'wrote', record_type: note, external_id: 'ABSENT' },
    { ...good, direction: 'incoming' },
    { rel_type: 'rated', record_type: note, id: 'n1', data: { stars: 'many' } },
  ])
  const error = expectFailure(answer, 'VALIDATION_ERROR')
  expect(pathsOf(error)).toEqual([
    '/relationships/1/id',
    '/relationships/2/rel_type',
    '/relationships/3/external_id',
    '/relationships/4/record_type',
    '/relationships/4/rel_type',
    '/relationships/5/data/stars',
  ])
  expect(error.details[1].hint).toBe('wrote')
  expect(await logAfter(world, seq)).toEqual([])
  expectFailure(await world.call('GET', `/v1/crm/records/${person}/ghost`), 'NOT_FOUND')
})

test('a PUT refuses links with ambiguous ends, unknown keys, or more than a thousand entries', async () => {
  const good = { rel_type: 'wrote', record_type: note, id: 'n1' }
  const unclear = [
    { ...good, external_id: 'N1' },
    { rel_type: 'wrote', record_type: note },
    { ...good, id: '/' },
  ]
  const faults = expectFailure(await put('x', unclear), 'VALIDATION_ERROR')
  expect(pathsOf(faults)).toEqual([
    '/relationships/0/external_id',
    '/relationships/1/id',
    '/relationships/2/id',
  ])
  const misspelt = expectFailure(await put('x', [{ ...good, dta: {} }]), 'VALIDATION_ERROR')
  expect(misspelt.details).toMatchObject([{ path: '/relationships/0/dta', hint: 'data' }])
  expect(
    pathsOf(expectFailure(await put('x', [{ ...good, direction: 'both' }]), 'VALIDATION_ERROR')),
  ).toEqual(['/relationships/0/direction'])
  for (const wrong of [null, {}, 'wrote', times(1001, () => good)])
    expect(pathsOf(expectFailure(await put('x', wrong), 'VALIDATION_ERROR'))[0]).toMatch(/^\/relationships/)
})

test('a link that violates the cardinality is a 409 that leaves the record unchanged', async () => {
  const rate = (id: string) => ({ rel_type: 'rated', record_type: note, id, data: { stars: 3 } })
  succeed(await put('once', [rate('n1')], { data: { n: 1 } }), 201)
  const error = expectFailure(await put('once', [rate('n2')], { data: { n: 2 } }), 'CONFLICT')
  expect(error.details).toMatchObject([{ path: '/relationships/0/rel_type', code: 'cardinality' }])
  expect(succeed(await world.call('GET', `/v1/crm/records/${person}/once`)).data).toEqual({ n: 1 })
})

test('a dry run writes no link, and an idempotency key makes record and link written once', async () => {
  const links = [{ rel_type: 'wrote', record_type: note, id: 'n1' }]
  expect(succeed(await put('dry', links, {}, person, '?dry_run=true'), 201).dry_run).toBe(true)
  expect(of('dry', await linkNames(world))).toEqual([])
  const seq = await lastSeq(world)
  for (const _ of [1, 2])
    succeed(
      await world.call(
        'PUT',
        `/v1/crm/records/${person}/keyed`,
        { data: {}, relationships: links },
        { 'idempotency-key': 'keyed-links' },
      ),
      201,
    )
  expect((await logAfter(world, seq)).map(({ kind }) => kind)).toEqual(['record', 'relationship'])
})

test('a link is refused without write permission on the other end, whether or not its type exists', async () => {
  const { call } = await world.newToken([
    { record_type: person, permission: 'write' },
    { record_type: note, permission: 'read' },
  ])
  for (const recordType of [note, 'nowhere']) {
    const relationships = [{ rel_type: 'wrote', record_type: recordType, id: 'n1' }]
    const answer = await call('PUT', `/v1/crm/records/${person}/bob`, { data: {}, relationships })
    expectFailure(answer, 'FORBIDDEN')
  }
  expectFailure(await world.call('GET', `/v1/crm/records/${person}/bob`), 'NOT_FOUND')
})

test('putRecord in GraphQL accepts the same links', async () => {
  const query = `mutation ($type: String!, $links: [RecordLink!]) {
    putRecord(base: "crm", recordType: $type, id: "graph", data: {}, relationships: $links) { id operation }
  }`
  const links = [{ relType: 'wrote', direction: 'outgoing', recordType: note, id: 'n1' }]
  const answer = await world.call('POST', '/graphql', { query, variables: { type: person, links } })
  expect(succeed(answer).data).toEqual({ putRecord: { id: 'graph', operation: 'created' } })
  expect(of('graph', await linkNames(world))).toEqual(['wrote:graph>n1'])
})
