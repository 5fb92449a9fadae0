/** Triggers: which changes are sent, and what becomes of a delivery. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../../support/query-plans.ts'
import { answering, openReceiver, type Received, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { triggersOf } from '../../support/triggers.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let triggers: ReturnType<typeof triggersOf>
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' })
  triggers = triggersOf(world, receiver)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const newTrigger = (more?: object, type?: string) => triggers.newTrigger(more, type)
const put = (type: string, record: string, data: object) => triggers.put(type, record, data)
const typesOf = (received: readonly Received[]) => received.map(({ body }) => body.type)

test('each change of a record arrives once, in order, with the record and how it was', {
  tags: 'full',
}, async () => {
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

test('the record of a delivery is the record of a GET', { tags: 'full' }, async () => {
  const { recordType, put, arrived } = await newTrigger()
  const body = { data: { text: 'Zürich \u2028 "quoted"' }, external_id: 'a"b', external_source: 'shop' }
  succeed(await call('PUT', `/v1/crm/records/${recordType}/r1`, body), 201)
  const [created] = await arrived(1)
  expect(created?.body.data.record).toEqual(succeed(await call('GET', `/v1/crm/records/${recordType}/r1`)))
  await put('r1', {})
})

describe('which changes are sent', () => {
  test('those of its record types and events only', { tags: 'full' }, async () => {
    const other = await world.newType()
    const { recordType, put: write, arrived } = await newTrigger({ events: ['create', 'delete'] })
    await put(other, 'r1', {})
    await write('r1', { n: 1 })
    await write('r1', { n: 2 })
    succeed(await call('DELETE', `/v1/crm/records/${recordType}/r1`))
    expect(typesOf(await arrived(2))).toEqual(['record.created', 'record.deleted'])
  })

  test('those that meet a condition on the record and on how it was', { tags: 'full' }, async () => {
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

  test('a condition follows a property that is renamed, and its migration is none of them', {
    tags: 'full',
  }, async () => {
    const condition = {
      and: [
        { field: 'data.stage', op: 'eq', value: 'won' },
        { field: 'previous.data.stage', op: 'neq', value: 'won' },
        { not: { field: 'data.secret', op: 'is_not_null' } },
      ],
    }
    const { recordType, put, arrived } = await newTrigger({ condition })
    const path = `/v1/crm/record-types/${recordType}`
    succeed(await call('PATCH', path, { json_schema: { properties: { stage: {}, secret: {} } } }))
    await put('a', { stage: 'won' })
    await put('hidden', { stage: 'won', secret: 'x' })
    const rename = (from: string, to: string) => ({ op: 'rename', field: `data.${from}`, to: `data.${to}` })
    succeed(await call('PATCH', path, { migration: [rename('stage', 'phase'), rename('secret', 'private')] }))
    await put('hidden', { phase: 'open', private: 'x' })
    await put('hidden', { phase: 'won', private: 'x' })
    await put('b', { phase: 'open' })
    await put('b', { phase: 'won' })
    const received = await arrived(2)
    expect(received.map(({ body }) => body.data.record.id)).toEqual(['a', 'b'])
  })

  test('a condition of a deletion reads the last state, and columns have a previous one too', {
    tags: 'full',
  }, async () => {
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

  test('nothing of a write that did not commit', { tags: 'full' }, async () => {
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

  test('nothing from before the trigger, or while it was disabled', { tags: 'full' }, async () => {
    const type = await world.newType()
    await put(type, 'before', {})
    const { one, put: write, arrived } = await newTrigger({}, type)
    succeed(await call('PATCH', one, { enabled: false }))
    await write('off', {})
    succeed(await call('PATCH', one, { enabled: true }))
    await write('on', {})
    expect((await arrived(1)).map(({ body }) => body.data.record.id)).toEqual(['on'])
  })

  test('changes of a batch reach the triggers of its base', { tags: 'full' }, async () => {
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
  test('is tried again under its id until it succeeds', { tags: 'full' }, async () => {
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

  test('is dead after its last attempt, and is sent again by a replay', { tags: 'full' }, async () => {
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

  test('keeps 4 KiB of an answer, without the secret', { tags: 'full' }, async () => {
    const { put, path, delivery, secret } = await newTrigger()
    receiver.on(path, answering(200, `${secret} ${secret.slice(6)} \0${'x'.repeat(100_000)}`))
    await put('r1', {})
    const { response } = await delivery(({ status }) => status === 'succeeded')
    expect(response.body).toMatch(/^<redacted> <redacted> \u{fffd}x+$/u)
    expect(Buffer.byteLength(response.body)).toBe(4096)
  })

  test('of a receiver that is dead holds up no other', { tags: 'full' }, async () => {
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

test('many triggers get each of many changes once', { tags: 'full' }, async () => {
  succeed(await call('PUT', '/v1/bases/many', {}), 201)
  succeed(await call('PUT', '/v1/many/record-types/note', {}), 201)
  receiver.on('/many', () => {})
  const ids = times(45, (n) => `t${n}`)
  for (const id of ids)
    succeed(await call('PUT', `/v1/many/triggers/${id}`, { url: `${receiver.url}/many` }), 201)
  // More than are matched at a time.
  const operations = times(600, (n) => ({
    type: 'create_record',
    record_type: 'note',
    id: `r${n}`,
    data: {},
  }))
  succeed(await call('POST', '/v1/many/batch', { operations }))
  for (const id of ids) {
    const made = await eventually(async () => {
      const { data } = succeed(await call('GET', `/v1/many/triggers/${id}/deliveries?limit=1000`))
      return data.length >= 600 ? data : undefined
    })
    expect(new Set(made.map(({ record_id }: Body) => record_id)).size).toBe(600)
    expect(made).toHaveLength(600)
  }
  succeed(await call('DELETE', '/v1/bases/many?confirm=many'))
})

describe('a trigger is disabled', () => {
  test('at once by 410, and on again by a change', { tags: 'full' }, async () => {
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

  test('after five days of failures, with the reason', { tags: 'full' }, async () => {
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

test('a look for due deliveries reads none that wait for a retry or for a trigger that is off', {
  tags: 'full',
}, async () => {
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

test('a test is sent once, also while the trigger is off, and a success switches a failing trigger on', {
  tags: 'full',
}, async () => {
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

test('each of many triggers with conditions gets what meets its own', { tags: 'full' }, async () => {
  const others = [await world.newType(), await world.newType()]
  const ids = times(45, (n) => `many-${n}`)
  for (const [n, id] of ids.entries()) {
    const body = {
      url: receiver.url,
      record_types: n % 3 === 0 ? others : [others[n % 2]],
      events: n % 5 === 0 ? ['update'] : ['create', 'update'],
      condition: { field: n % 7 === 0 ? 'previous.data.n' : 'data.n', op: 'eq', value: n },
    }
    succeed(await call('PUT', `/v1/crm/triggers/${id}`, body), 201)
  }
  const [one = '', two = ''] = others
  const all = { url: receiver.url, record_types: [one] }
  succeed(await call('PUT', '/v1/crm/triggers/many-all', all), 201)
  const operations = others.flatMap((type) =>
    times(45, (n) => ({ type: 'create_record', record_type: type, id: `r${n}`, data: { n } })),
  )
  succeed(await call('POST', '/v1/crm/batch', { operations }))
  await put(one, 'r14', { n: 1000 })
  await put(one, 'r15', { n: 15, again: true })
  await put(one, 'r16', { n: 18 })
  await put(one, 'last', { n: 2 })
  await eventually(async () => {
    const { data } = succeed(await call('GET', '/v1/crm/triggers/many-all/deliveries'))
    return data.find(({ record_id }: Body) => record_id === 'last')
  })
  for (const [n, id] of ids.entries()) {
    const { data } = succeed(await call('GET', `/v1/crm/triggers/${id}/deliveries`))
    const got = data.map((each: Body) => `${each.event} ${each.record_type} ${each.record_id}`).sort()
    const follows = (type: string) => n % 3 === 0 || others[n % 2] === type
    const isPrevious = n % 7 === 0
    const expected = [
      ...[one, two].flatMap((type) =>
        follows(type) && n % 5 !== 0 && !isPrevious ? [`record.created ${type} r${n}`] : [],
      ),
      ...(n === 14 ? [`record.updated ${one} r14`] : []),
      ...(n === 15 ? [`record.updated ${one} r15`] : []),
      ...(n === 18 ? [`record.updated ${one} r16`] : []),
      ...(n === 2 ? [`record.created ${one} last`] : []),
    ]
    expect([id, got]).toEqual([id, expected.sort()])
  }
  for (const id of [...ids, 'many-all']) succeed(await call('DELETE', `/v1/crm/triggers/${id}`))
})

test('a base has at most 1,000 triggers, which can still be changed', { tags: 'full' }, async () => {
  succeed(await call('PUT', '/v1/bases/full', {}), 201)
  const put = (id: string, name: string) =>
    call('PUT', `/v1/full/triggers/${id}`, { name, url: receiver.url, enabled: false })
  succeed(await put('t', 'one'), 201)
  const columns = (
    await world.database.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'plinth' AND table_name = 'trigger' AND column_name <> 'id'`,
    )
  ).map(({ name }) => `"${name}"`)
  await world.database.query(
    `INSERT INTO plinth.trigger (id, ${columns}) SELECT 't' || n, ${columns} FROM plinth.trigger, generate_series(1, 998) n
     WHERE base_id = 'full'`,
  )
  succeed(await put('last', 'last'), 201)
  expect(expectFault(await put('more', 'more'), 'path/id')).toMatchObject({
    code: 'too_many',
    expected: 1000,
  })
  succeed(await put('last', 'renamed'))
  succeed(await call('DELETE', '/v1/full/triggers/t5'))
  succeed(await put('more', 'more'), 201)
  succeed(await call('DELETE', '/v1/bases/full?confirm=full'))
})

test('a token of a record type sees neither triggers nor deliveries, and a reader changes none', {
  tags: 'full',
}, async () => {
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
