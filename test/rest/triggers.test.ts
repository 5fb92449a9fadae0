/** Triggers: which changes are sent, how they are signed, and what becomes of a delivery. */
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../support/query-plans.ts'
import { answering, openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import type { Body } from '../support/server.ts'
import { eventually } from '../support/until.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' })
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)

/** A trigger on a record type of its own, whose receiver is a path of its own. */
async function newTrigger(more: object = {}, type?: string) {
  const recordType = type ?? (await world.newType())
  const id = `trigger${++serial}`
  const body = { record_types: [recordType], url: `${receiver.url}/${id}`, ...more }
  const made = succeed(await call('PUT', `/v1/crm/triggers/${id}`, body), 201)
  const one = `/v1/crm/triggers/${id}`
  return {
    ...{ id, one, recordType, made, secret: String(made.secret), path: `/${id}` },
    put: (record: string, data: object) => put(recordType, record, data),
    arrived: (count: number) => arrived(`/${id}`, count),
    deliveries: async (): Promise<Body[]> => succeed(await call('GET', `${one}/deliveries`)).data,
    /** Waits until a delivery is as expected. */
    delivery: (matches: (delivery: Body) => boolean): Promise<Body> =>
      eventually(async () => succeed(await call('GET', `${one}/deliveries`)).data.find(matches)),
    trigger: async (): Promise<Body> => succeed(await call('GET', one)),
  }
}
const put = async (type: string, record: string, data: object) => {
  const answer = await call('PUT', `/v1/crm/records/${type}/${record}`, { data })
  expect(answer.status, answer.text).toBeLessThan(300)
}
const arrived = (path: string, count: number): Promise<Received[]> =>
  eventually(async () => {
    const found = receiver.at(path)
    return found.length >= count ? found : undefined
  })
const typesOf = (received: readonly Received[]) => received.map(({ body }) => body.type)

test('each change of a record arrives once, in order, with the record and how it was', async () => {
  const { recordType, put, arrived, deliveries } = await newTrigger()
  const at = `/v1/crm/records/${recordType}/r1`
  await put('r1', { n: 1 })
  await put('r1', { n: 2 })
  succeed(await call('POST', `${at}/cancel`))
  succeed(await call('POST', `${at}/restore`))
  succeed(await call('DELETE', at))
  const received = await arrived(5)
  expect(received).toHaveLength(5)
  const { data: changes } = succeed(await call('GET', `/v1/crm/changes?record_type=${recordType}&id=r1`))
  expect(received.map(({ body }) => body)).toMatchObject([
    { type: 'record.created', data: { record: { id: 'r1', data: { n: 1 }, version: 1 }, previous: null } },
    {
      type: 'record.updated',
      data: { record: { data: { n: 2 } }, previous: { data: { n: 1 }, version: 1 } },
    },
    { type: 'record.cancelled', data: { record: { status: 'cancelled' }, previous: { status: 'active' } } },
    { type: 'record.restored', data: { record: { status: 'active' }, previous: { status: 'cancelled' } } },
    { type: 'record.deleted', data: { record: null, previous: { data: { n: 2 } } } },
  ])
  expect(
    received.map(({ body }) => [
      body.data.base_id,
      body.data.record_type,
      body.data.change_seq,
      body.timestamp,
    ]),
  ).toEqual(changes.map(({ seq, at }: Body) => ['crm', recordType, seq, at]))
  const log = await eventually(async () => {
    const found = await deliveries()
    return found.every(({ status }) => status === 'succeeded') ? found : undefined
  })
  expect(
    log
      .map(({ event, change_seq, attempts, record_id }: Body) => [event, change_seq, attempts, record_id])
      .reverse(),
  ).toEqual(received.map(({ body }) => [body.type, body.data.change_seq, 1, 'r1']))
  expect(log.map(({ webhook_id }: Body) => webhook_id).reverse()).toEqual(
    received.map(({ headers }) => headers['webhook-id']),
  )
  expect(new Set(log.map(({ webhook_id }: Body) => webhook_id)).size).toBe(5)
})

