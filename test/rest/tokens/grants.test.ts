import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const LEVELS = ['read', 'write', 'manage', 'admin'] as const
const ENVIRONMENTS = ['production', 'preview', '*'] as const
const BASES = ['crm', 'erp', '*', 'crm--p'] as const
const TYPES = ['*', 'task', 'note'] as const
type Level = (typeof LEVELS)[number]
type Shape = { permission: Level; environment: string; base: string; record_type: string | string[] }

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/erp', {}), 201)
  await world.database.query(
    `INSERT INTO plinth.base (id, name, environment, production_base, settings)
     SELECT 'crm--p', 'p', 'preview', 'crm', settings FROM plinth.base WHERE id = 'crm'`,
  )
  for (const base of ['crm', 'erp', 'crm--p'])
    for (const type of ['task', 'note']) {
      succeed(await world.call('PUT', `/v1/${base}/record-types/${type}`, {}), 201)
      succeed(await world.call('PUT', `/v1/${base}/records/${type}/a`, { data: {} }), 201)
    }
})
afterAll(() => world.close())

/** The permission that an operation needs: a level on one type or the whole base (`*`), or any grant on the base. */
type Need = { level: Level; type: string } | 'sight'
type Operation = { name: string; need: Need; method: string; path: string; body?: unknown; status?: number }

const tool = (name: string) => ({ tools: [{ name, inputSchema: { type: 'object' } }] })
/** All operations on a base; writes are dry runs, so that each one finds the same state. */
const operations = (base: string): Operation[] => {
  const at = `/v1/${base}`
  const read = { level: 'read', type: 'task' } as const
  const write = { level: 'write', type: 'task' } as const
  const manage = { level: 'manage', type: 'task' } as const
  const whole = { level: 'manage', type: '*' } as const
  const record = `${at}/records/task/a`
  return [
    { name: 'get base', need: 'sight', method: 'GET', path: `/v1/bases/${base}` },
    { name: 'put base', need: whole, method: 'PUT', path: `/v1/bases/${base}`, body: {} },
    { name: 'list types', need: 'sight', method: 'GET', path: `${at}/record-types` },
    { name: 'get type', need: read, method: 'GET', path: `${at}/record-types/task` },
    { name: 'put type', need: manage, method: 'PUT', path: `${at}/record-types/task`, body: {} },
    { name: 'patch type', need: manage, method: 'PATCH', path: `${at}/record-types/task`, body: {} },
    { name: 'delete type', need: manage, method: 'DELETE', path: `${at}/record-types/task?confirm=task` },
    { name: 'list records', need: read, method: 'GET', path: `${at}/records/task` },
    { name: 'get record', need: read, method: 'GET', path: record },
    { name: 'put record', need: write, method: 'PUT', path: record, body: { data: {} } },
    {
      name: 'put by pair',
      need: write,
      method: 'PUT',
      path: `${at}/records/task`,
      body: { data: {}, external_id: 'e' },
      status: 201,
    },
    {
      name: 'post record',
      need: write,
      method: 'POST',
      path: `${at}/records/task`,
      body: { data: {} },
      status: 201,
    },
    { name: 'patch record', need: write, method: 'PATCH', path: record, body: {} },
    { name: 'delete record', need: write, method: 'DELETE', path: record },
    { name: 'cancel', need: write, method: 'POST', path: `${record}/cancel` },
    { name: 'restore', need: write, method: 'POST', path: `${record}/restore` },
    {
      name: 'tool call',
      need: write,
      method: 'POST',
      path: `${at}/providers/mcp/records/task`,
      body: { name: 'task', arguments: {} },
      status: 201,
    },
    {
      name: 'import task',
      need: manage,
      method: 'POST',
      path: `${at}/providers/mcp/import`,
      body: tool('task'),
    },
    { name: 'export task', need: read, method: 'GET', path: `${at}/providers/mcp/export?record_types=task` },
    { name: 'export all', need: 'sight', method: 'GET', path: `${at}/providers/mcp/export` },
  ]
}

