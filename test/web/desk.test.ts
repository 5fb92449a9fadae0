// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { answerAsReceiver, type Desk, makeDesk } from './desk.ts'
import { INVOICE_TEXT } from './desk-files.ts'

let server: TestServer
let receiver: Receiver
let desk: Desk
const post = async (path: string, body: object) =>
  succeed(await server.call('POST', `/v1/desk/${path}`, body))
const get = async (path: string): Promise<Body> => succeed(await server.call('GET', `/v1/desk/${path}`))

beforeAll(async () => {
  receiver = await openReceiver()
  answerAsReceiver(receiver)
  server = await openServer({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  desk = await makeDesk(server, receiver.url)
})
afterAll(async () => {
  await server.close()
  await receiver.close()
})

const counted = async (query: string): Promise<Record<string, number>> => {
  const { data } = await post('sql', { query })
  return Object.fromEntries(data.map(({ of, n }: Body) => [of, n]))
}

test('268 of 477 tickets are not solved, 56 of them nobody’s, and 83 of all are low', async () => {
  const tickets = (field: string, where = '') =>
    counted(`SELECT data->>'${field}' AS of, count(*) AS n FROM ticket ${where} GROUP BY 1`)
  expect(await tickets('stage')).toEqual({ new: 58, open: 146, waiting: 64, solved: 209 })
  expect(await tickets('owner', `WHERE data->>'stage' <> 'solved'`)).toEqual({
    ...{ ada: 68, jonas: 79, mara: 65, null: 56 },
  })
  expect(await tickets('priority')).toMatchObject({ low: 83 })
  const types = ['customer', 'message', 'refund_request', 'approval', 'article']
  const counts = types.map((type) => `SELECT '${type}' AS of, count(*) AS n FROM ${type}`)
  expect(await counted(counts.join(' UNION ALL '))).toEqual({
    ...{ customer: 20, message: 13, refund_request: 2, approval: 2, article: 0 },
  })
})

test('one batch of triage-agent changed 86 tickets; its undo takes 83 back and leaves the 3 of Jonas', async () => {
  const { data } = await get('changes?group=request&actor=triage-agent&limit=100')
  const [batch] = data.filter(({ count }: Body) => count === 86)
  expect(batch.call).toMatchObject({ tool: 'batch', endpoint: null, client: 'openai-agents/0.9.3' })
  const changed = (field: string, more = '') =>
    counted(
      `SELECT 'all' AS of, count(*) AS n FROM changes WHERE request_id = '${batch.request_id}' AND
       data->>'${field}' IS DISTINCT FROM data_before->>'${field}' ${more}`,
    )
  expect(await changed('summary')).toEqual({ all: 86 })
  expect(await changed('owner', `AND data->>'owner' IS NULL`)).toEqual({ all: 69 })
  expect(await changed('stage', `AND data->>'stage' = 'solved'`)).toEqual({ all: 55 })
  const plan = await post('revert?dry_run=true', { request_id: batch.request_id, on_conflict: 'skip' })
  expect([plan.count, plan.skipped.length]).toEqual([83, 3])
})

test('81 webhooks were sent, 25 of them in vain; one of three mails was refused', async () => {
  const { data } = await get('deliveries?limit=100')
  const byOutcome: Record<string, number> = {}
  for (const { of, status, response_status } of data) {
    const outcome = [of.name, status, response_status].join(' ')
    byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1
  }
  expect(byOutcome).toEqual({
    'Survey when solved succeeded 204': 55,
    'VIP channel dead 422': 21,
    'Urgent to Slack dead 503': 4,
    'Urgent to Slack succeeded 204': 1,
    'Mail in succeeded ': 2,
    'Mail in failed ': 1,
  })
})

test('T-1004 has eight versions of five authors, two files, and is in the hands of Jonas', async () => {
  const { data } = await get('changes?kind=record&record_type=ticket&id=T-1004&order=desc')
  expect(data.map(({ actor, call }: Body) => `${actor.name} ${call?.tool ?? ''}`)).toEqual([
    ...['triage-agent update_record', 'Mara Lindqvist ', 'reply-agent update_ticket', 'Jonas Weber '],
    ...['importer ', 'Mara Lindqvist ', 'triage-agent update_record', 'importer '],
  ])
  const { data: files } = await get('records/ticket/T-1004/attachments')
  expect(files.map(({ filename }: Body) => filename).sort()).toEqual(['INV-1183.pdf', 'call-notes.txt'])
  const { url } = await get('records/ticket/T-1004/attachments/INV-1183.pdf')
  expect(await (await fetch(url)).text()).toContain(INVOICE_TEXT)
  const { data: claims } = await get('claims?status=active')
  expect(claims.map(({ record_id, holder }: Body) => [holder.name, record_id === 'T-1004'])).toEqual(
    expect.arrayContaining([
      ['Jonas Weber', true],
      ['triage-agent', false],
      ['triage-agent', false],
      ['reply-agent', false],
    ]),
  )
  expect(claims).toHaveLength(4)
})

test('importer deleted one ticket, and Mara wrote the policy twice', async () => {
  const { data } = await get('trash')
  expect(data).toMatchObject([{ record_type: 'ticket', id: desk.tickets.mistaken.id }])
  const [deletion] = (await get(`changes?id=${desk.tickets.mistaken.id}&operation=delete`)).data
  expect(deletion.actor.name).toBe('importer')
  expect((await get('files/doc')).data).toHaveLength(4)
})

test('the preview would break 83 tickets and adds a type', async () => {
  const { changes, breaks } = succeed(
    await server.as(desk.tokens['schema-agent'].token)('POST', '/v1/desk/promote/proposal', {
      from: 'desk--csat',
    }),
  )
  expect(changes.map(({ id }: Body) => id)).toEqual(['survey', 'ticket'])
  expect(breaks).toMatchObject([{ count: 83 }])
})
