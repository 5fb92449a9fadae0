import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AnyBase,
  type Change,
  type Client,
  createClient,
  PlinthError,
} from '../../packages/client/src/index.ts'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

type Crm = {
  records: {
    deal: {
      data: Deal
      input: Deal
      patch: Partial<Deal>
      fields: { 'data.title': string; 'data.amount': number; 'data.stage': string; id: string }
      expand: 'with'
    }
    company: AnyBase['records'][string]
  }
  relationships: { with: { data: object; source: 'deal'; target: 'company' } }
}
type Deal = { title: string; amount?: number; stage?: string }
type Fetch = typeof globalThis.fetch

let world: World
let plinth: Client<Crm>
const clientOf = (fetch: Fetch = globalThis.fetch, more: object = {}) =>
  createClient<Crm>({ url: world.url, token: world.adminToken, base: 'crm', fetch, ...more })

beforeAll(async () => {
  world = await openWorld()
  plinth = clientOf()
  const schema = {
    type: 'object',
    properties: { title: { type: 'string' }, amount: { type: 'number' }, stage: { enum: ['open', 'won'] } },
    required: ['title'],
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: schema }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/company', {}), 201)
  const link = { source_record_types: ['deal'], target_record_types: ['company'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/with', link), 201)
})
afterAll(() => world.close())

test('a condition whose value is undefined is refused, and nothing is asked', () => {
  const silent = clientOf(() => Promise.reject(new Error('was asked'))).records.deal
  const stage = undefined as unknown as string
  expect(() => silent.list({ where: { stage } })).toThrow('where.stage is undefined. Give a value')
  expect(() => silent.list({ where: { title: 'a', amount: { gte: 1, lt: undefined } } as object })).toThrow(
    'where.amount.lt is undefined',
  )
})

test('a record is created, read, patched, cancelled, restored and deleted', { tags: 'full' }, async () => {
  const { deal } = plinth.records
  const made = await deal.create({ title: 'Ångström', amount: 5 }, { id: 'life' })
  expect(made).toMatchObject({ id: 'life', version: 1, operation: 'created', data: { amount: 5 } })
  expect((await deal.patch('life', { amount: 6 }, { if_match: 1 })).version).toBe(2)
  await expect(deal.patch('life', { amount: 7 }, { if_match: 1 })).rejects.toMatchObject({
    code: 'CONFLICT',
    status: 409,
  })
  expect((await deal.get('life', { version: 1 })).data.amount).toBe(5)
  expect(await deal.put('life', { title: 'New' }, { dry_run: true })).toMatchObject({ dry_run: true })
  expect((await deal.get('life')).data).toEqual({ title: 'Ångström', amount: 6 })
  expect((await deal.cancel('life')).status).toBe('cancelled')
  expect((await deal.restore('life')).status).toBe('active')
  expect(await deal.delete('life')).toMatchObject({ deleted: true })
  await expect(deal.get('life')).rejects.toBeInstanceOf(PlinthError)
  await expect(deal.get('life')).rejects.toMatchObject({ code: 'NOT_FOUND', requestId: expect.any(String) })
})

test('a list goes through all its pages, with conditions on properties', { tags: 'full' }, async () => {
  await plinth.batch(
    Array.from({ length: 7 }, (_, n) => ({
      type: 'create_record',
      record_type: 'deal',
      id: `p${n}`,
      data: { title: `T${n}`, amount: n, stage: n % 2 ? 'won' : 'open' },
    })),
  )
  const open = plinth.records.deal.list({
    where: { stage: 'open', amount: { gte: 2 } },
    sort: '-data.amount',
    limit: 1,
  })
  const ids: string[] = []
  for await (const { id } of open) ids.push(id)
  expect(ids).toEqual(['p6', 'p4', 'p2'])
  expect((await open.first())?.id).toBe('p6')
  expect(await open.all(2)).toHaveLength(2)
  expect((await open.page()).meta.has_more).toBe(true)
  const some = plinth.records.deal.list({
    where: { stage: 'won' },
    filter: { not: { field: 'data.amount', op: 'eq', value: 3 } },
    sort: 'data.amount',
    fields: ['id'],
  })
  expect(await some.all()).toEqual([{ id: 'p1' }, { id: 'p5' }])
  await plinth.records.deal.put('unpriced', { title: 'No price' })
  const parts = plinth.records.deal.list({
    fields: ['id', 'data.title', 'data.amount'],
    where: { title: 'No price' },
  })
  for await (const { id, data } of parts) {
    const words: [string, string, number | undefined] = [id, data.title, data.amount]
    expect(words).toEqual(['unpriced', 'No price', undefined])
  }
  const priced = plinth.records.deal.list({ fields: ['data.amount'], where: { title: 'No price' } })
  expect((await priced.all()).map(({ data }) => data?.amount)).toEqual([undefined])
  await plinth.records.deal.delete('unpriced')
  const sums = await plinth.records.deal.aggregate({ aggregations: [{ fn: 'count', alias: 'n' }] })
  expect(sums.data).toMatchObject([{ n: 7 }])
  expect((await plinth.sql<{ n: number }>('SELECT count(*)::int AS n FROM deal')).data).toEqual([{ n: 7 }])
})

test('links are put, expanded, listed and deleted', { tags: 'full' }, async () => {
  await plinth.records.deal.put('d', { title: 'x' })
  await plinth.records.company.put('c', { name: 'Acme' })
  const link = await plinth.relationships.put({
    rel_type: 'with',
    source_record_type: 'deal',
    source_id: 'd',
    target_record_type: 'company',
    target_id: 'c',
  })
  const deal = await plinth.records.deal.get('d', { expand: ['with'] })
  expect(deal._expanded?.['with']?.[0]?.record.id).toBe('c')
  expect(await plinth.relationships.list({ limit: 1 }).all()).toMatchObject([{ id: link.id }])
  const through = plinth.records.deal.list({ filter: { field: 'with.data.name', op: 'eq', value: 'Acme' } })
  expect((await through.all()).map(({ id }) => id)).toEqual(['d'])
  const unlinked = plinth.records.deal.list({ filter: { none: { rel_type: 'with' } } })
  expect((await unlinked.all()).map(({ id }) => id)).not.toContain('d')
  await plinth.relationships.delete(link.id)
  expect(await plinth.relationships.list().all()).toEqual([])
})

test('a write whose answer is lost is sent again, and takes effect once', { tags: 'full' }, async () => {
  const sent: (string | null)[] = []
  const losing: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    sent.push(new Headers(init?.headers).get('idempotency-key'))
    if (sent.length > 1) return response
    await response.text()
    throw new TypeError('terminated')
  }
  const made = await clientOf(losing).records.deal.create({ title: 'Once' })
  expect(sent).toHaveLength(2)
  expect(sent[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(sent[1]).toBe(sent[0])
  const found = await plinth.records.deal.list({ where: { title: 'Once' } }).all()
  expect(found.map(({ id }) => id)).toEqual([made.id])
})

test('a rate limit is waited for, a refusal is not sent again, and a dead server is an error', {
  tags: 'full',
}, async () => {
  let tries = 0
  const limited: Fetch = async (input, init) => {
    tries++
    return tries === 1
      ? new Response('{}', { status: 429, headers: { 'retry-after': '0' } })
      : fetch(input, init)
  }
  await clientOf(limited).records.deal.list({ limit: 1 }).page()
  expect(tries).toBe(2)
  // The database is away for a moment, and then longer than the client waits.
  const away: [string, string][] = []
  const restarting: Fetch = async (input, init) => {
    away.push([init?.method ?? '', new Headers(init?.headers).get('idempotency-key') ?? ''])
    return away.length === 1
      ? new Response('{}', { status: 500, headers: { 'retry-after': '0' } })
      : fetch(input, init)
  }
  await clientOf(restarting).records.deal.create({ title: 'Kept' })
  expect(away).toHaveLength(2)
  expect(away[1]).toEqual(away[0])
  // A write that may have been applied is sent again under its key.
  const unknown: string[] = []
  const error = {
    code: 'INTERNAL_ERROR',
    message: '',
    details: [{ path: '', code: 'outcome_unknown', message: '' }],
  }
  const lost: Fetch = async (input, init) => {
    unknown.push(new Headers(init?.headers).get('idempotency-key') ?? '')
    const answer = await fetch(input, init)
    return unknown.length === 1 ? Response.json({ error }, { status: 500 }) : answer
  }
  await clientOf(lost).records.deal.create({ title: 'Applied once' })
  expect(unknown).toHaveLength(2)
  expect(unknown[1]).toBe(unknown[0])
  expect(await plinth.records.deal.list({ where: { title: 'Applied once' } }).all()).toHaveLength(1)
  let broken = 0
  const failing: Fetch = async () => {
    broken++
    return new Response('{}', { status: 500 })
  }
  await expect(clientOf(failing).records.deal.list({ limit: 1 }).page()).rejects.toMatchObject({
    status: 500,
  })
  expect(broken, 'a failure that says nothing of a time').toBe(1)
  let refused = 0
  const counting: Fetch = (input, init) => {
    refused++
    return fetch(input, init)
  }
  await expect(clientOf(counting).records.deal.create({} as Deal)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [expect.objectContaining({ path: expect.stringContaining('title') })],
  })
  expect(refused).toBe(1)
  const dead = clientOf(() => Promise.reject(new TypeError('fetch failed')), { retries: 0 })
  await expect(dead.records.deal.get('x')).rejects.toMatchObject({ code: 'UNREACHABLE', status: 0 })
})

test('the change feed continues after the last entry when its connection breaks', {
  tags: 'full',
}, async () => {
  const connections: (string | null)[] = []
  const breaking: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    connections.push(new Headers(init?.headers).get('last-event-id'))
    if (connections.length > 1 || !response.body) return response
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value } = await reader.read()
        if (value) controller.enqueue(value)
        if (!decoder.decode(value).includes('"f1"')) return
        await reader.cancel()
        controller.error(new TypeError('terminated'))
      },
    })
    return new Response(body, { headers: response.headers })
  }
  const stop = new AbortController()
  const seen: Change[] = []
  const { seq } = (
    await plinth.request<{ data: Change[] }>('/crm/changes', { query: { order: 'desc', limit: 1 } })
  ).data[0] ?? { seq: 0 }
  const following = (async () => {
    for await (const change of clientOf(breaking).changes({
      after: seq,
      kind: 'record',
      signal: stop.signal,
    })) {
      seen.push(change)
      if (seen.length === 3) stop.abort()
    }
  })()
  await plinth.records.deal.put('f1', { title: 'f1' })
  await expect.poll(() => connections.length).toBe(2)
  for (const id of ['f2', 'f3']) await plinth.records.deal.put(id, { title: id })
  await following
  expect(seen.map(({ id }) => id)).toEqual(['f1', 'f2', 'f3'])
  expect(connections[1]).toMatch(/^\d+$/)
  const refused = createClient({ url: world.url, token: 'plt_none', base: 'crm' }).changes()
  await expect(refused.next()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})

test('an id cannot leave its place in a path', async () => {
  expect(() => plinth.records.deal.get('..')).toThrow(TypeError)
  await expect(plinth.records.deal.get('../company/c')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
  await expect(plinth.records.deal.get('a/b?x=1')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
})