test('the record of a delivery is the record of a GET', async () => {
  const { recordType, put, arrived } = await newTrigger()
  const body = { data: { text: 'Zürich \u2028 "quoted"' }, external_id: 'a"b', external_source: 'shop' }
  succeed(await call('PUT', `/v1/crm/records/${recordType}/r1`, body), 201)
  const [created] = await arrived(1)
  expect(created?.body.data.record).toEqual(succeed(await call('GET', `/v1/crm/records/${recordType}/r1`)))
  await put('r1', {})
})

test('the signature is that of Standard Webhooks, by two libraries', async () => {
  const { put, arrived, secret } = await newTrigger()
  await put('r1', { n: 1 })
  const [one] = await arrived(1)
  if (!one) throw new Error('Nothing arrived')
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const signed = {
    'webhook-id': String(one.headers['webhook-id']),
    'webhook-timestamp': String(one.headers['webhook-timestamp']),
    'webhook-signature': String(one.headers['webhook-signature']),
  }
  expect(new Webhook(secret).verify(one.text, signed)).toMatchObject({ type: 'record.created' })
  expect(new SvixWebhook(secret).verify(one.text, signed)).toMatchObject({ type: 'record.created' })
  expect(() => new Webhook(secret).verify(`${one.text} `, signed)).toThrow()
  expect(() => new Webhook(`whsec_${'A'.repeat(43)}=`).verify(one.text, signed)).toThrow()
  expect(one.headers['content-type']).toBe('application/json')
})