/** The rules of grants, implemented independently of the source. */
function reaches(shape: Shape, base: string): boolean {
  const [production = ''] = base.split('--')
  const environment = base === production ? 'production' : 'preview'
  const baseFits = ['*', base, production].includes(shape.base)
  return baseFits && ['*', environment].includes(shape.environment)
}
function allows(shape: Shape, base: string, need: Need): boolean {
  if (!reaches(shape, base)) return false
  if (need === 'sight') return true
  const types = [shape.record_type].flat()
  return (
    LEVELS.indexOf(shape.permission) >= LEVELS.indexOf(need.level) &&
    (types.includes('*') || types.includes(need.type))
  )
}

const everyShape: Shape[] = BASES.flatMap((base) =>
  ENVIRONMENTS.flatMap((environment) =>
    TYPES.flatMap((type) =>
      LEVELS.map((permission) => ({
        base,
        environment,
        permission,
        record_type: type === 'task' ? ['other', type] : type,
      })),
    ),
  ),
)
// A grant on another base is refused whatever its other fields are, so a few of these are enough.
const shapes = everyShape.filter(({ base, environment }) => base !== 'erp' || environment === '*')
const nameOf = ({ permission, environment, base, record_type }: Shape) =>
  `${permission} ${environment} ${base} ${record_type}`

const dry = ({ method, path }: Operation) =>
  method === 'GET' ? path : `${path}${path.includes('?') ? '&' : '?'}dry_run=true`

describe.each(BASES)('A token for base %s', (own) => {
  test('can do exactly what its grant allows, in production and in the preview', {
    tags: ['full', 'sampled'],
  }, async () => {
    const wrong: string[] = []
    await Promise.all(
      sampleOf(shapes.filter((shape) => shape.base === own)).map(async (shape) => {
        const { call } = await world.newToken([shape])
        for (const base of ['crm', 'crm--p'])
          for (const operation of operations(base)) {
            const answer = await call(operation.method, dry(operation), operation.body)
            const expected = allows(shape, base, operation.need) ? (operation.status ?? 200) : 403
            if (answer.status !== expected)
              wrong.push(
                `${nameOf(shape)}: ${operation.name} of ${base} is ${answer.status}, not ${expected}`,
              )
          }
      }),
    )
    expect(wrong).toEqual([])
  })

  test('lists only the bases, types and counts of its grant', { tags: 'full' }, async () => {
    const all = { crm: ['note', 'task'], erp: ['note', 'task'], 'crm--p': ['note', 'task'] }
    for (const shape of shapes.filter((each) => each.base === own && each.permission === 'read')) {
      const { call } = await world.newToken([shape])
      const seen = Object.keys(all).filter((base) => reaches(shape, base))
      const list = succeed(await call('GET', '/v1/bases?include=counts&include_total=true'))
      expect(list.data.map((base: Body) => base.id).sort(), nameOf(shape)).toEqual(seen.sort())
      expect(list.meta.total).toBe(seen.length)
      for (const base of list.data) {
        const types = all.crm.filter((type) => allows(shape, base.id, { level: 'read', type }))
        expect(base.counts, nameOf(shape)).toEqual({ record_types: types.length, records: types.length })
        const listed = succeed(await call('GET', `/v1/${base.id}/record-types?include_total=true`))
        expect(listed.data.map((type: Body) => type.id).sort()).toEqual(types)
        expect(listed.meta.total).toBe(types.length)
        const { tools } = succeed(await call('GET', `/v1/${base.id}/providers/mcp/export`))
        expect(tools.map((each: Body) => each.name).sort()).toEqual(types)
      }
    }
  })
})

test('deletion of a base needs admin in production; of a preview, manage there and read on production', {
  tags: ['full', 'sampled'],
}, async () => {
  const remove = (call: Call, base: string) =>
    call('DELETE', `/v1/bases/${base}?confirm=${base}&dry_run=true`)
  for (const shape of sampleOf(shapes)) {
    const { call } = await world.newToken([shape])
    const production = allows(shape, 'crm', { level: 'admin', type: '*' })
    const preview =
      allows(shape, 'crm--p', { level: 'manage', type: '*' }) &&
      allows(shape, 'crm', { level: 'read', type: '*' })
    const answers = [(await remove(call, 'crm')).status, (await remove(call, 'crm--p')).status]
    expect(answers, nameOf(shape)).toEqual([production ? 200 : 403, preview ? 200 : 403])
  }
  const { call } = await world.newToken([
    { environment: 'preview', permission: 'manage' },
    { environment: 'production', permission: 'read' },
  ])
  expect([(await remove(call, 'crm')).status, (await remove(call, 'crm--p')).status]).toEqual([403, 200])
})

