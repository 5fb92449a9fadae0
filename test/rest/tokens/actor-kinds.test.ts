/** Who uses a token, and what its changes say of it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const WRITE = [{ permission: 'write' }] as const
const put = (call: Call, path: string, data: object = {}) => call('PUT', `/v1/crm/records/${path}`, { data })
const changes = async (query: string): Promise<Body[]> =>
  succeed(await world.call('GET', `/v1/crm/changes?${query}`)).data
const sql = async (query: string): Promise<Body[]> =>
  succeed(await world.call('POST', '/v1/crm/sql', { query })).data

test('a token is of a program, unless it is made for a person or an agent', async () => {
  const kindOf = async (more: object) =>
    succeed(await (await world.newToken(WRITE, more)).call('GET', '/v1/tokens/self')).kind
  expect(await kindOf({})).toBe('program')
  for (const kind of ['person', 'agent', 'program']) expect(await kindOf({ kind })).toBe(kind)
  const grants = [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }]
  for (const kind of ['human', '', null, 1])
    expectFault(await world.call('POST', '/v1/tokens', { name: 'x', grants, kind }), '/kind')
})

test('changes, groups, versions, the trash and SQL say the kind, and actor_kind selects by it', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  for (const kind of ['person', 'agent', 'program']) {
    const { call } = await world.newToken(WRITE, { kind })
    succeed(await put(call, `${type}/${kind}`), 201)
    // Each way to write has a statement of its own.
    const operations = ['x', 'y'].map((id) => ({
      type: 'create_record',
      record_type: type,
      id: `${kind}-${id}`,
      data: {},
    }))
    succeed(await call('POST', '/v1/crm/batch', { operations }))
    succeed(await call('PATCH', `/v1/crm/records/${type}/${kind}`, { data: { a: 1 } }))
    succeed(await call('POST', `/v1/crm/records/${type}`, { data: {} }), 201)
    succeed(await call('POST', `/v1/crm/records/${type}/${kind}/cancel`))
    succeed(await call('DELETE', `/v1/crm/records/${type}/${kind}`))
  }
  for (const kind of ['person', 'agent', 'program']) {
    const found = await changes(`record_type=${type}&actor_kind=${kind}`)
    expect(found.map(({ operation }) => operation)).toEqual([
      'create',
      'create',
      'create',
      'update',
      'create',
      'cancel',
      'delete',
    ])
    expect(new Set(found.map(({ actor }) => actor.kind))).toEqual(new Set([kind]))
    const groups = await changes(`record_type=${type}&group=request&actor_kind=${kind}`)
    expect([groups.length, new Set(groups.map(({ actor }) => actor.kind))]).toEqual([6, new Set([kind])])
    const history = succeed(await world.call('GET', `/v1/crm/records/${type}/${kind}/history`)).data
    expect(history.map(({ actor }: Body) => actor.kind)).toEqual([kind, kind, kind, kind])
  }
  const trash = succeed(await world.call('GET', `/v1/crm/trash?record_type=${type}`)).data
  expect(trash.map(({ id, deleted_by }: Body) => [id, deleted_by.kind]).sort()).toEqual([
    ['agent', 'agent'],
    ['person', 'person'],
    ['program', 'program'],
  ])
  expect(
    await sql(
      `SELECT actor_kind, count(*)::int AS n FROM changes WHERE record_type = '${type}' GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual(['agent', 'person', 'program'].map((actor_kind) => ({ actor_kind, n: 7 })))
  expectFault(await world.call('GET', '/v1/crm/changes?actor_kind=human'), 'query/actor_kind')
})

test('links, files and configuration have the kind too', { tags: 'full' }, async () => {
  const type = await world.newType()
  const { call } = await world.newToken([{ permission: 'manage' }], { kind: 'person', name: 'Mara' })
  for (const id of ['a', 'b']) succeed(await put(call, `${type}/${id}`), 201)
  const ends = { source_record_types: [type], target_record_types: [type] }
  succeed(await call('PUT', '/v1/crm/relationship-types/next', ends), 201)
  const link = {
    rel_type: 'next',
    source_record_type: type,
    source_id: 'a',
    target_record_type: type,
    target_id: 'b',
  }
  succeed(await call('POST', '/v1/crm/relationships', link), 201)
  succeed(await call('PUT', '/v1/crm/file-types/note', {}), 201)
  succeed(await call('PUT', '/v1/crm/files/note/a.txt', 'text', { 'content-type': 'text/plain' }), 201)
  const found = await changes('actor=Mara')
  expect(found.map(({ kind }) => kind).sort()).toEqual([
    'file',
    'file_type',
    'record',
    'record',
    'relationship',
    'relationship_type',
  ])
  expect(new Set(found.map(({ actor }) => `${actor.kind} ${actor.via}`))).toEqual(new Set(['person rest']))
})

test('what no token made is of a program', async () => {
  const [made] = await changes('kind=base')
  expect(made?.actor).toMatchObject({ name: 'admin', kind: 'program' })
})

test('the token of a tab writes under the name and the kind of the token that opened it, via explorer', async () => {
  const type = await world.newType()
  const opener = await world.newToken(WRITE, { kind: 'person', name: 'Mara' })
  const { code } = succeed(await opener.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
  const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
  const tab = world.as(token)
  succeed(await put(tab, `${type}/one`), 201)
  const query = `mutation { createRecord(base: "crm", recordType: "${type}", id: "two", data: {}) { id } }`
  expect((await tab('POST', '/graphql', { query })).body.errors).toBeUndefined()
  const own = succeed(await tab('GET', '/v1/tokens/self'))
  expect(own).toMatchObject({ name: 'Mara (browser)', kind: 'person' })
  const actor = { token_id: own.id, name: 'Mara', kind: 'person', via: 'explorer' }
  expect((await changes(`record_type=${type}`)).map((each) => each.actor)).toEqual([actor, actor])
  expect(await changes(`record_type=${type}&actor=Mara`)).toHaveLength(2)
  succeed(await world.call('DELETE', `/v1/tokens/${opener.id}`))
  expect((await put(tab, `${type}/three`)).status, 'the tab ends with its opener').toBe(401)
})