test('a rotated secret signs beside the former one for 24 hours', async () => {
  const { one, put, arrived, secret, made } = await newTrigger()
  const rotated = succeed(await call('POST', `${one}/rotate-secret`))
  expect(rotated).toMatchObject({ version: made.version + 1, secret: expect.stringMatching(/^whsec_/) })
  expect(rotated.secret).not.toBe(secret)
  expect((await call('GET', one)).body.secret).toBe('<redacted>')
  await put('r1', {})
  const [both] = await arrived(1)
  const verify = (key: string, received: Received | undefined) =>
    new Webhook(key).verify(received?.text ?? '', received?.headers ?? {})
  expect(both?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
  verify(secret, both)
  verify(rotated.secret, both)
  await world.database.query(
    `UPDATE plinth.trigger SET former_secret_until = now() WHERE id = '${one.split('/').at(-1)}'`,
  )
  await put('r2', {})
  const after = (await arrived(2))[1]
  verify(rotated.secret, after)
  expect(() => verify(secret, after)).toThrow()
})

describe('which changes are sent', () => {
  test('those of its record types and events only', async () => {
    const other = await world.newType()
    const { recordType, put: write, arrived } = await newTrigger({ events: ['create', 'delete'] })
    await put(other, 'r1', {})
    await write('r1', { n: 1 })
    await write('r1', { n: 2 })
    succeed(await call('DELETE', `/v1/crm/records/${recordType}/r1`))
    expect(typesOf(await arrived(2))).toEqual(['record.created', 'record.deleted'])
  })

  test('those that meet a condition on the record and on how it was', async () => {
    const condition = {
      and: [
        { field: 'data.stage', op: 'eq', value: 'won' },
        { field: 'previous.data.stage', op: 'neq', value: 'won' },
        { not: { field: 'previous.data.tags[]', op: 'eq', value: 'silent' } },
      ],
    }
    const { put, arrived } = await newTrigger({ condition })
    await put('a', { stage: 'won' })
    await put('b', { stage: 'open' })
    await put('b', { stage: 'won' })
    await put('b', { stage: 'won', note: 'again' })
    await put('c', { stage: 'open', tags: ['loud', 'silent'] })
    await put('c', { stage: 'won' })
    await put('d', { stage: 'open', tags: ['loud'] })
    await put('d', { stage: 'won', last: true })
    const received = await arrived(3)
    expect(received.map(({ body }) => [body.type, body.data.record.id])).toEqual([
      ['record.created', 'a'],
      ['record.updated', 'b'],
      ['record.updated', 'd'],
    ])
  })

  test('a condition of a deletion reads the last state, and columns have a previous one too', async () => {
    const condition = {
      or: [
        {
          and: [
            { field: 'data.n', op: 'gt', value: 1 },
            { field: 'previous.version', op: 'is_null' },
          ],
        },
        {
          and: [
            { field: 'status', op: 'eq', value: 'cancelled' },
            { field: 'previous.status', op: 'eq', value: 'active' },
          ],
        },
        {
          and: [
            { field: 'previous.data.n', op: 'eq', value: 7 },
            { field: 'data.n', op: 'eq', value: 7 },
          ],
        },
      ],
    }
    const { recordType, put, arrived } = await newTrigger({ condition })
    const at = `/v1/crm/records/${recordType}`
    await put('a', { n: 1 })
    await put('b', { n: 2 })
    succeed(await call('POST', `${at}/a/cancel`))
    await put('c', { n: 0 })
    await put('c', { n: 7 })
    succeed(await call('DELETE', `${at}/c`))
    succeed(await call('DELETE', `${at}/b`))
    await put('z', { n: 9 })
    expect(
      (await arrived(4)).map(({ body }) => [body.type, (body.data.record ?? body.data.previous).id]),
    ).toEqual([
      ['record.created', 'b'],
      ['record.cancelled', 'a'],
      ['record.deleted', 'c'],
      ['record.created', 'z'],
    ])
  })

  test('nothing of a write that did not commit', async () => {
    const { recordType, put, arrived } = await newTrigger()
    const at = `/v1/crm/records/${recordType}`
    succeed(await call('PUT', `${at}/dry?dry_run=true`, { data: {} }), 201)
    const failing = [
      { type: 'create_record', record_type: recordType, id: 'undone', data: {} },
      { type: 'delete_record', record_type: recordType, id: 'absent' },
    ]
    expectFailure(await call('POST', '/v1/crm/batch', { operations: failing }), 'NOT_FOUND')
    await put('done', {})
    expect((await arrived(1)).map(({ body }) => body.data.record.id)).toEqual(['done'])
  })

  test('nothing from before the trigger, or while it was disabled', async () => {
    const type = await world.newType()
    await put(type, 'before', {})
    const { one, put: write, arrived } = await newTrigger({}, type)
    succeed(await call('PATCH', one, { enabled: false }))
    await write('off', {})
    succeed(await call('PATCH', one, { enabled: true }))
    await write('on', {})
    expect((await arrived(1)).map(({ body }) => body.data.record.id)).toEqual(['on'])
  })

  test('changes of a batch reach the triggers of its base', async () => {
    const { recordType, arrived } = await newTrigger()
    const operations = ['x', 'y', 'z'].map((id) => ({
      type: 'create_record',
      record_type: recordType,
      id,
      data: {},
    }))
    succeed(await call('POST', '/v1/crm/batch', { operations }))
    expect((await arrived(3)).map(({ body }) => body.data.record.id)).toEqual(['x', 'y', 'z'])
  })
})

describe('a delivery', () => {
  test('is tried again under its id until it succeeds', async () => {
    const { put, arrived, path, delivery, trigger } = await newTrigger()
    receiver.on(path, (_one, response) =>
      response.writeHead(receiver.at(path).length < 3 ? 503 : 200).end('busy'),
    )
    await put('r1', {})
    const received = await arrived(3)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(received.map(({ text }) => text)).size).toBe(1)
    expect(await delivery(({ status }) => status === 'succeeded')).toMatchObject({
      attempts: 3,
      next_attempt_at: null,
      response: { status: 200, body: 'busy' },
      error: null,
    })
    expect((await trigger()).status).toMatchObject({
      consecutive_failures: 0,
      last_failure_at: expect.any(String),
    })
  })

  test('is dead after its last attempt, and is sent again by a replay', async () => {
    const { one, put, arrived, path, delivery } = await newTrigger({ max_attempts: 2 })
    receiver.on(path, answering(500, 'broken'))
    await put('r1', { n: 1 })
    const dead = await delivery(({ status }) => status === 'dead')
    expect(dead).toMatchObject({
      attempts: 2,
      next_attempt_at: null,
      response: { status: 500, body: 'broken' },
    })
    expect(dead.error).toBe('The receiver answered 500.')
    expect(receiver.at(path)).toHaveLength(2)
    receiver.on(path, answering(202))
    const replayed = succeed(await call('POST', `${one}/deliveries/${dead.id}/replay`))
    expect(replayed).toMatchObject({ id: dead.id, webhook_id: dead.webhook_id, status: 'pending' })
    expect(await delivery(({ status }) => status === 'succeeded')).toMatchObject({ id: dead.id, attempts: 1 })
    const again = (await arrived(3))[2]
    expect(again?.headers['webhook-id']).toBe(dead.webhook_id)
    expect(again?.text).toBe(receiver.at(path)[0]?.text)
    expectFailure(await call('POST', `${one}/deliveries/none/replay`), 'NOT_FOUND')
  })

  test.each([
    [
      'a redirect',
      (_one: Received, response: Body) =>
        response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end(),
      'The receiver answered 302.',
    ],
    [
      'a reset',
      (_one: Received, _response: Body, request: Body) => request.socket.resetAndDestroy(),
      'The receiver closed the connection before it answered.',
    ],
  ])('fails by %s', async (_what, behave, error) => {
    const { put, path, delivery } = await newTrigger({ max_attempts: 1 })
    receiver.on(path, behave)
    await put('r1', {})
    expect((await delivery(({ status }) => status === 'dead')).error).toBe(error)
    expect(receiver.at('/elsewhere')).toEqual([])
  })

  test('keeps 4 KiB of an answer, without the secret', async () => {
    const { put, path, delivery, secret } = await newTrigger()
    receiver.on(path, answering(200, `${secret} ${secret.slice(6)} \0${'x'.repeat(100_000)}`))
    await put('r1', {})
    const { response } = await delivery(({ status }) => status === 'succeeded')
    expect(response.body).toMatch(/^<redacted> <redacted> \u{fffd}x+$/u)
    expect(Buffer.byteLength(response.body)).toBe(4096)
  })

  test('of a receiver that is dead holds up no other', async () => {
    const dead = await newTrigger()
    const well = await newTrigger({}, dead.recordType)
    receiver.on(dead.path, () => {})
    const operations = Array.from({ length: 200 }, (_, n) => ({
      ...{ type: 'create_record', record_type: dead.recordType, id: `r${n}`, data: {} },
    }))
    succeed(await call('POST', '/v1/crm/batch', { operations }))
    await well.arrived(200)
    // The dead receiver has answered none by now.
    expect(succeed(await call('GET', `${dead.one}/deliveries?status=succeeded`)).data).toEqual([])
    succeed(await call('DELETE', dead.one))
  })
})