test('a token needs admin to create or list tokens', { tags: 'sampled' }, async () => {
  for (const shape of sampleOf(shapes)) {
    const { call } = await world.newToken([shape])
    const made = await call('POST', '/v1/tokens?dry_run=true', {
      name: 't',
      grants: [{ ...shape, permission: 'read' }],
    })
    expect(made.status, nameOf(shape)).toBe(shape.permission === 'admin' ? 201 : 403)
    expect((await call('GET', '/v1/tokens')).status, nameOf(shape)).toBe(
      shape.permission === 'admin' ? 200 : 403,
    )
  }
})

/** The answer with the names in the request removed; the rest must not depend on them. */
async function faceless(call: Call, operation: Operation, ...names: string[]) {
  const answer = await call(operation.method, operation.path, operation.body, { 'x-request-id': 'same' })
  expectFailure(answer, 'FORBIDDEN')
  const headers = ['etag', 'location', 'content-type'].map((name) => answer.headers.get(name))
  return [names.reduce((text, name) => text.replaceAll(name, '<name>'), answer.text), headers]
}

test('a base without a grant is 403 with the same answer whether or not it exists', {
  tags: 'full',
}, async () => {
  const { call } = await world.newToken([{ permission: 'admin' }])
  for (const [index, operation] of operations('erp').entries()) {
    const absent = operations('void')[index] as Operation
    const existing = await faceless(call, operation, 'erp')
    expect(await faceless(call, absent, 'void'), operation.name).toEqual(existing)
  }
})

test('a type without a grant is 403 with the same answer whether or not it exists', async () => {
  const { call } = await world.newToken([{ record_type: 'task', permission: 'manage' }])
  const about = (type: string) =>
    operations('crm')
      .filter(({ need }) => need !== 'sight' && need.type === 'task')
      .map((operation) => JSON.parse(JSON.stringify(operation).replaceAll('task', type)) as Operation)
  for (const [index, operation] of about('note').entries()) {
    const absent = about('void')[index] as Operation
    expect(await faceless(call, absent, 'void'), operation.name).toEqual(
      await faceless(call, operation, 'note'),
    )
  }
  expectFailure(await call('GET', '/v1/crm/providers/mcp/export?record_types=task,note'), 'FORBIDDEN')
  expectFailure(
    await call('POST', '/v1/crm/providers/mcp/import', {
      tools: [...tool('task').tools, ...tool('note').tools],
    }),
    'FORBIDDEN',
  )
  expectFailure(await call('PUT', '/v1/crm/record-types/fresh', {}), 'FORBIDDEN')
})

test('a token that may only read is refused before the body of a write is checked', async () => {
  const { call } = await world.newToken([{ permission: 'read' }])
  const claim = '/v1/crm/claims/0190a7b2-0000-7000-8000-00000000abcd'
  for (const path of [
    '/v1/crm/batch',
    '/v1/crm/revert',
    '/v1/crm/changes/999999/revert',
    '/v1/crm/changes/x/revert',
    '/v1/crm/providers/mcp/import',
    '/v1/crm/claims/complete',
    '/v1/crm/claims/release',
    '/v1/crm/claims/heartbeat',
    `${claim}/complete`,
    `${claim}/release`,
    `${claim}/heartbeat`,
  ])
    for (const body of [undefined, { unknown: 1 }]) expectFailure(await call('POST', path, body), 'FORBIDDEN')
  const writer = await world.newToken([{ permission: 'write' }])
  expectFailure(await writer.call('POST', '/v1/crm/providers/mcp/import', { unknown: 1 }), 'FORBIDDEN')
})

test('a token with manage on one type can create, fill and delete that type', async () => {
  const { call } = await world.newToken([{ record_type: 'mine', permission: 'manage' }])
  succeed(await call('PUT', '/v1/crm/record-types/mine', {}), 201)
  succeed(await call('PUT', '/v1/crm/records/mine/a', { data: {} }), 201)
  succeed(await call('DELETE', '/v1/crm/record-types/mine?confirm=mine'))
})
