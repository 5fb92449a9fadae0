import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let client: Client
let asked: Body[] = []
let n = 0
let base: string

const put = async (path: string, body: object) => succeed(await server.call('PUT', path, body), 201)
const held = async () => (await server.call('GET', `/v1/${base}/records/deal?sort=id`)).body.data.length

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  base = `asks-${++n}`
  asked = []
  await put(`/v1/bases/${base}`, {})
  const json_schema = { type: 'object', properties: { title: { type: 'string' } } }
  await put(`/v1/${base}/record-types/deal`, { json_schema })
  for (const id of ['d1', 'd2', 'd3'])
    await put(`/v1/${base}/records/deal/${id}`, { data: id === 'd1' ? { title: 'Tents' } : {} })
})
afterEach(() => client.close())

const operations = ['d1', 'd2'].map((id) => ({ type: 'delete_record', record_type: 'deal', id }))
const WHAT = 'Deletes 2 records (2 deal).'

/** A client that answers elicitation with `answer`, or does not support elicitation when there is none. */
async function open(answer?: (params: Body) => Body | Promise<Body>): Promise<void> {
  client = new Client(
    { name: 'asked', version: '1.0.0' },
    { capabilities: answer ? { elicitation: {} } : {} },
  )
  if (answer)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params)
      return (await answer(params)) as { action: 'cancel' }
    })
  const requestInit = { headers: { authorization: `Bearer ${server.adminToken}` } }
  const at = new URL(`/mcp/${base}`, server.url)
  await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as Transport)
}
const batch = async (args: Body = {}): Promise<Body> =>
  client.callTool({ name: 'batch', arguments: { operations, ...args } })
const errorOf = ({ isError, content }: Body) => (isError ? JSON.parse(content[0].text).error : undefined)

test('a batch that deletes 2 records asks the user for confirmation and deletes them after a yes', {
  tags: 'full',
}, async () => {
  await open(({ requestedSchema }) => ({
    action: 'accept',
    content: { choice: requestedSchema.properties.choice.enum[1] },
  }))
  const done = await batch()
  expect(done.structuredContent.meta).toMatchObject({ count: 2 })
  expect(await held()).toBe(1)
  expect(asked).toHaveLength(1)
  expect(asked[0].message).toBe('Delete 2 records (2 deal)? First: deal/d1 "Tents", deal/d2.')
  expect(asked[0].requestedSchema).toEqual({
    type: 'object',
    properties: { choice: { type: 'string', title: 'Decision', enum: ['Delete nothing', WHAT] } },
    required: ['choice'],
  })
})

test('an undo asks in its own words, and undoes nothing unless the user agrees', {
  tags: 'full',
}, async () => {
  const { data } = (await server.call('GET', `/v1/${base}/changes?order=desc&limit=1`)).body
  const undo = async (): Promise<Body> =>
    client.callTool({ name: 'undo', arguments: { request_id: data[0].request_id } })
  const what = 'Undoes 1 change: deletes 1 deal.'
  await open(() => ({ action: 'accept', content: { choice: 'Undo nothing' } }))
  const refused = errorOf(await undo())
  expect(asked[0].message).toBe('Undo 1 change: deletes 1 deal? First: deal/d3.')
  expect(asked[0].requestedSchema.properties.choice.enum).toEqual(['Undo nothing', what])
  expect(refused.message).toContain('Nothing was undone.')
  expect(refused.message).not.toMatch(/delete/i)
  expect(await held()).toBe(3)
  await client.close()
  await open(() => ({ action: 'accept', content: { choice: what } }))
  expect((await undo()).structuredContent).toMatchObject({ count: 1 })
  expect(await held()).toBe(2)
})

test.each([
  ['declines', { action: 'decline' }, 'declined'],
  ['closes the question', { action: 'cancel' }, 'cancelled'],
  ['chooses to delete nothing', { action: 'accept', content: { choice: 'Delete nothing' } }, 'declined'],
])('a batch deletes nothing and returns CONFLICT when the user %s', async (_, answer, code) => {
  await open(() => answer)
  expect(errorOf(await batch())).toMatchObject({ code: 'CONFLICT', details: [{ code }] })
  expect(await held()).toBe(3)
})

test('a confirmed deletion is refused as plan_stale when a record changed before the answer', {
  tags: 'full',
}, async () => {
  await open(async () => {
    succeed(await server.call('PUT', `/v1/${base}/records/deal/d2`, { data: { a: 1 } }))
    return { action: 'accept', content: { choice: WHAT } }
  })
  expect(errorOf(await batch())).toMatchObject({ code: 'CONFLICT', details: [{ code: 'plan_stale' }] })
  expect(await held()).toBe(3)
})

test('a dry run and the deletion of one record do not ask the user for confirmation', {
  tags: 'full',
}, async () => {
  await open(() => ({ action: 'decline' }))
  expect((await batch({ dry_run: true })).structuredContent).toMatchObject({ dry_run: true })
  expect(errorOf(await batch({ operations: operations.slice(1) }))).toBeUndefined()
  expect(asked).toEqual([])
  expect(await held()).toBe(2)
})

test('a client without elicitation gets a plan and a plan_token, and deletes with the token', {
  tags: 'full',
}, async () => {
  await open()
  const { structuredContent } = await batch()
  expect(structuredContent.plan.what).toBe(WHAT)
  expect(await held()).toBe(3)
  const done = await batch({ plan_token: structuredContent.plan_token })
  expect(done.structuredContent.meta).toMatchObject({ count: 2 })
  expect(await held()).toBe(1)
})