describe('a trigger is disabled', () => {
  test('at once by 410, and on again by a change', async () => {
    const { one, put, arrived, path, delivery, trigger, made } = await newTrigger()
    receiver.on(path, answering(410))
    await put('r1', {})
    expect((await delivery(({ status }) => status === 'dead')).response.status).toBe(410)
    const off = await trigger()
    expect(off).toMatchObject({
      enabled: false,
      version: made.version,
      status: { disabled_reason: expect.stringContaining('410') },
    })
    await put('r2', {})
    receiver.on(path, answering(204))
    const on = succeed(await call('PATCH', one, { enabled: true }))
    expect(on).toMatchObject({ enabled: true, status: { disabled_reason: null, consecutive_failures: 0 } })
    await put('r3', {})
    expect((await arrived(2)).map(({ body }) => body.data.record.id)).toEqual(['r1', 'r3'])
  })

  test('after five days of failures, with the reason', async () => {
    const { id, put, path, delivery, trigger } = await newTrigger({ max_attempts: 1 })
    receiver.on(path, answering(500))
    await put('r1', {})
    await delivery(({ status }) => status === 'dead')
    expect((await trigger()).enabled).toBe(true)
    const back = (hours: number) =>
      world.database.query(
        `UPDATE plinth.trigger SET failing_since = now() - interval '${hours} hours' WHERE id = $1`,
        [id],
      )
    await back(119)
    await put('r2', {})
    await delivery(({ record_id, status }) => record_id === 'r2' && status === 'dead')
    expect((await trigger()).enabled).toBe(true)
    await back(121)
    await put('r3', {})
    const off = await eventually(async () => {
      const found = await trigger()
      return found.enabled ? undefined : found
    })
    expect(off.status).toMatchObject({
      consecutive_failures: 3,
      disabled_reason: 'No delivery has succeeded for 5 days.',
    })
  })
})

