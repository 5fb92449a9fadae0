/** A body with the content of a record beside its fields instead of in `data`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: {} }), 201)
})
afterAll(() => world.close())

const at = '/v1/crm/records/deal'
/** The first detail has the body to send; the others name the keys that are no fields. */
const expectWrapped = (details: Body[], path: string, whole: object) => {
  expect(new Set(details.slice(1).map(({ code }) => code))).toEqual(new Set(['unknown_key']))
  expect(details[0]).toMatchObject({ path, code: 'required', message: expect.stringContaining('"data"') })
  expect(JSON.parse(details[0]?.['hint'])).toEqual(whole)
}

test.each([
  ['POST', at, { name: 'x', status: 'open' }, { data: { name: 'x', status: 'open' } }],
  ['PUT', `${at}/d1`, { id: 'd1', name: 'x' }, { id: 'd1', data: { name: 'x' } }],
  ['PUT', at, { external_id: 'e', name: 'x' }, { external_id: 'e', data: { name: 'x' } }],
  ['PATCH', `${at}/d1`, { status: 'open' }, { data: { status: 'open' } }],
])('%s %s with %j gets the body to send as a hint', async (method, path, body, whole) => {
  const { details } = expectFailure(await world.call(method, path, body), 'VALIDATION_ERROR')
  expectWrapped(details, '/data', whole)
  expect((await world.call(method, path, JSON.parse(details[0].hint))).status).toBeLessThan(300)
})

test('an operation of a batch and a call of an MCP tool get the same hint', async () => {
  const operation = { type: 'upsert_record', record_type: 'deal', id: 'd1' }
  const operations = [{ ...operation, stage: 'won' }]
  const batch = await world.call('POST', '/v1/crm/batch', { operations })
  const { details } = expectFailure(batch, 'VALIDATION_ERROR')
  expectWrapped(details, '/operations/0/data', { ...operation, data: { stage: 'won' } })
  const args = { record_type: 'deal', id: 'd1', stage: 'won' }
  const { error } = await callTool(world, '/mcp/crm', 'upsert_record', args)
  expectWrapped(error.details, '/data', { record_type: 'deal', id: 'd1', data: { stage: 'won' } })
})

test('other faults beside it are named, and a misspelt field keeps its own hint', async () => {
  const answer = await world.call('POST', at, { name: 'x', external_id: 1 })
  const paths = expectFailure(answer, 'VALIDATION_ERROR').details.map(({ path }: Body) => path)
  expect(paths).toEqual(['/data', '/external_id', '/name'])
  const { details } = expectFailure(await world.call('POST', at, { dat: {} }), 'VALIDATION_ERROR')
  expect(details.map(({ hint }: Body) => hint)).toContain('data')
  const empty = expectFailure(await world.call('POST', at, {}), 'VALIDATION_ERROR')
  expect(empty.details).toHaveLength(1)
  expect(empty.details[0]).not.toHaveProperty('hint')
})

test('where something else is missing, nothing says that the content goes in "data"', async () => {
  const link = { record_type: 'deal', ticket_id: 'd1', company_id: 'c1' }
  const answer = await world.call('POST', '/v1/crm/relationships', link)
  const { details } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(details.filter(({ path }: Body) => path === '/data')).toEqual([])
  expect(details).toContainEqual(expect.objectContaining({ path: '/rel_type', code: 'required' }))
  const { error } = await callTool(world, '/mcp/crm', 'update_record', { record_type: 'deal', stage: 'won' })
  expect(error.details.map(({ path, code }: Body) => [path, code])).toEqual([
    ['/id', 'required'],
    ['/stage', 'unknown_key'],
  ])
})

test('a body with very many or long values gets no hint that repeats them', async () => {
  const { details } = expectFailure(
    await world.call('POST', at, { text: 'x'.repeat(5000) }),
    'VALIDATION_ERROR',
  )
  expect(details[0]).not.toHaveProperty('hint')
  expect(details[0].message).toContain('"data"')
})
