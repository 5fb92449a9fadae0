/** Inbound webhooks: whose deliveries are taken, what they write, and what becomes of those that fail. */
import { createHmac, randomBytes } from 'node:crypto'
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { sign } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times, UUID7 } from '../../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../../support/query-plans.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Answer, Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const KEY = 'a-secret-of-the-sender'

type Headers = Record<string, string>
type Signed = (body: string, at?: number) => Headers | Promise<Headers>

async function post(path: string, body: string, headers: Headers): Promise<Answer> {
  const response = await fetch(`${world.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

const hmac: Signed = (body) => ({ 'x-sig': createHmac('sha256', KEY).update(body).digest('hex') })
const HMAC = { signature: { scheme: 'hmac', header: 'X-Sig' }, secret: KEY }

/** An inbound webhook with a record type of its own. */
async function newWebhook(more: object = HMAC, type: object = {}) {
  const recordType = await world.newType(type)
  const id = `hook${++serial}`
  const one = `/v1/crm/inbound-webhooks/${id}`
  const made = succeed(await call('PUT', one, { record_type: recordType, ...more }), 201)
  const path = new URL(made.ingest_url).pathname
  return {
    ...{ id, one, recordType, made, path },
    send: async (payload: unknown, signed: Signed = hmac, body = JSON.stringify(payload)) =>
      post(path, body, await signed(body)),
    records: async (): Promise<Body[]> =>
      succeed(await call('GET', `/v1/crm/records/${recordType}?sort=created_at&limit=1000`)).data,
    deliveries: async (): Promise<Body[]> => succeed(await call('GET', `${one}/deliveries?limit=1000`)).data,
  }
}
const dataOf = (records: readonly Body[]) => records.map(({ data }) => data)

const seconds = () => Math.floor(Date.now() / 1000)
const STANDARD = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
const standard =
  (id = 'msg_1'): Signed =>
  (body, at = seconds()) => ({
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1a,AAAA ${new Webhook(STANDARD).sign(id, new Date(at * 1000), body)}`,
  })
/** The secret of the examples of GitHub, which has spaces. */
const GITHUB = "It's a Secret to Everybody"
const timed = (time: string, text: string) =>
  createHmac('sha512', KEY).update(`${time}.${text}`).digest('base64')