test('a look for due deliveries reads none that wait for a retry or for a trigger that is off', async () => {
  const off = await newTrigger({ enabled: false })
  const waiting = await newTrigger()
  for (const [{ id }, wait] of [[off, '0 s'] as const, [waiting, '10 h'] as const])
    await world.database.query(
      `INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, status, next_attempt_at)
       SELECT 'crm', $1, 'd' || n, 'record.created', 'failed', now() + $2::interval FROM generate_series(1, 5000) n`,
      [id, wait],
    )
  const ran = await statementsOf(async () => {
    succeed(await call('POST', `${waiting.one}/test`))
    await waiting.arrived(1)
  })
  const look = ran.find(({ name }) => name.startsWith('due_deliveries')) as RanStatement
  for (const statistics of [false, true]) {
    if (statistics) await world.database.query('ANALYZE plinth.trigger_delivery')
    const { widest, text } = await explain(world.database, look)
    expect(widest, text).toBeLessThan(1000)
  }
  for (const { one } of [off, waiting]) succeed(await call('DELETE', one))
})

test('a test is sent once, also while the trigger is off, and a success switches a failing trigger on', async () => {
  const { one, arrived, path, delivery } = await newTrigger({ enabled: false })
  const sent = succeed(await call('POST', `${one}/test`))
  expect(sent).toMatchObject({ event: 'trigger.test', status: 'pending', attempts: 0, change_seq: null })
  const [received] = await arrived(1)
  expect(received?.headers['webhook-id']).toBe(sent.webhook_id)
  expect(received?.body).toMatchObject({ type: 'trigger.test', data: { base_id: 'crm', record: null } })
  await delivery(({ id, status }) => id === sent.id && status === 'succeeded')
  receiver.on(path, answering(500))
  const failing = succeed(await call('POST', `${one}/test`))
  expect(await delivery(({ id, status }) => id === failing.id && status === 'dead')).toMatchObject({
    attempts: 1,
  })
  const dry = succeed(await call('POST', `${one}/test?dry_run=true`))
  expect(dry.dry_run).toBe(true)
  expect(receiver.at(path)).toHaveLength(2)
})

describe('secrets', () => {
  test('are encrypted where they are stored, and shown once', async () => {
    const { id, one, secret, made } = await newTrigger()
    const rows = await world.database.query<{ secret: string }>(
      'SELECT secret FROM plinth.trigger WHERE id = $1',
      [id],
    )
    expect(rows[0]?.secret).toMatch(/^v1\./)
    const shown = [
      await call('GET', one),
      await call('GET', '/v1/crm/triggers'),
      await call('GET', '/v1/crm/config'),
      await call('GET', `${one}/history`),
      await call('GET', `/v1/crm/changes?kind=trigger&include=before`),
    ]
    const stored = await world.database.query('SELECT * FROM plinth.change WHERE kind = $1', ['trigger'])
    const bare = secret.replace('whsec_', '')
    for (const each of [...shown.map(({ text }) => text), JSON.stringify(stored), world.log.join('')])
      expect(each).not.toContain(bare)
    const again = succeed(
      await call('PUT', one, {
        ...made,
        status: undefined,
        meta: undefined,
        created_at: undefined,
        updated_at: undefined,
        version: undefined,
      }),
    )
    expect(again).toMatchObject({ version: made.version, secret: '<redacted>' })
  })

  test('a secret of the caller is taken, and a repeated PUT changes nothing', async () => {
    const own = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
    const { one, put, arrived, made } = await newTrigger({ secret: own })
    const { recordType } = { recordType: made.record_types[0] }
    const body = { record_types: [recordType], url: made.url, secret: own }
    expect(succeed(await call('PUT', one, body)).version).toBe(made.version)
    await put('r1', {})
    const [received] = await arrived(1)
    new Webhook(own).verify(received?.text ?? '', received?.headers ?? {})
    expectFault(await call('PUT', one, { ...body, secret: 'plain' }), '/secret')
  })

  test('a key repeats the answer without the secret, and a dry run shows none', async () => {
    const body = { url: `${receiver.url}/keyed` }
    const headers = { 'idempotency-key': 'make-it-once' }
    const made = succeed(await call('PUT', '/v1/crm/triggers/keyed', body, headers), 201)
    const repeated = succeed(await call('PUT', '/v1/crm/triggers/keyed', body, headers), 201)
    expect(repeated.secret).not.toBe(made.secret)
    expect(repeated.secret).toMatch(/^whse….{4}$/)
    const dry = succeed(await call('PUT', '/v1/crm/triggers/dry?dry_run=true', body), 201)
    expect(dry.secret).toBeNull()
    succeed(await call('DELETE', '/v1/crm/triggers/keyed'))
  })

  test('a preview has its own, and so has what is promoted', async () => {
    succeed(await call('PUT', '/v1/bases/shop', {}), 201)
    succeed(await call('PUT', '/v1/shop/triggers/one', { url: `${receiver.url}/shop`, enabled: false }), 201)
    succeed(await call('POST', '/v1/shop/preview', { name: 'dev' }), 201)
    succeed(
      await call('PUT', '/v1/shop--dev/triggers/two', { url: `${receiver.url}/shop`, enabled: false }),
      201,
    )
    const promoted = succeed(await call('POST', '/v1/shop/promote', { from: 'shop--dev' }))
    expect(promoted.secrets).toEqual([
      { kind: 'trigger', id: 'two', secret: expect.stringMatching(/^whsec_/) },
    ])
    expect((await call('GET', `/v1/shop/promotions/${promoted.id}`)).text).not.toContain('whsec_')
    const rows = await world.database.query<{ base_id: string; id: string; secret: string }>(
      `SELECT base_id, id, secret FROM plinth.trigger WHERE base_id LIKE 'shop%'`,
    )
    expect(rows).toHaveLength(4)
    expect(new Set(rows.map(({ secret }) => secret)).size).toBe(4)
  })
})

