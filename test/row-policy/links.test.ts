import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openPolicyEngine, type Through } from '../support/row-policy.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

// a → b → x → c: the policy hides x, so a walk must not pass through it. Both a and x have an owner.
let world: World
let policies: Awaited<ReturnType<typeof openPolicyEngine>>
let through: Through
const OURS = { field: 'data.team', op: 'eq', value: 'ours' }
const TYPES = [
  { recordType: 'deal', filter: OURS, fields: ['data.title'], defaults: { team: 'ours' } },
  { recordType: 'person' },
]
const ends = (relType: string, source: string, target: string, targetType = 'deal') => ({
  relType,
  ...{ sourceRecordType: 'deal', sourceId: source, targetRecordType: targetType, targetId: target },
})

beforeAll(async () => {
  world = await openWorld()
  for (const type of ['deal', 'person', 'note'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  for (const type of ['next', 'owner', 'noted'])
    succeed(
      await world.call('PUT', `/v1/crm/relationship-types/${type}`, {
        source_record_types: ['deal'],
        target_record_types: ['*'],
      }),
      201,
    )
  const put = async (type: string, id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  for (const [id, team] of [
    ['a', 'ours'],
    ['b', 'ours'],
    ['x', 'theirs'],
    ['c', 'ours'],
  ] as const)
    await put('deal', id, { title: `deal ${id}`, secret: 'canary', team })
  await put('person', 'p', { name: 'Ada' })
  await put('note', 'n', { text: 'canary' })
  policies = await openPolicyEngine(world)
  const link = async (relType: string, source: string, targetType: string, target: string) =>
    succeed(
      await world.call('PUT', '/v1/crm/relationships', {
        rel_type: relType,
        ...{ source_record_type: 'deal', source_id: source },
        ...{ target_record_type: targetType, target_id: target },
      }),
      201,
    )
  await link('next', 'a', 'deal', 'b')
  await link('next', 'b', 'deal', 'x')
  await link('next', 'x', 'deal', 'c')
  await link('owner', 'a', 'person', 'p')
  await link('owner', 'x', 'person', 'p')
  await link('noted', 'a', 'note', 'n')
  through = await policies.through(TYPES)
})
afterAll(async () => {
  await policies.close()
  await world.close()
})

const found = (body: Body) => body.rows.map(({ record }: Body) => record.id).sort()

test('a walk under a row-level policy passes only through visible records, and counts only those', async () => {
  const { body } = await through('related', { type: 'deal', id: 'a', depth: 5 })
  expect(found(body)).toEqual(['b', 'p'])
  expect(body.total).toBe(2)
  expect(JSON.stringify(body)).not.toMatch(/canary|"x"|theirs|note/)
  const back = await through('related', { type: 'person', id: 'p', direction: 'incoming' })
  expect(found(back.body)).toEqual(['a'])
  expect(back.body.rows[0].record.data).toEqual({ title: 'deal a' })
})

test('a walk from a record hidden by the policy is answered like one from an absent record', async () => {
  const outside = await through('related', { type: 'deal', id: 'x' })
  const absent = await through('related', { type: 'deal', id: 'z' })
  expect(outside.error?.code).toBe('NOT_FOUND')
  expect(outside.error?.message.replace('"x"', '"z"')).toBe(absent.error?.message)
})

test('a walk under a row-level policy can filter and sort only by visible fields', async () => {
  const secret = { field: 'data.secret', op: 'eq', value: 'canary' }
  const title = { field: 'data.title', op: 'eq', value: 'deal b' }
  for (const more of [{}, { relatedType: 'deal' }]) {
    const hidden = await through('related', { type: 'deal', id: 'a', filter: secret, ...more })
    expect(hidden.error?.details[0]?.code).toBe('unknown_field')
    const sorted = await through('related', { type: 'deal', id: 'a', sort: 'data.secret', ...more })
    expect(sorted.error?.details[0]?.code).toBe('unknown_field')
    const shown = await through('related', { type: 'deal', id: 'a', filter: title, ...more })
    expect(found(shown.body)).toEqual(['b'])
    const search = { field: 'data', op: 'search', value: 'canary' }
    expect((await through('related', { type: 'deal', id: 'a', filter: search, ...more })).body.rows).toEqual(
      [],
    )
  }
  expect((await through('related', { type: 'deal', id: 'a', relatedType: 'note' })).error?.code).toBe(
    'FORBIDDEN',
  )
})

test('a condition on linked records under a row-level policy tests only visible records and fields', async () => {
  const list = async (type: string, filter: object) => {
    const { body, error } = await through('list', { type, filter, sort: 'id' })
    return error ? error.details[0]?.code : body.rows.map(({ id }: Body) => id).join(' ')
  }
  const title = (value: string) => ({ field: 'data.title', op: 'eq', value })
  expect(await list('deal', { some: { rel_type: 'next', filter: title('deal b') } })).toBe('a')
  // b leads to x, which the policy hides, as do the notes.
  expect(await list('deal', { some: { rel_type: 'next', filter: title('deal x') } })).toBe('')
  expect(await list('deal', { some: { rel_type: 'next' } })).toBe('a')
  expect(await list('deal', { none: { rel_type: 'next', record_type: 'deal' } })).toBe('b c')
  expect(await list('deal', { some: { rel_type: 'noted' } })).toBe('')
  expect(await list('deal', { some: { rel_type: 'noted', record_type: 'note' } })).toBe('unknown_record_type')
  expect(await list('person', { field: '~owner.id', op: 'eq', value: 'a' })).toBe('p')
  expect(await list('person', { field: '~owner.id', op: 'eq', value: 'x' })).toBe('')
  const secret = { field: '~owner.data.secret', op: 'eq', value: 'canary' }
  expect(await list('person', secret)).toBe('unknown_field')
  expect(await list('person', { field: '~owner.data', op: 'search', value: 'canary' })).toBe('')
})

test('an expansion under a row-level policy shows only visible records, at every level', async () => {
  const { body } = await through('get', {
    type: 'deal',
    id: 'a',
    expand: ['next.next', 'owner.~owner', 'noted'],
  })
  const record = (of: Body, name: string) => of[name].map((each: Body) => each.record)
  const [b] = record(body.expanded, 'next')
  expect(b).toMatchObject({ id: 'b', data: { title: 'deal b' } })
  expect(record(b._expanded, 'next')).toEqual([])
  const [p] = record(body.expanded, 'owner')
  expect(record(p._expanded, '~owner').map(({ id }: Body) => id)).toEqual(['a'])
  expect(body.expanded.noted).toEqual([])
  expect(JSON.stringify(body)).not.toMatch(/canary|"x"|theirs/)
  const list = await through('list', { type: 'deal', expand: ['next'] })
  expect(JSON.stringify(list.body)).not.toMatch(/canary|"x"|theirs/)
})

test('under a row-level policy, links can be created between visible records only', async () => {
  const made = await through('link', { input: ends('next', 'b', 'c') })
  expect(made.body).toMatchObject({ sourceId: 'b', targetId: 'c', version: 1 })
  for (const [source, target] of [
    ['a', 'x'],
    ['x', 'a'],
  ] as const) {
    const outside = await through('link', { input: ends('next', source, target) })
    const absent = JSON.parse(JSON.stringify(ends('next', source, target)).replaceAll('"x"', '"z"'))
    const none = await through('link', { input: absent })
    expect(outside.error?.code).toBe('VALIDATION_ERROR')
    expect(
      JSON.stringify(outside.error?.details).replaceAll('\\"x\\"', '\\"z\\"').replaceAll('"x"', '"z"'),
    ).toBe(JSON.stringify(none.error?.details))
  }
  const created = await through('create', {
    type: 'deal',
    data: { title: 'linked' },
    relationships: [{ relType: 'next', recordType: 'deal', id: 'a' }],
  })
  expect(created.error).toBe(undefined)
  const refused = await through('create', {
    type: 'deal',
    id: 'never',
    data: { title: 'linked' },
    relationships: [{ relType: 'next', recordType: 'deal', id: 'x' }],
  })
  expect(refused.error?.code).toBe('VALIDATION_ERROR')
  expect((await world.call('GET', '/v1/crm/records/deal/never')).status).toBe(404)
})

test('unlinking a record hidden by the policy is answered like unlinking an absent one', async () => {
  const outside = await through('unlink', ends('next', 'b', 'x'))
  const absent = await through('unlink', ends('next', 'b', 'z'))
  expect(outside.error?.code).toBe('NOT_FOUND')
  expect(outside.error?.message).toBe(absent.error?.message)
  expect(outside.error?.details).toEqual(absent.error?.details)
  expect((await through('unlink', ends('next', 'a', 'b'))).body.deleted).toBe(true)
  const [{ count } = { count: '' }] = await world.database.query<{ count: string }>(
    `SELECT count(*) FROM plinth.relationship WHERE target_id = 'x'`,
  )
  expect(count).toBe('1')
})

test('a batch under a row-level policy links and unlinks visible records only', async () => {
  const operation = (source: string, target: string) => ({
    type: 'upsert_relationship',
    rel_type: 'next',
    ...{ source_record_type: 'deal', source_id: source, target_record_type: 'deal', target_id: target },
  })
  const made = await through('batch', { operations: [operation('c', 'a')] })
  const [{ id }] = made.body.rows
  expect((await through('batch', { operations: [operation('c', 'x')] })).error?.code).toBe('VALIDATION_ERROR')
  const [row] = await world.database.query<{ id: string }>(
    `SELECT id FROM plinth.relationship WHERE target_id = 'x'`,
  )
  const remove = (link: string) =>
    through('batch', { operations: [{ type: 'delete_relationship', id: link }] })
  expect((await remove(row?.id ?? '')).error?.code).toBe('NOT_FOUND')
  expect((await remove(id)).body.rows[0].operation).toBe('deleted')
})

test('a link under a row-level policy replaces no link whose other end the policy hides', {
  tags: 'full',
}, async () => {
  const type = { source_record_types: ['deal'], target_record_types: ['deal'], cardinality: 'many_to_one' }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/only', type), 201)
  const link = (source: string, target: string) =>
    world.call('PUT', '/v1/crm/relationships', {
      rel_type: 'only',
      ...{ source_record_type: 'deal', source_id: source },
      ...{ target_record_type: 'deal', target_id: target },
    })
  const hidden = succeed(await link('a', 'x'), 201)
  const move = (target: string) => through('link', { input: { ...ends('only', 'a', target), replace: true } })
  const refused = await move('b')
  expect(refused.error?.code).toBe('CONFLICT')
  expect(JSON.stringify(refused.error)).not.toMatch(/"x"|theirs|samples/)
  expect((await world.call('GET', `/v1/crm/relationships/${hidden.id}`)).status).toBe(200)
  succeed(await world.call('DELETE', `/v1/crm/relationships/${hidden.id}`))
  succeed(await link('a', 'b'), 201)
  expect((await move('c')).body).toMatchObject({ targetId: 'c' })
})