const SCHEMES: [string, object, Signed][] = [
  ['standard', { secret: STANDARD }, standard()],
  [
    'github',
    { signature: { scheme: 'github' }, secret: GITHUB },
    async (body) => ({ 'x-hub-signature-256': await sign(GITHUB, body), 'x-github-delivery': 'g1' }),
  ],
  [
    'stripe',
    { signature: { scheme: 'stripe' }, secret: 'whsec_test_secret' },
    (body, at = seconds()) => ({
      'stripe-signature': new Stripe('sk_test_x').webhooks.generateTestHeaderString({
        payload: body,
        secret: 'whsec_test_secret',
        timestamp: at,
      }),
    }),
  ],
  [
    'slack',
    { signature: { scheme: 'slack' }, secret: KEY },
    (body, at = seconds()) => ({
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${createHmac('sha256', KEY).update(`v0:${at}:${body}`).digest('hex')}`,
    }),
  ],
  [
    'hmac with a time',
    {
      signature: {
        ...{ scheme: 'hmac', header: 'X-Sig', timestamp_header: 'X-Time', prefix: 'sig=' },
        ...{ algorithm: 'sha512', encoding: 'base64' },
      },
      secret: KEY,
    },
    (body, at = seconds()) => ({ 'x-time': String(at), 'x-sig': `sig=${timed(String(at), body)}` }),
  ],
]

describe('the scheme', () => {
  test.each(SCHEMES)('%s takes what its sender signs, and nothing else', async (name, settings, signed) => {
    const { path, one, records, deliveries } = await newWebhook(settings)
    // Spaces and escapes that a parser would not keep: what is signed are the bytes.
    const body = '{ "id": "evt_1",\n  "text": "caf\\u00e9 €" }'
    const headers = await signed(body)
    const wrong: [string, string, Headers][] = [
      ['another body', `${body} `, headers],
      ['no headers', body, {}],
      ['no signature of it', body, await signed('{}')],
    ]
    for (const header of Object.keys(headers).filter((each) => each !== 'x-github-delivery')) {
      const { [header]: value = '', ...rest } = headers
      wrong.push([`without ${header}`, body, rest])
      wrong.push([
        `altered ${header}`,
        body,
        { ...rest, [header]: value.replace(/[0-9a-f](?=[^0-9a-f]*$)/, 'Z') },
      ])
    }
    if (name !== 'github') wrong.push(['an old one', body, await signed(body, seconds() - 301)])
    if (name !== 'github') wrong.push(['one of the future', body, await signed(body, seconds() + 310)])
    const answers = new Set<string>()
    for (const [what, sent, with_] of wrong) {
      const answer = await post(path, sent, with_)
      expect(answer.status, what).toBe(401)
      answers.add(JSON.stringify({ ...expectFailure(answer, 'UNAUTHORIZED'), request_id: '' }))
    }
    expect(await deliveries()).toEqual([])
    const done = succeed(await post(path, body, headers))
    expect(done).toEqual({ data: [{ id: expect.stringMatching(UUID7), operation: 'created' }] })
    expect(dataOf(await records())).toEqual([{ id: 'evt_1', text: 'café €' }])
    // A webhook that is off or absent answers like a wrong signature.
    succeed(await call('PATCH', one, { enabled: false }))
    for (const to of [path, path.replace('/crm/', '/none/'), path.replace('/default/', '/other/')])
      answers.add(
        JSON.stringify({ ...expectFailure(await post(to, body, headers), 'UNAUTHORIZED'), request_id: '' }),
      )
    expect(answers.size).toBe(1)
    expect(await records()).toHaveLength(1)
  })
})

test('payloads of GitHub, signed by its own library, become records', { tags: 'full' }, async () => {
  const github: readonly { name: string; examples: Body[] }[] = examples as never
  const issues = github.find(({ name }) => name === 'issues')?.examples ?? []
  expect(issues.length).toBeGreaterThan(3)
  const mapping = {
    external_id: '$.issue.id',
    external_source: 'github',
    data: {
      title: '$.issue.title',
      labels: '$.issue.labels[*].name',
      at: { path: '$.issue.created_at', date_format: 'iso' },
    },
  }
  const { send, records } = await newWebhook({ signature: { scheme: 'github' }, secret: KEY, mapping })
  for (const [n, issue] of issues.entries())
    succeed(
      await send(issue, async (body) => ({
        'x-hub-signature-256': await sign(KEY, body),
        'x-github-delivery': `issue ${n}`,
        'x-github-event': 'issues',
      })),
    )
  const last = new Map(issues.map(({ issue }) => [String(issue.id), issue]))
  const found = await records()
  expect(found.map(({ external_id }) => external_id).sort()).toEqual([...last.keys()].sort())
  for (const { external_id, external_source, data } of found)
    expect([external_source, data.title, data.labels, data.at]).toEqual([
      'github',
      last.get(external_id).title,
      last.get(external_id).labels?.map(({ name }: Body) => name) ?? [],
      new Date(last.get(external_id).created_at).toISOString(),
    ])
  const ping = github.find(({ name }) => name === 'ping')?.examples[0]
  const pinged = await send(ping, async (body) => ({
    'x-hub-signature-256': await sign(KEY, body),
    'x-github-event': 'ping',
  }))
  expect(succeed(pinged)).toEqual({ data: [] })
  expect(await records()).toHaveLength(found.length)
})

test('Slack gets its challenge back, and no record is made', { tags: 'full' }, async () => {
  const [, settings, signed] = SCHEMES.find(([name]) => name === 'slack') as (typeof SCHEMES)[number]
  const { send, records } = await newWebhook(settings)
  const challenge = await send({ type: 'url_verification', challenge: 'abc' }, signed)
  expect(succeed(challenge)).toEqual({ data: [], challenge: 'abc' })
  expect(await records()).toEqual([])
})

test('query parameters of the address are 400 with a signature, and 401 without', {
  tags: 'full',
}, async () => {
  const { path, records } = await newWebhook()
  const body = '{"a":1}'
  expectFault(await post(`${path}?source=crm`, body, await hmac(body)), 'query/source')
  expectFailure(await post(`${path}?source=crm`, body, {}), 'UNAUTHORIZED')
  expect(await records()).toEqual([])
})

test('an address with NUL is that of an unknown webhook', async () => {
  for (const path of ['/inbound/default/%00/x/ingest', '/inbound/default/crm/%00/ingest'])
    expect(expectFailure(await post(path, '{}', {}), 'UNAUTHORIZED').details[0].code).toBe(
      'invalid_signature',
    )
})

test('a delivery with an id of any length is recognized, and one with an empty id is none that arrived before', {
  tags: 'full',
}, async () => {
  const { send: sendBy } = await newWebhook({ signature: { scheme: 'github' }, secret: KEY })
  const send = async (id: string): Promise<string> => {
    const signed: Signed = async (body) => ({
      ...{ 'x-hub-signature-256': await sign(KEY, body), 'x-github-delivery': id },
    })
    return succeed(await sendBy({ n: 1 }, signed)).data[0].id
  }
  // As random as a header can be, so that the database cannot compress it.
  const long = randomBytes(6000).toString('base64')
  const [first, again, other] = [await send(long), await send(long), await send(`${long}2`)]
  expect(again).toBe(first)
  expect(other).not.toBe(first)
  expect(await send('')).not.toBe(await send(''))
})

test('a delivery that arrives again, also at the same time, is written once and answered as it was', {
  tags: 'full',
}, async () => {
  const { send, records, deliveries, recordType } = await newWebhook({ secret: STANDARD })
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send({ n: 1 }, standard('msg_once'))))
  const bodies = new Set(answers.map((answer) => JSON.stringify(succeed(answer))))
  expect(bodies.size).toBe(1)
  expect(succeed(await send({ n: 1 }, standard('msg_once')))).toEqual(JSON.parse([...bodies][0] ?? ''))
  expect(dataOf(await records())).toEqual([{ n: 1 }])
  expect(await world.logOf(recordType)).toHaveLength(1)
  expect(await deliveries()).toMatchObject([{ delivery_id: 'msg_once', status: 'succeeded', attempts: 1 }])
  succeed(await send({ n: 1 }, standard('msg_other')))
  expect(await records()).toHaveLength(2)
})

describe('a mapping', () => {
  test('upserts by the external id, translates, reads times, and fills in defaults', {
    tags: 'full',
  }, async () => {
    const mapping = {
      external_id: '$.order.no',
      external_source: '$.shop',
      data: {
        'total.sum': '$.order.total',
        state: { path: '$.order.state', values: { 1: 'open', 2: 'paid' } },
        due: { path: '$.order.due', date_format: 'dd.MM.yyyy HH:mm' },
        day: { path: '$.order.due', date_format: 'dd.MM.yyyy HH:mm' },
        at: { path: '$.at', date_format: 'unix' },
        note: { path: '$.order.note', default: 'none' },
        parts: "$.order.lines[?@.kind == 'part'].sku",
        absent: '$.order.absent',
      },
    }
    const type = {
      timezone: 'Europe/Berlin',
      json_schema: { type: 'object', properties: { day: { type: 'string', format: 'date' } } },
    }
    const { send, records } = await newWebhook({ ...HMAC, mapping }, type)
    const order = {
      ...{ no: 42, total: 9.5, state: 1, due: '01.07.2026 00:30', note: null },
      lines: [
        { kind: 'part', sku: 'a' },
        { kind: 'fee', sku: 'b' },
        { kind: 'part', sku: 'c' },
      ],
    }
    const payload = { shop: 'web', at: 1_790_000_000, order }
    expect(succeed(await send(payload)).data).toMatchObject([{ operation: 'created' }])
    expect(succeed(await send(payload)).data).toMatchObject([{ operation: 'unchanged' }])
    const paid = { ...payload, order: { ...order, state: 2 } }
    expect(succeed(await send(paid)).data).toMatchObject([{ operation: 'updated' }])
    expect(await records()).toMatchObject([{ external_id: '42', external_source: 'web', version: 2 }])
    expect(dataOf(await records())).toEqual([
      {
        ...{ 'total.sum': 9.5, state: 'paid', note: 'none', parts: ['a', 'c'] },
        ...{ due: '2026-06-30T22:30:00.000Z', day: '2026-07-01', at: '2026-09-21T14:13:20.000Z' },
      },
    ])
    expectFault(await send({ ...payload, order: { ...order, state: 3 } }), '/data/state')
    expectFault(await send({ ...payload, order: { ...order, due: '31.02.2026 00:00' } }), '/data/due')
    expectFault(await send({ ...payload, order: { ...order, no: null } }), '/external_id')
    expect(await records()).toHaveLength(1)
  })

  test('reads times by the clock of the zone: those it skips, the second of those it repeats, old ones', async () => {
    const data = {
      at: { path: '$.at[*]', date_format: 'iso' },
      clock: { path: '$.clock[*]', date_format: "yyyy-MM-dd 'T'HH:mm" },
      offset: { path: '$.offset[*]', date_format: 'dd.MM.yyyy HH:mm xxx' },
      day: { path: '$.day', date_format: 'd.M.y' },
    }
    const properties = { day: { type: 'string', format: 'date' } }
    const type = { timezone: 'Europe/Berlin', json_schema: { type: 'object', properties } }
    const { send, records } = await newWebhook({ ...HMAC, mapping: { data } }, type)
    const payload = {
      at: [
        '2026-07-01T09:30',
        '2026-03-29T02:30',
        '2026-10-25T02:30',
        '2026-07-01T09:30-03:30',
        '2026-07-01',
      ],
      clock: ['2026-01-31 T23:59', '2026-03-29 T03:30', '1900-01-01 T00:00'],
      offset: ['01.07.2026 09:30 +09:00'],
      day: '1.9.1883',
    }
    succeed(await send(payload))
    expect(dataOf(await records())).toEqual([
      {
        at: [
          '2026-07-01T07:30:00.000Z',
          '2026-03-29T01:30:00.000Z',
          '2026-10-25T01:30:00.000Z',
          '2026-07-01T13:00:00.000Z',
          '2026-06-30T22:00:00.000Z',
        ],
        clock: ['2026-01-31T22:59:00.000Z', '2026-03-29T01:30:00.000Z', '1899-12-31T23:00:00.000Z'],
        offset: ['2026-07-01T00:30:00.000Z'],
        day: '1883-09-01',
      },
    ])
  })

  test('makes a record of each element, all or none', { tags: 'full' }, async () => {
    const mapping = {
      items: '$.lines',
      external_id: '$.sku',
      external_source: '$$.shop',
      data: { sku: '$.sku', count: '$.count', shop: '$$.shop' },
    }
    const json_schema = { type: 'object', properties: { count: { type: 'integer' } } }
    const { send, records } = await newWebhook({ ...HMAC, mapping }, { json_schema })
    const line = (n: number, count: unknown = n) => ({ sku: `s${n}`, count })
    const failed = await send({ shop: 'x', lines: [line(1), line(2, 'two'), line(3)] })
    expectFault(failed, '/records/1/data/count')
    expect(await records()).toEqual([])
    expect(succeed(await send({ shop: 'x', lines: [] }))).toEqual({ data: [] })
    const many = Array.from({ length: 1000 }, (_, n) => line(n))
    const { data } = succeed(await send({ shop: 'x', lines: many }))
    expect(data).toHaveLength(1000)
    expect(await records()).toHaveLength(1000)
    expect(succeed(await send({ shop: 'x', lines: [line(7, 70), line(8)] })).data).toMatchObject([
      { id: data[7].id, operation: 'updated' },
      { id: data[8].id, operation: 'unchanged' },
    ])
    expectFault(await send({ shop: 'x', lines: [...many, line(1000)] }), '/mapping/items')
    expectFault(await send({ shop: 'x' }), '/mapping/items')
  })

  test.each<[string, object, string]>([
    ['no JSONPath', { external_id: 'order.id' }, '/mapping/external_id'],
    ['a path that does not parse', { data: { a: '$.[' } }, '/mapping/data/a'],
    ['a search in a condition', { data: { a: { path: '$[?@..b]' } } }, '/mapping/data/a/path'],
    ['a pattern from the payload', { items: '$[?match(@.a, @.b)]' }, '/mapping/items'],
    ['a source alone', { external_source: 'x' }, '/mapping/external_source'],
    [
      'no date format',
      { data: { a: { path: '$.a', date_format: 'nonsense' } } },
      '/mapping/data/a/date_format',
    ],
    ['an unknown member', { idd: '$.id' }, '/mapping/idd'],
    ['a field without a name', { data: { '': '$.a' } }, '/mapping/data/'],
  ])('with %s is refused', async (_what, mapping, at) => {
    const recordType = await world.newType()
    const body = { ...HMAC, record_type: recordType, mapping }
    expectFault(await call('PUT', '/v1/crm/inbound-webhooks/refused', body), at)
    expectFailure(await call('GET', '/v1/crm/inbound-webhooks/refused'), 'NOT_FOUND')
  })

  test('with a path that visits too much fails the delivery, and not the server', {
    tags: 'full',
  }, async () => {
    const mapping = { data: { a: '$..*..*..*..*..*..*' } }
    const { send, deliveries } = await newWebhook({ ...HMAC, mapping })
    const deep = (levels: number): unknown => (levels === 0 ? [1, 2] : [deep(levels - 1), levels])
    expect(expectFailure(await send({ deep: deep(55) }), 'VALIDATION_ERROR').details[0].code).toBe(
      'too_complex',
    )
    expect(await deliveries()).toMatchObject([{ status: 'failed' }])
  })

  test.each<[string, object]>([
    ['translates the whole payload', { path: '$$', values: { a: 1 }, default: 'x' }],
    ['translates all to nothing', { path: '$$.all[*]', values: { a: 1 }, default: '' }],
    ['reads the same times', { path: '$$.times[*]', date_format: 'iso' }],
  ])(
    'that %s for each element fails the delivery, and writes nothing',
    { tags: 'full' },
    async (_what, field) => {
      const mapping = { items: '$.items', data: { field } }
      const { send, records, deliveries } = await newWebhook({ ...HMAC, mapping })
      const payload = {
        items: times(1000, (n) => n),
        all: times(100_000, () => 'word'),
        times: times(1000, () => '2026-11-23T09:30:00Z'),
      }
      const { details } = expectFailure(await send(payload), 'VALIDATION_ERROR')
      expect(details).toMatchObject([{ code: 'too_large' }])
      expect(await records()).toEqual([])
      expect(await deliveries()).toMatchObject([{ status: 'failed', records: null }])
    },
  )

  test('writes the last of the elements with the same external id', { tags: 'full' }, async () => {
    const mapping = { items: '$.items', external_id: '$.id', data: { n: '$.n' } }
    const { send, records } = await newWebhook({ ...HMAC, mapping })
    const items = [
      { id: 'a', n: 1 },
      { id: 1, n: 2 },
      { id: 'a', n: 3 },
      { id: '1', n: 4 },
    ]
    const { data } = succeed(await send({ items }))
    expect(data.map(({ operation }: Body) => operation)).toEqual(['created', 'created', 'updated', 'updated'])
    expect([data[2].id, data[3].id]).toEqual([data[0].id, data[1].id])
    expect(dataOf(await records())).toEqual(expect.arrayContaining([{ n: 3 }, { n: 4 }]))
    expect(await records()).toHaveLength(2)
  })

  test('takes only times that four digits of a year can say', { tags: 'full' }, async () => {
    const mapping = { data: { at: { path: '$.at', date_format: 'unix' } } }
    const { send, records } = await newWebhook({ ...HMAC, mapping })
    for (const at of [-100_000_000_000, 253_402_300_800]) expectFault(await send({ at }), '/data/at')
    expect(await records()).toEqual([])
  })
})

test.each<[string, object, string]>([
  ['without a record type', { record_type: undefined }, '/record_type'],
  ['with an unknown one', { record_type: 'none' }, '/record_type'],
  ['with hmac but no header', { signature: { scheme: 'hmac' } }, '/signature/header'],
  ['with settings of another scheme', { signature: { scheme: 'github', prefix: 'x' } }, '/signature/prefix'],
  [
    'with a tolerance for no time',
    { signature: { scheme: 'github', tolerance_seconds: 9 } },
    '/signature/tolerance_seconds',
  ],
  [
    'with a secret that a header would trim',
    { signature: { scheme: 'github' }, secret: 'in a header ' },
    '/secret',
  ],
  ['with a secret that is no base64', { secret: 'not base64!!' }, '/secret'],
  ['with an unknown scheme', { signature: { scheme: 'gitlab' } }, '/signature/scheme'],
])('a webhook %s is refused', async (_what, more, at) => {
  const body = { record_type: await world.newType(), ...more }
  expectFault(await call('PUT', '/v1/crm/inbound-webhooks/refused', body), at)
})

test('a delivery that does not fit is kept, and succeeds after a fix when it is replayed or sent again', {
  tags: 'full',
}, async () => {
  const json_schema = { type: 'object', properties: { n: { type: 'integer' } } }
  const { send, one, records, deliveries, recordType, id } = await newWebhook(
    { secret: STANDARD },
    { json_schema },
  )
  expectFault(await send({ n: 'one' }, standard('a')), '/data/n')
  expectFault(await send({ n: 'one' }, standard('a')), '/data/n')
  expectFault(await send({ n: 'two' }, standard('b')), '/data/n')
  expect(expectFailure(await send(null, standard('c'), '{"n":'), 'VALIDATION_ERROR').details[0].code).toBe(
    'malformed_json',
  )
  const kept = await deliveries()
  expect(kept).toMatchObject([
    { delivery_id: 'c', status: 'failed', attempts: 1, body: '{"n":', records: null },
    { delivery_id: 'b', status: 'failed', attempts: 1, body: '{"n":"two"}' },
    {
      delivery_id: 'a',
      status: 'failed',
      attempts: 2,
      error: { code: 'VALIDATION_ERROR', details: [{ path: '/data/n' }] },
    },
  ])
  const [malformed, b, a] = kept as [Body, Body, Body]
  const replay = (delivery: Body, query = '') =>
    call('POST', `${one}/deliveries/${delivery.id}/replay${query}`)
  expectFault(await replay(a), '/data/n')
  succeed(await call('PUT', `/v1/crm/record-types/${recordType}`, { json_schema: {} }))
  const shown = succeed(await replay(a, '?dry_run=true'))
  expect(shown).toMatchObject({ status: 'succeeded', dry_run: true })
  expect(await records()).toEqual([])
  const replayed = succeed(await replay(a))
  expect(replayed).toMatchObject({
    id: a.id,
    status: 'succeeded',
    attempts: 4,
    error: null,
    body: '{"n":"one"}',
  })
  expect(expectFailure(await replay(a), 'CONFLICT').details[0].code).toBe('succeeded')
  succeed(await send({ n: 'two' }, standard('b')))
  succeed(await send({ n: 'one' }, standard('a')))
  expectFailure(await replay(malformed), 'VALIDATION_ERROR')
  expectFailure(await replay({ id: 'none' }), 'NOT_FOUND')
  expect(dataOf(await records())).toEqual([{ n: 'one' }, { n: 'two' }])
  // From a record back to the delivery that made it.
  const log = succeed(await call('GET', `/v1/crm/changes?record_type=${recordType}`)).data
  expect(log.map(({ actor, cause }: Body) => [actor.via, actor.name, cause])).toEqual([
    ['inbound', expect.any(String), a.id],
    ['inbound', id, b.id],
  ])
  expect(succeed(await call('GET', `${one}/deliveries?status=failed`)).data).toHaveLength(1)
  expectFault(await call('GET', `${one}/deliveries?status=odd`), 'query/status')
})

test('a delivery reads no others of its webhook, with and without planner statistics', {
  tags: 'full',
}, async () => {
  const { send, id } = await newWebhook({ secret: STANDARD })
  await world.database.query(
    `INSERT INTO plinth.inbound_delivery (base_id, webhook_id, id, delivery_id, status, records, request_id, last_attempt_at, created_at)
     SELECT 'crm', $1, 'd' || n, 'sent' || n, 'succeeded', '[]', 'r', now(), now() FROM generate_series(1, 3000) n`,
    [id],
  )
  const ran = await statementsOf(async () => {
    succeed(await send({ n: 1 }, standard('sent1')))
    succeed(await send({ n: 1 }, standard('new1')))
    expectFailure(await send(null, standard('bad1'), '{'), 'VALIDATION_ERROR')
  })
  for (const statistics of [false, true]) {
    if (statistics) await world.database.query('ANALYZE plinth.inbound_delivery')
    for (const each of ['begin_delivery', 'fail_delivery']) {
      const look = ran.find(({ name }) => name.startsWith(each)) as RanStatement
      const { widest, text } = await explain(world.database, look)
      expect(widest, text).toBeLessThan(100)
    }
    const written = ran.find(({ name }) => name.startsWith('ingest_records')) as RanStatement
    const { scans, text } = await explain(world.database, written)
    expect(scans, text).not.toContain('inbound_delivery')
    expect(scans, text).not.toContain('record')
  }
})

test.each([
  ['none', []],
  ['a plain one', [{ fields: ['data.n'] }]],
  ['one of words', [{ fields: ['data.text'], type: 'text' }]],
  ['a unique one', [{ fields: ['data.own'], unique: true }]],
])(
  'many deliveries at the same time are each written once, under their own causes, with indexes: %s',
  { tags: 'full' },
  async (_, indexes) => {
    const json_schema = {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        text: { type: 'string' },
        own: { type: 'string' },
        more: { default: 'x' },
      },
    }
    const mapping = { external_id: '$.id', data: { n: '$.n', text: '$.text', own: '$.id' } }
    const { send, deliveries, recordType, records } = await newWebhook(
      { secret: STANDARD, mapping },
      { json_schema, indexes },
    )
    succeed(await send({ id: 'same', n: 1, text: 'as it was' }, standard('first')))
    const sent = [
      ...times(40, (n) => ({ of: `new${n}`, body: { id: `new${n}`, n, text: `word${n}` } })),
      ...times(10, (n) => ({ of: `shared${n}`, body: { id: `shared${n % 2}`, n, text: 'shared' } })),
      ...times(3, () => ({ of: 'new1', body: { id: 'new1', n: 1, text: 'word1' } })),
      { of: 'unchanged', body: { id: 'same', n: 1, text: 'as it was' } },
      { of: 'wrong', body: { id: 'wrong', n: 'many' } },
    ]
    const answers = await Promise.all(sent.map(({ of, body }) => send(body, standard(of))))
    for (const [n, { of }] of sent.entries())
      expect([of, answers[n]?.status]).toEqual([of, of === 'wrong' ? 400 : 200])
    const all = await records()
    expect(all.map(({ external_id }: Body) => external_id).sort()).toEqual(
      [...times(40, (n) => `new${n}`), 'same', 'shared0', 'shared1'].sort(),
    )
    for (const record of all) expect(record.data.more).toBe('x')
    const log = await world.logOf(recordType)
    expect(log).toHaveLength(51)
    const kept = (await deliveries()) as Body[]
    expect(kept).toHaveLength(53)
    const causes = log.map(({ cause }) => cause)
    expect(new Set(causes).size).toBe(51)
    for (const { id, status, records: written, delivery_id } of kept) {
      const isChange = status === 'succeeded' && delivery_id !== 'unchanged'
      expect([delivery_id, causes.includes(id)]).toEqual([delivery_id, isChange])
      if (isChange) expect(log.find(({ cause }) => cause === id)?.id).toBe(written[0].id)
    }
    const one = kept.find(({ delivery_id }) => delivery_id === 'unchanged')
    expect(one).toMatchObject({ records: [{ operation: 'unchanged' }] })
    expect(new Set(log.map(({ via, token_id }) => `${via} ${token_id}`))).toEqual(new Set(['inbound null']))
    if (indexes.length === 0) return
    const filter = JSON.stringify({ field: 'data.n', op: 'eq', value: 7 })
    const found = succeed(
      await call('GET', `/v1/crm/records/${recordType}?filter=${encodeURIComponent(filter)}`),
    )
    expect(found.data.some(({ external_id }: Body) => external_id === 'new7')).toBe(true)
  },
)

test('two replays at the same time write once', { tags: 'full' }, async () => {
  const json_schema = { type: 'object', properties: { n: { type: 'integer' } } }
  const { send, one, records, deliveries, recordType } = await newWebhook(HMAC, { json_schema })
  expectFault(await send({ n: 'one' }), '/data/n')
  succeed(await call('PUT', `/v1/crm/record-types/${recordType}`, { json_schema: {} }))
  const [{ id }] = (await deliveries()) as [Body]
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', `${one}/deliveries/${id}/replay`)))
  for (const { status } of answers) expect([200, 409]).toContain(status)
  expect(await records()).toHaveLength(1)
})

test('triggers leave out what a webhook wrote, unless they ask for it', { tags: 'full' }, async () => {
  const { send, recordType } = await newWebhook()
  for (const [id, skips] of [['skips', true] as const, ['takes', false] as const])
    succeed(
      await call('PUT', `/v1/crm/triggers/${id}`, {
        record_types: [recordType],
        url: `${receiver.url}/${id}`,
        skip_inbound_writes: skips,
      }),
      201,
    )
  succeed(await send({ n: 1 }))
  succeed(await call('PUT', `/v1/crm/records/${recordType}/own`, { data: { n: 2 } }), 201)
  await eventually(async () => receiver.at('/takes').length === 2 || undefined)
  await eventually(async () => receiver.at('/skips').length === 1 || undefined)
  expect(receiver.at('/skips').map(({ body }) => body.data.record.data)).toEqual([{ n: 2 }])
})

test('a webhook takes a trigger of Plinth: both speak Standard Webhooks', { tags: 'full' }, async () => {
  const { recordType, path, records } = await newWebhook({
    secret: STANDARD,
    mapping: { external_id: '$.data.record.id', data: { n: '$.data.record.data.n' } },
  })
  const source = await world.newType()
  const url = `${world.url}${path}`
  succeed(await call('PUT', '/v1/crm/triggers/relay', { record_types: [source], url, secret: STANDARD }), 201)
  succeed(await call('PUT', `/v1/crm/records/${source}/r1`, { data: { n: 5 } }), 201)
  await eventually(async () => (await records()).length === 1 || undefined)
  expect(await records()).toMatchObject([{ record_type: recordType, external_id: 'r1', data: { n: 5 } }])
})

test('the secret is shown once, and a new one counts at once', { tags: 'full' }, async () => {
  const { one, made, path, id } = await newWebhook({ ...HMAC, secret: undefined })
  expect(made.secret).toMatch(/^whsec_/)
  expect(made.ingest_url).toBe(`${world.url}/inbound/default/crm/${id}/ingest`)
  const signedBy = (secret: string) => ({ 'x-sig': createHmac('sha256', secret).update('{}').digest('hex') })
  succeed(await post(path, '{}', signedBy(made.secret)))
  expect(succeed(await call('PATCH', one, { secret: KEY })).secret).toBe('<redacted>')
  succeed(await post(path, '{}', signedBy(KEY)))
  expectFailure(await post(path, '{}', signedBy(made.secret)), 'UNAUTHORIZED')
  for (const at of [
    one,
    '/v1/crm/inbound-webhooks',
    '/v1/crm/config',
    `${one}/history`,
    '/v1/crm/changes?kind=inbound_webhook',
  ]) {
    const { text } = await call('GET', at)
    for (const secret of [KEY, made.secret]) expect(text).not.toContain(secret)
  }
  const rows = await world.database.query<{ secret: string }>('SELECT secret FROM plinth.inbound_webhook')
  for (const { secret } of rows) expect(secret).toMatch(/^v1\./)
})

test('a token does not deliver, and reads deliveries only with a grant on the whole base', {
  tags: 'full',
}, async () => {
  const { one, recordType, id } = await newWebhook()
  const query = `mutation { ingest(base: "crm", id: "${id}") { data } }`
  const { errors } = (await call('POST', '/graphql', { query })).body
  expect(errors[0].extensions.code).toBe('FORBIDDEN')
  const { call: limited } = await world.newToken([{ record_type: recordType, permission: 'manage' }])
  expectFailure(await limited('GET', `${one}/deliveries`), 'FORBIDDEN')
  expectFailure(await limited('GET', one), 'FORBIDDEN')
  expectFailure(await call('GET', '/v1/crm/inbound-webhooks/none/deliveries'), 'NOT_FOUND')
  const { call: reader } = await world.newToken([{ permission: 'read' }])
  succeed(await reader('GET', `${one}/deliveries`))
  expectFailure(await reader('POST', `${one}/deliveries/x/replay`), 'FORBIDDEN')
})