describe('a trigger of a preview', () => {
  const HELD = { status: { disabled_reason: expect.stringContaining('a preview does not call') } }
  const FREE = { status: { disabled_reason: null } }
  const preview = async () => {
    const name = `p${++serial}`
    succeed(await call('POST', '/v1/crm/preview', { name, copy: 'config_and_sample' }), 201)
    return `crm--${name}`
  }
  const remove = async (base: string) => succeed(await call('DELETE', `/v1/bases/${base}?confirm=${base}`))

  test('sends nothing to a URL of production, and to another one from then on', async () => {
    const { id, recordType, made, path, put: inProduction, arrived: atProduction } = await newTrigger()
    await inProduction('first', {})
    await atProduction(1)
    const base = await preview()
    const one = `/v1/${base}/triggers/${id}`
    const write = async (record: string) =>
      succeed(await call('PUT', `/v1/${base}/records/${recordType}/${record}`, { data: {} }), 201)
    const held = succeed(await call('GET', one))
    expect(held).toMatchObject({ ...HELD, enabled: true, url: made.url, version: 1 })
    await write('a')
    for (const act of ['test', 'deliveries/any/replay'])
      expectFailure(await call('POST', `${one}/${act}`), 'CONFLICT')

    const { record_types, url } = made
    const put = async (body: object): Promise<Body> =>
      succeed(await call('PUT', one, { record_types, url, ...body }))
    expect(await put({})).toMatchObject({ version: 1 })
    for (const same of [url, `${url}#part`])
      expect(await put({ description: same, url: same })).toMatchObject({ ...HELD, description: same })
    await write('b')

    expect(await put({ url: `${url}/own` })).toMatchObject({ ...FREE, url: `${url}/own` })
    await write('c')
    const [received, ...more] = await arrived(`${path}/own`, 1)
    expect([received?.body.data.base_id, received?.body.data.record.id, more]).toEqual([base, 'c', []])
    await inProduction('last', {})
    await atProduction(2)
    expect(receiver.at(path).map(({ body }) => body.data.base_id)).toEqual(['crm', 'crm'])
    await remove(base)
  })

  test('is held as soon as production calls its URL, and stays so when production ends', async () => {
    const { id, one, made } = await newTrigger()
    const { record_types, url } = made
    const base = await preview()
    const inPreview = async (body: object): Promise<Body> =>
      succeed(await call('PUT', `/v1/${base}/triggers/${id}`, { record_types, url, ...body }))
    const shown = async (): Promise<Body> => succeed(await call('GET', `/v1/${base}/triggers/${id}`))
    expect(await inPreview({ url: `${url}/next` })).toMatchObject(FREE)
    succeed(await call('POST', '/v1/crm/promote', { from: base, resources: [{ kind: 'trigger', id }] }))
    expect([(await call('GET', one)).body.url, await shown()]).toMatchObject([`${url}/next`, HELD])
    expect(await inPreview({ url })).toMatchObject(FREE)
    succeed(await call('PUT', one, { record_types, url }))
    expect(await shown()).toMatchObject(HELD)
    succeed(await call('DELETE', one))
    expect(await inPreview({ url: `${url}/next`, description: 'former' })).toMatchObject(HELD)
    await remove(base)
  })

  test('is promoted as it is, and switches nothing off', async () => {
    const { id, one, put, arrived } = await newTrigger()
    const base = await preview()
    const { record_types, url } = succeed(await call('GET', one))
    succeed(await call('PUT', `/v1/${base}/triggers/${id}`, { record_types, url, description: 'Better' }))
    const promoted = succeed(
      await call('POST', '/v1/crm/promote', { from: base, resources: [{ kind: 'trigger', id }] }),
    )
    expect(promoted.changes[0].diff).toEqual([{ op: 'replace', path: '/description', value: 'Better' }])
    expect(succeed(await call('GET', one))).toMatchObject({ ...FREE, enabled: true })
    await put('r1', {})
    await arrived(1)
    await remove(base)
  })
})

