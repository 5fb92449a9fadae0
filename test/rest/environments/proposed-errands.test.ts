// @module-tag full
/** Ten errands of an agent that proposes, on a live base: sent back, passed in part, resolved, taken back a day later. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

type Ticket = { id: string; data: { errand?: number; stage: string; touched?: number } }

test('an agent does ten errands while another writes, and production never shows a draft', async () => {
  const base = 'desk'
  succeed(await world.call('PUT', `/v1/bases/${base}`, { settings: { change_sets: { approvals: 1 } } }), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/ticket`, {}), 201)
  const ids = times(20, (n) => `t${n}`)
  const put = (id: string) => ({ type: 'upsert_record', record_type: 'ticket', id, data: { stage: 'new' } })
  succeed(await world.call('POST', `/v1/${base}/batch`, { operations: ids.map(put) }))
  const { token } = await world.newToken([{ base, permission: 'write', writes: 'propose' }], {
    kind: 'agent',
  })
  const mara = await world.newToken([{ base, permission: 'write' }], { name: 'Mara', kind: 'person' })
  const tool = async (name: string, args: object, at: string = base) => {
    const { body, error, rpcError } = await callTool(world, `/mcp/${at}`, name, { ...args }, { token })
    expect([error, rpcError]).toEqual([undefined, undefined])
    return body
  }
  const write = (errand: number, id: string, data: object = {}) =>
    tool('update_record', { record_type: 'ticket', id, data: { errand, ...data } })
  const at = (id: string) => `/v1/${base}/records/ticket/${id}`
  const dataOf = async (id: string) => succeed(await world.call('GET', at(id))).data
  const ask = async (from: string, note: string) =>
    (await tool('propose', { submit: true, comment: note }, from)).review_request.id
  const decide = async (request: string, body: object) =>
    succeed(await mara.call('POST', `/v1/${base}/review-requests/${request}/decision`, body))

  // Who reads production sees an errand only once it has passed.
  const passed = new Set<number>()
  let isOver = false
  let reads = 0
  const reader = (async () => {
    while (!isOver) {
      const { data } = succeed(await world.call('GET', `/v1/${base}/records/ticket?limit=100`))
      const isDraft = ({ data: { errand } }: Ticket) => errand !== undefined && !passed.has(errand)
      const drafts = data.filter(isDraft)
      expect(drafts).toEqual([])
      reads++
      await sleep(5)
    }
  })()
  const other = (async () => {
    for (let n = 0; !isOver; n++) {
      succeed(await world.call('PATCH', at(`t${n % 20}`), { data: { touched: n } }))
      await sleep(5)
    }
  })()
  // A promotion commits before its answer arrives.
  const pass = async <T>(errand: number, act: () => Promise<T>): Promise<T> => {
    passed.add(errand)
    return act()
  }

  // The first is sent back; the agent reads why, goes on in it, and asks again.
  const first = (await write(1, 't0', { stage: 'won' })).change_set
  const early = await ask(first, 'Signed yesterday.')
  await decide(early, { decision: 'send_back', note: 'It is paid too.' })
  const told = await tool('propose', {}, first)
  expect(told).toMatchObject({ status: 'changes_requested', reviews: [{ text: 'It is paid too.' }] })
  expect((await write(1, 't0', { stage: 'paid' })).change_set).toBe(first)
  const again = await ask(first, 'Paid.')
  await pass(1, () => decide(again, { decision: 'accept' }))
  expect(await dataOf('t0')).toMatchObject({ errand: 1, stage: 'paid', touched: expect.any(Number) })

  // Of twelve records, eleven pass.
  const twelve = times(12, (n) => `t${n + 1}`)
  let second = ''
  for (const id of twelve) second = (await write(2, id, { stage: 'open' })).change_set
  const asked = await ask(second, 'All of June.')
  const resources = twelve.slice(0, 11).map((id) => ({ kind: 'record', record_type: 'ticket', id }))
  const { promotion } = await pass(2, () => decide(asked, { decision: 'accept', resources }))
  expect(promotion.changes).toHaveLength(11)
  expect(await dataOf('t12')).not.toHaveProperty('errand')
  const left = [{ kind: 'record', record_type: 'ticket', id: 't12' }]
  expect((await tool('propose', {}, second)).changes).toHaveLength(1)
  succeed(await world.call('POST', `/v1/${second}/discard`, { resources: left }))
  succeed(
    await mara.call('POST', `/v1/${second}/reviews`, { verdict: 'reject', text: 'The rest is not of June.' }),
    201,
  )

  // Both change two fields, and a person says which side counts.
  const third = (await write(3, 't13', { stage: 'agent' })).change_set
  await write(3, 't14', { stage: 'agent' })
  for (const id of ['t13', 't14']) succeed(await world.call('PATCH', at(id), { data: { stage: 'human' } }))
  const both = await ask(third, 'Stages.')
  const { conflicts } = await tool('propose', {}, third)
  expect(conflicts.map(({ path }: { path: string }) => path)).toEqual([
    '/ticket/t13/data/stage',
    '/ticket/t14/data/stage',
  ])
  const side = (id: string, take: string) => ({ record_type: 'ticket', id, field: 'data.stage', take })
  await pass(3, () =>
    decide(both, { decision: 'accept', resolve: [side('t13', 'preview'), side('t14', 'production')] }),
  )
  expect([(await dataOf('t13')).stage, (await dataOf('t14')).stage]).toEqual(['agent', 'human'])

  // The others pass as they are.
  const promotions = new Map<number, string>()
  for (const errand of [4, 5, 6, 7, 8, 9, 10]) {
    const id = `made-${errand}`
    const made = await tool('upsert_record', { record_type: 'ticket', id, data: { stage: 'new', errand } })
    const request = await ask(made.change_set, `Errand ${errand}`)
    const done = await pass(errand, () => decide(request, { decision: 'accept' }))
    promotions.set(errand, done.promotion.id)
  }
  isOver = true
  await Promise.all([reader, other])
  expect(reads).toBeGreaterThan(10)

  // A day later, one is taken back.
  await world.database.query(`UPDATE plinth.change SET at = at - interval '1 day' WHERE base_id = $1`, [base])
  succeed(await mara.call('POST', `/v1/${base}/promote/rollback`, { promotion_id: promotions.get(5) }))
  expect((await world.call('GET', at('made-5'))).status).toBe(404)
  expect(await dataOf('made-6')).toMatchObject({ errand: 6 })

  // Every step is in the history, with who took it.
  const log = succeed(await world.call('GET', `/v1/${base}/changes?kind=preview&limit=1000`)).data
  const eventIn = (steps: { path: string; value?: { event?: string } | string }[]) =>
    steps.flatMap(({ path, value }) =>
      path === '' ? [(value as { event: string }).event] : path === '/event' ? [value] : [],
    )
  const state = new Map<string, unknown>()
  const events = log.map(({ id, diff, actor }: { id: string; diff: never[]; actor: { name: string } }) => {
    const [event = state.get(id)] = eventIn(diff)
    state.set(id, event)
    return { id, event, by: actor.name }
  })
  const of = (id: string) =>
    events.filter((each: { id: string }) => each.id === id).map(({ event }: { event: string }) => event)
  expect(of(first)).toEqual(['opened', 'submitted', 'changes_requested', 'submitted', 'approved', 'merged'])
  expect(of(second)).toEqual(['opened', 'submitted', 'approved', 'merged', 'discarded', 'rejected'])
  expect(of(third)).toEqual(['opened', 'submitted', 'approved', 'merged'])
  const deciders = events.filter(({ event }: { event: string }) => event === 'merged' || event === 'approved')
  expect(new Set(deciders.map(({ by }: { by: string }) => by))).toEqual(new Set(['Mara']))
  const versions = succeed(await world.call('GET', `${at('t0')}/history?limit=1000`)).data
  const merged = versions.filter(({ proposed }: { proposed?: object }) => proposed)
  expect(merged).toMatchObject([
    { actor: { name: 'Mara' }, proposed: { kind: 'agent', call: { tool: 'update_record' } } },
  ])
})
