import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed, TIME, times, UUID7 } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

// Two servers on one database, so that locks within a process cannot hide a race.
let one: World
let two: World
let worker: { id: string; call: Call }
let other: { id: string; call: Call }
beforeAll(async () => {
  one = await openWorld()
  two = await openWorld({}, one.database)
  worker = await one.newToken([{ permission: 'write' }])
  other = await one.newToken([{ permission: 'write' }])
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const STATUS_INDEX = { indexes: [{ fields: ['data.status'] }] }

/** Creates a type with records `r0`, `r1`, … of one status, in that order of creation. */
async function queue(count: number, body: object = {}, data: object = { status: 'open' }): Promise<string> {
  const type = await one.newType(body)
  await one.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version, created_at)
     SELECT 'crm', $1, 'r' || n, $3::jsonb || jsonb_build_object('n', n), 1, now() - interval '1 day' + n * interval '1 ms'
     FROM generate_series(0, $2::int - 1) n`,
    [type, count, JSON.stringify(data)],
  )
  return type
}

const claim = async (type: string, body: object = {}, call: Call = worker.call): Promise<Body[]> =>
  succeed(await call('POST', `/v1/crm/records/${type}/claim`, body)).data
const idsOf = (claimed: Body[]): string[] => claimed.map(({ record }) => record.id)
const act = (name: string, id: string, body?: object, call: Call = worker.call) =>
  call('POST', `/v1/crm/claims/${id}/${name}`, body)
/** Ends the lease of a claim now. */
const expire = (id: string) =>
  one.database.query(`UPDATE plinth.claim SET expires_at = now() - interval '1 ms' WHERE id = $1`, [id])
async function first(type: string, body: object = {}): Promise<Body> {
  const [claimed] = await claim(type, body)
  expect(claimed).toBeDefined()
  return claimed
}
function expectConflict(answer: Parameters<typeof expectFailure>[0], code: string, path = 'path/id') {
  expect(expectFailure(answer, 'CONFLICT').details).toMatchObject([{ code, path }])
}

describe('A claim', () => {
  test('returns the oldest records first, each once, and then none', { tags: 'full' }, async () => {
    const type = await queue(5)
    const [claimed] = await claim(type)
    expect(claimed.record).toMatchObject({ id: 'r0', record_type: type, data: { n: 0 }, version: 1 })
    expect(claimed.claim).toEqual({
      id: expect.stringMatching(UUID7),
      expires_at: expect.stringMatching(TIME),
      attempts: 1,
    })
    const lease = Date.parse(claimed.claim.expires_at) - Date.now()
    expect(lease).toBeGreaterThan(590_000)
    expect(lease).toBeLessThanOrEqual(601_000)
    expect(idsOf(await claim(type, { limit: 3 }))).toEqual(['r1', 'r2', 'r3'])
    const answer = succeed(await worker.call('POST', `/v1/crm/records/${type}/claim`, { limit: 3 }))
    expect(idsOf(answer.data)).toEqual(['r4'])
    expect(answer.meta).toEqual({ count: 1, limit: 3 })
    expect(await claim(type)).toEqual([])
  })

  test('returns records that match the filter, in sort order, with and without an index', {
    tags: 'full',
  }, async () => {
    for (const body of [
      {},
      STATUS_INDEX,
      { indexes: [{ fields: ['data.status', 'data.n'] }] },
      { indexes: [{ fields: ['data.n'] }] },
      { indexes: [{ fields: ['data.status', 'created_at'] }] },
    ]) {
      const type = await one.newType(body)
      for (const [n, status] of ['open', 'done', 'open', 'open', 'done', 'open'].entries())
        succeed(await one.call('PUT', `/v1/crm/records/${type}/r${n}`, { data: { n, status } }), 201)
      succeed(await one.call('POST', `/v1/crm/records/${type}/r3/cancel`))
      const filter = { field: 'data.status', op: 'eq', value: 'open' }
      expect(idsOf(await claim(type, { filter })), JSON.stringify(body)).toEqual(['r0'])
      expect(idsOf(await claim(type, { filter, sort: '-data.n' }))).toEqual(['r5'])
      expect(idsOf(await claim(type, { filter, limit: 10 }))).toEqual(['r2'])
      expect(idsOf(await claim(type, { sort: [{ field: 'data.n', direction: 'desc' }], limit: 10 }))).toEqual(
        ['r4', 'r1'],
      )
    }
  })

  test('creates no version or log entry, and does not block writes of others', { tags: 'full' }, async () => {
    const type = await queue(1)
    await claim(type)
    expect(await one.logOf(type)).toEqual([])
    const path = `/v1/crm/records/${type}/r0`
    expect(succeed(await other.call('PATCH', path, { data: { by: 'other' } })).version).toBe(2)
    succeed(await other.call('DELETE', path))
  })

  test('that expired makes the record claimable again, and counts as an attempt', {
    tags: 'full',
  }, async () => {
    const type = await queue(1)
    const { claim: held } = await first(type)
    await expire(held.id)
    const [again] = await claim(type, {}, other.call)
    expect(again).toMatchObject({ record: { id: 'r0' }, claim: { attempts: 2 } })
    expectConflict(await act('heartbeat', held.id), 'claim_lost')
    expectConflict(await act('complete', held.id), 'claim_lost')
    expectConflict(await act('release', held.id), 'claim_lost')
    succeed(await act('heartbeat', again.claim.id, undefined, other.call))
  })

  test('whose lease ended is lost, even if no other token claimed the record', async () => {
    const { claim: held } = await first(await queue(1))
    await expire(held.id)
    for (const name of ['heartbeat', 'complete', 'release'])
      expectConflict(await act(name, held.id), 'claim_lost')
    expectConflict(await worker.call('GET', `/v1/crm/claims/${held.id}`), 'claim_lost')
  })

  test('is extended by heartbeats', async () => {
    const { claim: held } = await first(await queue(1), { lease_seconds: 2 })
    const beaten = succeed(await act('heartbeat', held.id))
    expect(beaten).toMatchObject({ id: held.id, status: 'active', record_id: 'r0', attempts: 1 })
    expect(Date.parse(beaten.expires_at)).toBeGreaterThan(Date.parse(held.expires_at))
    expect(Date.parse(beaten.expires_at)).toBeLessThan(Date.now() + 2500)
    const longer = succeed(await act('heartbeat', held.id, { lease_seconds: 3600 }))
    const again = succeed(await act('heartbeat', held.id))
    for (const { expires_at } of [longer, again])
      expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 3_500_000)
  })

  test('that is released makes the record claimable at once', async () => {
    const type = await queue(2)
    const { claim: held } = await first(type)
    expect(succeed(await act('release', held.id))).toMatchObject({ id: held.id, status: 'released' })
    expectConflict(await act('release', held.id), 'claim_lost')
    expect(await first(type)).toMatchObject({ record: { id: 'r0' }, claim: { attempts: 2 } })
  })

  test('that is completed makes the record claimable again, with attempts at 1, only after a change', {
    tags: 'full',
  }, async () => {
    const type = await queue(1)
    const { claim: held } = await first(type)
    succeed(await worker.call('PATCH', `/v1/crm/records/${type}/r0`, { data: { answer: 42 } }))
    expect(succeed(await act('complete', held.id))).toMatchObject({ status: 'completed' })
    expect(succeed(await act('complete', held.id)), 'again').toMatchObject({ status: 'completed' })
    expectConflict(await act('heartbeat', held.id), 'claim_lost')
    expect(await claim(type)).toEqual([])
    succeed(await other.call('PATCH', `/v1/crm/records/${type}/r0`, { data: { answer: 43 } }))
    expectConflict(await act('complete', held.id), 'claim_lost')
    expect(await first(type)).toMatchObject({ record: { data: { answer: 43 } }, claim: { attempts: 1 } })
  })

  test('at max_attempts is exhausted until the record changes', { tags: 'full' }, async () => {
    const type = await queue(1)
    for (const attempts of [1, 2]) {
      const { claim: held } = await first(type, { max_attempts: 2 })
      expect(held.attempts).toBe(attempts)
      await expire(held.id)
    }
    expect(await claim(type, { max_attempts: 2 })).toEqual([])
    expect(await claim(type), 'a claim without a bound').toEqual([])
    const { data } = succeed(await worker.call('GET', '/v1/crm/claims?status=exhausted'))
    expect(data).toMatchObject([{ record_type: type, record_id: 'r0', status: 'exhausted', attempts: 2 }])
    succeed(await other.call('PATCH', `/v1/crm/records/${type}/r0`, { data: { mended: true } }))
    expect((await first(type, { max_attempts: 2 })).claim.attempts).toBe(1)
  })

  test('applies its own max_attempts, not those of earlier claims', async () => {
    const type = await queue(1)
    await expire((await first(type)).claim.id)
    expect(await claim(type, { max_attempts: 1 })).toEqual([])
    expect((await first(type, { max_attempts: 2 })).claim.attempts).toBe(2)
  })

  test('of a deleted record is lost, and a recreated record starts at attempt 1', async () => {
    const type = await queue(1)
    const { claim: held } = await first(type)
    succeed(await other.call('DELETE', `/v1/crm/records/${type}/r0`))
    expectConflict(await act('heartbeat', held.id), 'claim_lost')
    succeed(await other.call('PUT', `/v1/crm/records/${type}/r0`, { data: {} }), 201)
    expect((await first(type)).claim.attempts).toBe(1)
  })

  test('as a dry run leases no record', async () => {
    const type = await queue(1)
    const path = `/v1/crm/records/${type}/claim?dry_run=true`
    const answer = succeed(await worker.call('POST', path))
    expect(answer).toMatchObject({ dry_run: true, data: [{ record: { id: 'r0' } }] })
    expectFailure(await act('heartbeat', answer.data[0].claim.id), 'NOT_FOUND')
    expect(idsOf(await claim(type))).toEqual(['r0'])
  })

  test('repeated under one idempotency key returns the same record', async () => {
    const type = await queue(2)
    const key = { 'idempotency-key': `claim-${type}` }
    const answers = await Promise.all(
      times(4, () => worker.call('POST', `/v1/crm/records/${type}/claim`, {}, key)),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(idsOf(await claim(type, { limit: 10 }))).toEqual(['r1'])
  })
})

describe('A write under a claim', () => {
  test('succeeds while the claim is active, and does not make the record claimable again', {
    tags: 'full',
  }, async () => {
    const type = await queue(1)
    const { claim: held } = await first(type, { max_attempts: 1 })
    const path = `/v1/crm/records/${type}/r0`
    const under = { claim_id: held.id }
    succeed(await worker.call('PUT', path, { data: { a: 1 }, ...under }))
    succeed(await worker.call('PATCH', path, { data: { b: 1 }, ...under }))
    succeed(await worker.call('PUT', `/v1/crm/records/${type}/r0`, { data: { a: 1, b: 1 }, ...under }))
    succeed(await worker.call('POST', `${path}/cancel`, under))
    succeed(await worker.call('POST', `${path}/restore`, under))
    await expire(held.id)
    expect(await claim(type, { max_attempts: 1 }), 'what a holder wrote is not a change').toEqual([])
  })

  test('is 409 after the claim is lost, and changes nothing', { tags: 'full' }, async () => {
    const type = await queue(1)
    const path = `/v1/crm/records/${type}/r0`
    const { claim: held } = await first(type)
    await expire(held.id)
    const writes: [string, string, object][] = [
      ['PUT', path, { data: { a: 1 } }],
      ['PATCH', path, { data: { a: 1 } }],
      ['POST', `${path}/cancel`, {}],
    ]
    for (const [method, at, body] of writes)
      expectConflict(await worker.call(method, at, { ...body, claim_id: held.id }), 'claim_lost', '/claim_id')
    expect(succeed(await worker.call('GET', path))).toMatchObject({ version: 1, data: { n: 0 } })
    expect(await one.logOf(type)).toEqual([])
  })

  test('can be a JSON Patch, or a DELETE, which ends the claim', { tags: 'full' }, async () => {
    const type = await queue(1)
    const path = `/v1/crm/records/${type}/r0`
    const { claim: held } = await first(type)
    const replace = (status: string, query: string) =>
      worker.call('PATCH', `${path}?${query}`, [{ op: 'replace', path: '/data/status', value: status }], {
        'content-type': 'application/json-patch+json',
      })
    succeed(await replace('half', `claim_id=${held.id}`))
    expectFault(
      await worker.call('PATCH', `${path}?claim_id=x`, { data: {}, claim_id: held.id }),
      'query/claim_id',
    )
    const remove = (call: Call, id = held.id) => call('DELETE', `${path}?claim_id=${id}`)
    expectConflict(await remove(other.call), 'claim_of_another_token', 'query/claim_id')
    expectFailure(await remove(worker.call, 'unheard-of'), 'NOT_FOUND')
    succeed(await worker.call('DELETE', `${path}?claim_id=${held.id}&dry_run=true`))
    succeed(await act('heartbeat', held.id))
    succeed(await remove(worker.call))
    expectConflict(await act('heartbeat', held.id), 'claim_lost')
    expectFailure(await remove(worker.call), 'NOT_FOUND')
  })

  test('by JSON Patch or DELETE is 409 after the claim is lost', async () => {
    const type = await queue(1)
    const path = `/v1/crm/records/${type}/r0`
    const { claim: held } = await first(type)
    await expire(held.id)
    const under = `${path}?claim_id=${held.id}`
    const patch = await worker.call('PATCH', under, [], { 'content-type': 'application/json-patch+json' })
    expectConflict(patch, 'claim_lost', 'query/claim_id')
    expectConflict(await worker.call('DELETE', under), 'claim_lost', 'query/claim_id')
    expect(succeed(await worker.call('GET', path))).toMatchObject({ version: 1 })
    expect(await one.logOf(type)).toEqual([])
  })

  test("is refused for another record or another token than the claim's", { tags: 'full' }, async () => {
    const type = await queue(2)
    const { claim: held } = await first(type)
    const write = (id: string, claim_id: string, call: Call) =>
      call('PUT', `/v1/crm/records/${type}/${id}`, { data: { a: 1 }, claim_id })
    expectConflict(await write('r1', held.id, worker.call), 'claim_of_another_record', '/claim_id')
    expectConflict(await write('new', held.id, worker.call), 'claim_of_another_record', '/claim_id')
    expectConflict(await write('r0', held.id, other.call), 'claim_of_another_token', '/claim_id')
    expectFailure(await write('r0', 'unheard-of', worker.call), 'NOT_FOUND')
    expectFailure(await worker.call('GET', `/v1/crm/records/${type}/new`), 'NOT_FOUND')
    expect(await one.logOf(type)).toEqual([])
  })
})

describe('Permissions and parameters of claims', () => {
  test('a claim needs write permission; of a type without a grant it is 403, whether or not the type exists', async () => {
    const type = await queue(1)
    const reader = await one.newToken([{ record_type: type, permission: 'read' }])
    for (const name of [type, 'absent', 'type1'])
      expectFailure(await reader.call('POST', `/v1/crm/records/${name}/claim`, {}), 'FORBIDDEN')
    expectFailure(await worker.call('POST', '/v1/crm/records/absent/claim', {}), 'NOT_FOUND')
  })

  test('a list has claims of granted types only, and an ungranted claim is 404 like an unknown one', {
    tags: 'full',
  }, async () => {
    const [mine, hidden] = [await queue(1), await queue(1)]
    const [seen, unseen] = [await first(mine), await first(hidden)]
    const guest = await one.newToken([{ record_type: mine, permission: 'write' }])
    const { data, meta } = succeed(await guest.call('GET', '/v1/crm/claims?include_total=true'))
    expect(data).toEqual([
      {
        id: seen.claim.id,
        record_type: mine,
        record_id: 'r0',
        status: 'active',
        attempts: 1,
        expires_at: seen.claim.expires_at,
        claimed_at: expect.stringMatching(TIME),
        holder: { token_id: worker.id, name: expect.any(String), kind: 'program' },
      },
    ])
    expect(meta.total).toBe(1)
    const [unknown, ungranted] = await Promise.all(
      ['unknown', unseen.claim.id].map((id) => act('heartbeat', id, undefined, guest.call)),
    )
    const strip = (text = '') => text.replaceAll(/"(request_id|received)":"[^"]*"|claim \\"[^"]*"/g, '')
    expect(ungranted?.status).toBe(404)
    expect(strip(ungranted?.text)).toBe(strip(unknown?.text))
  })

  test('a heartbeat, release or completion by another token is 409', async () => {
    const { claim: held } = await first(await queue(1))
    for (const name of ['heartbeat', 'release', 'complete'])
      expectConflict(await act(name, held.id, undefined, other.call), 'claim_of_another_token')
    succeed(await act('heartbeat', held.id))
  })

  test('a list filters by status and pages by cursor', { tags: 'full' }, async () => {
    const type = await queue(6)
    const reader = await one.newToken([{ record_type: type, permission: 'read' }])
    const claimed = await claim(type, { limit: 5 })
    const [a, b, c] = claimed.map((each) => each.claim.id)
    succeed(await act('complete', a))
    succeed(await act('release', b))
    await expire(c)
    const list = async (query: string) => succeed(await reader.call('GET', `/v1/crm/claims?${query}`))
    expect((await list('status=completed')).data.map((each: Body) => each.id)).toEqual([a])
    expect((await list('status=active&include_total=true')).meta.total).toBe(2)
    expect((await list('status=exhausted')).data).toEqual([])
    const all: string[] = []
    for (let cursor = ''; ; ) {
      const { data, meta } = await list(`limit=1${cursor}`)
      all.push(...data.map((each: Body) => each.record_id))
      if (!meta.has_more) break
      cursor = `&cursor=${meta.next_cursor}`
    }
    expect(all.sort()).toEqual(['r0', 'r3', 'r4'])
    expectFault(await reader.call('GET', '/v1/crm/claims?status=lost'), 'query/status')
  })

  test.each<[object, string]>([
    [{ limit: 101 }, '/limit'],
    [{ limit: 0 }, '/limit'],
    [{ lease_seconds: 86_401 }, '/lease_seconds'],
    [{ lease_seconds: 1.5 }, '/lease_seconds'],
    [{ max_attempts: 0 }, '/max_attempts'],
    [{ lease: 5 }, '/lease'],
    [{ filter: {} }, '/filter'],
    [{ filter: { field: 'data.a', op: 'equals', value: 1 } }, '/filter/op'],
    [{ sort: 'data.items[]' }, '/sort'],
  ])('%j is refused by name', async (body, path) => {
    const type = await one.newType()
    expectFault(await worker.call('POST', `/v1/crm/records/${type}/claim`, body), path)
  })
})

describe('Concurrent claims', () => {
  const either = (i: number, call: (world: World) => Call) => call(i % 2 ? one : two)
  const asWorker = (world: World) => world.as(workerToken)
  let workerToken = ''
  beforeAll(async () => {
    workerToken = (await one.newToken([{ permission: 'write' }])).token
  })

  test.each([
    [1000, {}, {}],
    [1000, {}, { sort: '-data.n' }],
    [250, STATUS_INDEX, { filter: { field: 'data.status', op: 'eq', value: 'open' } }],
  ])(
    'by 16 clients at two servers claim each of %i records exactly once: %j %j',
    { tags: 'full' },
    async (count, body, asked) => {
      const isIndexed = 'indexes' in body
      const type = await queue(isIndexed ? 0 : count, body)
      // Created by the API, which writes their index entries.
      if (isIndexed)
        await Promise.all(
          times(count, async (n) => {
            const data = { n, status: 'open' }
            succeed(await one.call('POST', `/v1/crm/records/${type}`, { data }), 201)
          }),
        )
      const taken: string[] = []
      await Promise.all(
        times(16, async (i) => {
          for (;;) {
            const limit = 1 + (i % 7)
            const claimed = await claim(type, { ...asked, limit }, either(i, asWorker))
            if (claimed.length === 0) return
            taken.push(...idsOf(claimed))
          }
        }),
      )
      expect(taken).toHaveLength(count)
      expect(new Set(taken).size).toBe(count)
    },
  )

  test('by 32 clients on 32 free records give each client one record', { tags: 'full' }, async () => {
    const type = await queue(32)
    const answers = await Promise.all(times(32, (i) => claim(type, {}, either(i, asWorker))))
    expect(answers.map((claimed) => claimed.length)).toEqual(times(32, () => 1))
    expect(new Set(answers.flatMap(idsOf)).size).toBe(32)
  })

  test('and heartbeats at the end of a lease never give a record to both', { tags: 'full' }, async () => {
    const type = await queue(20)
    const held = await claim(type, { limit: 20, lease_seconds: 1 }, asWorker(one))
    const ends = Math.min(...held.map((each) => Date.parse(each.claim.expires_at)))
    const taken: string[] = []
    const lost = new Set<string>()
    // Some heartbeats come before the end of the lease, some after it.
    const beat = async ({ record, claim: { id } }: Body, n: number) => {
      await sleep(ends - Date.now() + 3 * (n - 10))
      const { status } = await act('heartbeat', id, { lease_seconds: 60 }, asWorker(one))
      expect([200, 409]).toContain(status)
      if (status === 409) lost.add(record.id)
    }
    const grab = async (n: number) => {
      await sleep(ends - Date.now() + 5 * (n - 2))
      taken.push(...idsOf(await claim(type, { limit: 5 }, asWorker(two))))
    }
    await Promise.all([...held.map(beat), ...times(8, grab)])
    for (const id of taken) expect(lost, 'a record taken by another is lost').toContain(id)
    const rest = await claim(type, { limit: 20 }, asWorker(two))
    expect([...taken, ...idsOf(rest)].sort()).toEqual([...lost].sort())
  })
})

describe('a list of claims', () => {
  const onList = (
    name: string,
    claim_ids: unknown,
    more: object = {},
    query = '',
    call: Call = worker.call,
  ) => call('POST', `/v1/crm/claims/${name}${query}`, { claim_ids, ...more })
  const held = async (count: number) =>
    (await claim(await queue(count), { limit: count })).map((each) => each.claim.id)

  test('is extended, released and completed at once; a lost one does not keep the others', async () => {
    const [a, b, c] = await held(3)
    const beats = succeed(await onList('heartbeat', [a, b, c, a], { lease_seconds: 5000 }))
    expect(beats).toMatchObject({
      data: [{ id: a, status: 'active' }, { id: b }, { id: c }],
      meta: { count: 3 },
    })
    expect(beats.meta).not.toHaveProperty('refused')
    expect(Date.parse(beats.data[0].expires_at)).toBeGreaterThan(Date.now() + 4_000_000)
    expect(succeed(await onList('release', [b])).data).toMatchObject([{ id: b, status: 'released' }])
    expect(succeed(await onList('complete', [c, b, 'none', a]))).toEqual({
      data: [
        expect.objectContaining({ id: c, status: 'completed' }),
        { id: b, error: { code: 'claim_lost', message: expect.any(String) } },
        { id: 'none', error: { code: 'claim_not_found', message: expect.any(String) } },
        expect.objectContaining({ id: a, status: 'completed' }),
      ],
      meta: { count: 4, refused: 2 },
    })
  })

  test('is left as it is by a dry run, and acted on once under an Idempotency-Key', {
    tags: 'full',
  }, async () => {
    const [a] = await held(1)
    const dry = succeed(await onList('complete', [a], {}, '?dry_run=true'))
    expect(dry).toMatchObject({ data: [{ status: 'completed' }], dry_run: true })
    expect(succeed(await worker.call('GET', `/v1/crm/claims/${a}`)).status).toBe('active')
    const send = () =>
      worker.call('POST', '/v1/crm/claims/release', { claim_ids: [a] }, { 'idempotency-key': `list-${a}` })
    const [first, again] = [await send(), await send()]
    expect(succeed(first).data).toMatchObject([{ status: 'released' }])
    expect(again.text).toBe(first.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  test('is refused whole if the token may not write one of the types', { tags: 'full' }, async () => {
    const [mine, theirs] = [await queue(1), await queue(1)]
    const part = await one.newToken([
      { record_type: mine, permission: 'write' },
      { record_type: theirs, permission: 'read' },
    ])
    const [a] = await claim(mine, {}, part.call)
    // Claims are acted on in the order of their ids, and these rise with time.
    const [after] = await claim(theirs)
    const ids = [a.claim.id, after.claim.id]
    expectFailure(await onList('release', ids, {}, '', part.call), 'FORBIDDEN')
    for (const { claim } of [a, after])
      expect(succeed(await worker.call('GET', `/v1/crm/claims/${claim.id}`)).status).toBe('active')
  })

  test('has 1 to 100 claims', async () => {
    for (const ids of [[], times(101, (n) => `c${n}`), 'a', [1], undefined])
      expectFault(
        await onList('release', ids),
        Array.isArray(ids) && ids.length === 1 ? '/claim_ids/0' : '/claim_ids',
      )
    expectFault(await onList('release', ['a'], { lease_seconds: 5 }), '/lease_seconds')
  })

  test('can be sent by two requests in opposite orders at once', { tags: 'full' }, async () => {
    const ids = await held(20)
    const answers = await Promise.all(times(8, (n) => onList('heartbeat', n % 2 ? ids : ids.toReversed())))
    for (const answer of answers) expect(succeed(answer).meta).toEqual({ count: 20 })
  })
})

describe('Who holds a claim', () => {
  const list = (query: string, call: Call = worker.call): Promise<Body> =>
    call('GET', `/v1/crm/claims?${query}`).then((answer) => succeed(answer).data)

  test('is in the claim, by the id and name of its token, with the time', { tags: 'full' }, async () => {
    const type = await queue(1)
    const { claim: made } = await first(type)
    const held = succeed(await other.call('GET', `/v1/crm/claims/${made.id}`))
    expect(held).toEqual({
      ...{ id: made.id, record_type: type, record_id: 'r0', status: 'active', attempts: 1 },
      ...{ expires_at: made.expires_at, claimed_at: expect.stringMatching(TIME) },
      holder: { token_id: worker.id, name: expect.any(String), kind: 'program' },
    })
    expect(await list(`record_type=${type}`, other.call)).toEqual([held])
    expect(
      (
        await one.call('POST', '/v1/crm/sql', {
          query: 'SELECT * FROM claims WHERE record_type = $1',
          params: [type],
        })
      ).body.data,
    ).toEqual([{ ...held, holder: { token_id: worker.id, name: held.holder.name, kind: 'program' } }])
  })

  test('says whether it is an agent', async () => {
    const type = await queue(1)
    const agent = await one.newToken([{ permission: 'write' }], { kind: 'agent' })
    succeed(await agent.call('POST', `/v1/crm/records/${type}/claim`, {}))
    expect(await list(`record_type=${type}`)).toMatchObject([
      { holder: { token_id: agent.id, kind: 'agent' } },
    ])
  })

  test('selects claims, with the record and its type', { tags: 'full' }, async () => {
    const type = await queue(3)
    await claim(type, { limit: 2 })
    await claim(type, {}, other.call)
    const ids = async (query: string) =>
      (await list(`record_type=${type}&${query}`)).map((each: Body) => each.record_id).sort()
    expect(await ids('')).toEqual(['r0', 'r1', 'r2'])
    expect(await ids(`holder=${other.id}`)).toEqual(['r2'])
    expect(await ids('record_id=r1&status=active')).toEqual(['r1'])
    expect(await ids(`record_id=r1&holder=${other.id}`)).toEqual([])
    const reader = await one.newToken([{ record_type: type, permission: 'read' }])
    expectFailure(await reader.call('GET', '/v1/crm/claims?record_type=elsewhere'), 'FORBIDDEN')
    const blind = await one.newToken([{ record_type: 'elsewhere', permission: 'read' }])
    expect(await list(`holder=${other.id}`, blind.call)).toEqual([])
    expect(succeed(await blind.call('POST', '/v1/crm/sql', { query: 'SELECT id FROM claims' })).data).toEqual(
      [],
    )
  })

  test('is shown by reads of records that ask for it, and by no others', { tags: 'full' }, async () => {
    const type = await queue(2)
    const { claim: made } = await first(type)
    const held = succeed(await one.call('GET', `/v1/crm/claims/${made.id}`))
    const path = `/v1/crm/records/${type}`
    const listed = succeed(await one.call('GET', `${path}?include=claim&sort=id`)).data
    expect(listed.map((each: Body) => [each.id, each.claim])).toEqual([
      ['r0', held],
      ['r1', null],
    ])
    const queried = succeed(
      await one.call('POST', `${path}/query`, { include: ['claim'], fields: ['id'], sort: 'id' }),
    ).data
    expect(queried).toEqual([
      { id: 'r0', claim: held },
      { id: 'r1', claim: null },
    ])
    expect(succeed(await one.call('GET', `${path}/r0?include=claim`)).claim).toEqual(held)
    expect(succeed(await one.call('GET', `${path}/r1?include=claim`)).claim).toBeNull()
    for (const bare of ['', '?fields=id'])
      for (const each of succeed(await one.call('GET', path + bare)).data)
        expect(each).not.toHaveProperty('claim')
    expect(succeed(await one.call('GET', `${path}/r0`))).not.toHaveProperty('claim')
    expectFault(await one.call('GET', `${path}?include=owner`), 'query/include')
    expectFault(await one.call('GET', `${path}/r0?include=claim&version=1`), 'query/include')
    await act('release', made.id)
    expect(succeed(await one.call('GET', `${path}/r0?include=claim`)).claim).toBeNull()
  })

  test('another token ends the claim with force and manage on the type only', { tags: 'full' }, async () => {
    const type = await queue(1)
    const { claim: made } = await first(type)
    const force = (call: Call) => call('POST', `/v1/crm/claims/${made.id}/release?force=true`)
    expectConflict(await act('release', made.id, undefined, other.call), 'claim_of_another_token')
    expectFailure(await force(other.call), 'FORBIDDEN')
    const manager = await one.newToken([{ record_type: type, permission: 'manage' }])
    expect(succeed(await force(manager.call))).toMatchObject({
      status: 'released',
      holder: { token_id: worker.id },
    })
    expectConflict(await act('heartbeat', made.id), 'claim_lost')
    expectConflict(await force(manager.call), 'claim_lost')
    expectFailure(await manager.call('POST', '/v1/crm/claims/none/release?force=true'), 'NOT_FOUND')
    expect(idsOf(await claim(type, {}, other.call))).toEqual(['r0'])
  })
})

describe('A claim with a patch', () => {
  const open = { field: 'data.status', op: 'eq', value: 'open' }

  test('writes each claimed record as the update of its holder, in the same transaction', {
    tags: 'full',
  }, async () => {
    const type = await queue(3)
    const [claimed, next] = await claim(type, { filter: open, limit: 2, patch: { status: 'doing', n: null } })
    expect(claimed.record).toMatchObject({ id: 'r0', data: { status: 'doing' }, version: 2 })
    expect(claimed.record.data).not.toHaveProperty('n')
    expect(next.record).toMatchObject({ id: 'r1', version: 2 })
    const [entry] = await one.logOf(type, 'r0')
    expect(entry).toMatchObject({ operation: 'update', version: 2 })
    // The holder's own work does not make the record available again.
    succeed(await act('complete', claimed.claim.id))
    expect(idsOf(await claim(type, { limit: 9 }))).toEqual(['r2'])
    expect(succeed(await one.call('GET', `/v1/crm/records/${type}/r2`)).version).toBe(1)
  })

  test('claims nothing if the result does not fit the schema', async () => {
    const type = await queue(1, {
      json_schema: { type: 'object', properties: { status: { enum: ['open', 'done'] } } },
    })
    const call = (body: object) => worker.call('POST', `/v1/crm/records/${type}/claim`, body)
    const fault = expectFault(await call({ patch: { status: 'lost' } }), '/patch/status')
    expect(fault.code).toBe('enum')
    expectFault(await call({ patch: ['x'] }), '/patch')
    expect(succeed(await one.call('GET', `/v1/crm/claims?record_type=${type}`)).data).toEqual([])
    expect(succeed(await call({ patch: { status: 'done' } })).data[0].record.data.status).toBe('done')
  })

  test('gives each record to one of many workers, and writes it once', { tags: 'full' }, async () => {
    const type = await queue(12, STATUS_INDEX)
    const takers = times(12, (n) => (n % 2 ? worker : other).call)
    const taken = await Promise.all(
      takers.map((call) => claim(type, { filter: open, patch: { status: 'doing' } }, call)),
    )
    expect(new Set(taken.flatMap(idsOf)).size).toBe(taken.flat().length)
    const { data } = succeed(await one.call('GET', `/v1/crm/records/${type}?limit=100`))
    expect(data.filter((each: Body) => each.version === 2)).toHaveLength(taken.flat().length)
    expect(data.every((each: Body) => each.version <= 2)).toBe(true)
  })
})