test.each([
  ['no url', {}, '/url'],
  ['a private url', { url: 'http://10.0.0.1/' }, '/url'],
  ['a loopback name that is not listed', { url: 'http://[::1]/' }, '/url'],
  ['an unknown type', { record_types: ['absent'] }, '/record_types/0'],
  ['no type', { record_types: [] }, '/record_types'],
  ['an unknown event', { events: ['created'] }, '/events/0'],
  ['an unknown operator', { condition: { field: 'data.a', op: 'is', value: 1 } }, '/condition/op'],
  ['an unknown field', { condition: { field: 'before.data.a', op: 'eq', value: 1 } }, '/condition/field'],
  [
    'an unknown column of the previous record',
    { condition: { field: 'previous.owner', op: 'eq', value: 1 } },
    '/condition/field',
  ],
  [
    'a search of the previous record',
    { condition: { field: 'previous.data.a', op: 'search', value: 'x' } },
    '/condition/op',
  ],
  ['a header of the delivery', { headers: { 'Webhook-Id': 'x' } }, '/headers/Webhook-Id'],
  ['a header with a line break', { headers: { 'X-A': 'a\r\nHost: b' } }, '/headers/X-A'],
  ['a header with a bad name', { headers: { 'X A': 'a' } }, '/headers/X A'],
  ['a secret that does not exist', { headers: { 'X-A': '{{secret:absent}}' } }, '/headers/X-A'],
  ['too many attempts', { max_attempts: 101 }, '/max_attempts'],
  ['an unknown key', { retries: 1 }, '/retries'],
])('a trigger with %s is refused', async (what, body, path) => {
  const whole = what === 'no url' ? {} : { url: `${receiver.url}/refused`, ...body }
  expectFault(await call('PUT', '/v1/crm/triggers/refused', whole), path)
  expectFailure(await call('GET', '/v1/crm/triggers/refused'), 'NOT_FOUND')
})

test('a token of a record type sees neither triggers nor deliveries, and a reader changes none', async () => {
  const { one, recordType } = await newTrigger()
  const narrow = await world.newToken([{ record_type: recordType, permission: 'manage' }])
  const reader = await world.newToken([{ permission: 'read' }])
  for (const path of ['/v1/crm/triggers', one, `${one}/deliveries`, `${one}/history`]) {
    expectFailure(await narrow.call('GET', path), 'FORBIDDEN')
    succeed(await reader.call('GET', path))
  }
  for (const [method, path] of [
    ['POST', '/test'],
    ['POST', '/rotate-secret'],
    ['DELETE', ''],
    ['POST', '/deliveries/x/replay'],
  ] as const)
    for (const token of [narrow, reader]) expectFailure(await token.call(method, one + path), 'FORBIDDEN')
})
