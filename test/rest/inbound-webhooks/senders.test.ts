// @module-tag full
/** Inbound webhooks as real senders use them: their signatures, forms, numbers, secrets, and links of records. */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { statementsOf } from '../../support/query-plans.ts'
import type { Answer, Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const call: World['call'] = (...args) => world.call(...args)
const KEY = 'a-secret-of-the-sender'
const STANDARD = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
type Headers = Record<string, string>

async function post(path: string, body: string | Buffer, headers: Headers): Promise<Answer> {
  const response = await fetch(`${world.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}
const hmac = (text: string, key = KEY, algorithm = 'sha256', encoding: 'hex' | 'base64' = 'hex') =>
  createHmac(algorithm, key).update(text).digest(encoding)

async function newWebhook(more: object, type: object = {}) {
  const recordType = await world.newType(type)
  const id = `sender${++serial}`
  const one = `/v1/crm/inbound-webhooks/${id}`
  const made = succeed(await call('PUT', one, { record_type: recordType, secret: KEY, ...more }), 201)
  return {
    ...{ id, one, recordType, made, url: String(made.ingest_url), path: new URL(made.ingest_url).pathname },
    data: async (): Promise<Body[]> =>
      succeed(await call('GET', `/v1/crm/records/${recordType}?sort=created_at`)).data.map(
        ({ data }: Body) => data,
      ),
    deliveries: async (): Promise<Body[]> => succeed(await call('GET', `${one}/deliveries`)).data,
  }
}
const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`plinth:${password}`).toString('base64')}`,
})

describe('a sender is verified', () => {
  test('that names its headers as Svix does', async () => {
    const { path, data } = await newWebhook({ secret: STANDARD })
    const body = '{"n":1}'
    const at = new Date()
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(+at / 1000)),
      'svix-signature': new Webhook(STANDARD).sign('msg_1', at, body),
    }
    succeed(await post(path, body, headers))
    succeed(await post(path, body, headers))
    expectFailure(await post(path, '{"n":2}', headers), 'UNAUTHORIZED')
    const { 'svix-id': _, ...rest } = headers
    expectFailure(await post(path, body, { ...rest, 'webhook-id': 'msg_1' }), 'UNAUTHORIZED')
    expect(await data()).toEqual([{ n: 1 }])
  })

  test('that sends the secret itself, in a header or as the password of basic authentication', async () => {
    const ways: [object, (secret: string) => Headers][] = [
      [{ header: 'X-Gitlab-Token' }, (secret) => ({ 'x-gitlab-token': secret })],
      [{ header: 'Authorization', prefix: 'Bearer ' }, (secret) => ({ authorization: `Bearer ${secret}` })],
      [{}, basic],
    ]
    for (const [more, headersOf] of ways) {
      const { path, data, made } = await newWebhook({ signature: { scheme: 'token', ...more } })
      expect(made.signature).toEqual({ scheme: 'token', ...more })
      succeed(await post(path, '{"n":1}', headersOf(KEY)))
      for (const wrong of ['', 'x', KEY.slice(1), `${KEY}x`, KEY.toUpperCase(), 'x'.repeat(5000)])
        expectFailure(await post(path, '{"n":2}', headersOf(wrong)), 'UNAUTHORIZED')
      expectFailure(await post(path, '{"n":2}', {}), 'UNAUTHORIZED')
      expectFailure(await post(path, '{"n":2}', { authorization: 'Basic ???' }), 'UNAUTHORIZED')
      expect(await data()).toEqual([{ n: 1 }])
    }
  })

  test('that signs by a template: Zendesk, HubSpot, Slack', async () => {
    const body = '{"n":1}'
    const now = Date.now()
    const iso = new Date(now).toISOString()
    const senders: [Record<string, string> & { signed: string }, (url: string, sent: string) => Headers][] = [
      [
        {
          header: 'X-Zendesk-Webhook-Signature',
          encoding: 'base64',
          signed: '{timestamp}{body}',
          timestamp_header: 'X-Zendesk-Webhook-Signature-Timestamp',
        },
        (_url, sent) => ({
          'x-zendesk-webhook-signature': hmac(`${iso}${sent}`, KEY, 'sha256', 'base64'),
          'x-zendesk-webhook-signature-timestamp': iso,
        }),
      ],
      [
        {
          header: 'X-HubSpot-Signature-v3',
          encoding: 'base64',
          signed: '{method}{url}{body}{timestamp}',
          timestamp_header: 'X-HubSpot-Request-Timestamp',
        },
        (url, sent) => ({
          'x-hubspot-signature-v3': hmac(`POST${url}${sent}${now}`, KEY, 'sha256', 'base64'),
          'x-hubspot-request-timestamp': String(now),
        }),
      ],
      [
        {
          header: 'X-Slack-Signature',
          prefix: 'v0=',
          signed: 'v0:{timestamp}:{body}',
          timestamp_header: 'X-Slack-Request-Timestamp',
        },
        (_url, sent) => ({
          'x-slack-signature': `v0=${hmac(`v0:${Math.floor(now / 1000)}:${sent}`)}`,
          'x-slack-request-timestamp': String(Math.floor(now / 1000)),
        }),
      ],
    ]
    for (const [signature, signed] of senders) {
      const { path, url, data } = await newWebhook({ signature: { scheme: 'hmac', ...signature } })
      succeed(await post(path, body, signed(url, body)))
      expectFailure(await post(path, '{"n":2}', signed(url, body)), 'UNAUTHORIZED')
      if (signature.signed.includes('{url}'))
        expectFailure(await post(path, body, signed(`${url}x`, body)), 'UNAUTHORIZED')
      expect(await data()).toEqual([{ n: 1 }])
    }
  })

  test('only by a template that has the body, and the time where a header has it', async () => {
    const record_type = await world.newType()
    const put = (signature: object) =>
      call('PUT', '/v1/crm/inbound-webhooks/refused', { record_type, secret: KEY, signature })
    const of = { scheme: 'hmac', header: 'X-Sig' }
    for (const signature of [
      { ...of, signed: '{timestamp}' },
      { ...of, signed: '{timestamp}{body}' },
      { ...of, signed: '{body}', timestamp_header: 'X-Time' },
      { ...of, signed: '{body}{path}' },
      { ...of, signed: '{body}.{body}' },
      { ...of, signed: '{body' },
      { scheme: 'github', signed: '{body}' },
      { scheme: 'token', header: 'X-Token', signed: '{body}' },
    ])
      expectFault(await put(signature), '/signature/signed')
    expectFault(await put({ scheme: 'token', prefix: 'Bearer ' }), '/signature/prefix')
    expectFault(await put({ scheme: 'token', tolerance_seconds: 10 }), '/signature/tolerance_seconds')
    expect((await put({ ...of, signed: '{body}{path}' })).body.error.details[0]).toMatchObject({
      received: '{path}',
      allowed: ['{body}', '{timestamp}', '{method}', '{url}'],
    })
  })
})

describe('a form', () => {
  const form = 'application/x-www-form-urlencoded'
  const token = { signature: { scheme: 'token' } }

  test('is an object of strings, verified over its bytes', async () => {
    const { path, data, deliveries } = await newWebhook({ signature: { scheme: 'slack' } })
    const at = Math.floor(Date.now() / 1000)
    const body = 'command=%2Fdeal&text=caf%C3%A9+%26+more&amount=12&text=last&empty='
    const headers = {
      'content-type': form,
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${hmac(`v0:${at}:${body}`)}`,
    }
    succeed(await post(path, body, headers))
    expectFailure(await post(path, `${body}&x=1`, headers), 'UNAUTHORIZED')
    expect(await data()).toEqual([{ command: '/deal', text: 'last', amount: '12', empty: '' }])
    expect((await deliveries())[0]?.warnings).toMatchObject([{ path: '/text', code: 'repeated_field' }])
  })

  test('whose only field is payload has JSON in it, of GitHub and of Slack', async () => {
    const { path, data } = await newWebhook({ signature: { scheme: 'github' } })
    const body = `payload=${encodeURIComponent('{"id":820982911946154508,"a":[1]}')}`
    succeed(await post(path, body, { 'content-type': form, 'x-hub-signature-256': `sha256=${hmac(body)}` }))
    expect(await data()).toEqual([{ id: '820982911946154508', a: [1] }])
    const other = await newWebhook(token)
    succeed(await post(other.path, body, { 'content-type': form, ...basic(KEY) }))
    expect(await other.data()).toEqual([{ payload: '{"id":820982911946154508,"a":[1]}' }])
  })

  test('of several parts is taken without files', async () => {
    const { path, data, deliveries } = await newWebhook(token)
    const multipart = new FormData()
    multipart.append('from', 'Zoë <z@example.com>')
    multipart.append('text', 'line\r\nline')
    const send = async (sent: FormData) => {
      const bytes = Buffer.from(await new Response(sent).arrayBuffer())
      const boundary = /^--(.*)\r\n/.exec(bytes.toString('latin1'))?.[1]
      return post(path, bytes, { 'content-type': `multipart/form-data; boundary=${boundary}`, ...basic(KEY) })
    }
    succeed(await send(multipart))
    expect(await data()).toEqual([{ from: 'Zoë <z@example.com>', text: 'line\r\nline' }])
    multipart.append('file', new Blob(['x']), 'x.txt')
    expectFailure(await send(multipart), 'VALIDATION_ERROR')
    for (const [sent, type] of [
      ['--b\r\nbroken', 'multipart/form-data; boundary=b'],
      ['a', 'multipart/form-data'],
      ['--b\r\ncontent-disposition: form-data\r\n\r\n1\r\n--b--\r\n', 'multipart/form-data; boundary=b'],
      [`${'--b\r\n\r\n\r\n'.repeat(1001)}--b--\r\n`, 'multipart/form-data; boundary=b'],
      ['a=%FF', form],
      ['a=%00', form],
      ['__proto__=1', form],
      [Array.from({ length: 1001 }, (_, n) => `f${n}=1`).join('&'), form],
    ] as const)
      expectFailure(await post(path, sent, { 'content-type': type, ...basic(KEY) }), 'VALIDATION_ERROR')
    expect(await data()).toHaveLength(1)
    expect((await deliveries()).filter(({ status }) => status === 'failed')).toHaveLength(9)
  })
})

test('a number that JSON in JavaScript would change is kept as the string of its digits, and named', {
  tags: 'full',
}, async () => {
  const { path, data, deliveries } = await newWebhook({
    signature: { scheme: 'token' },
    mapping: { external_id: '$.id', data: { id: '$.id', list: '$.list', small: '$.small' } },
  })
  const body = '{"id": 820982911946154508, "list":[1,-9007199254740993,1e400,0.1,1e21], "small": 7}'
  succeed(await post(path, body, basic(KEY)))
  expect(await data()).toEqual([
    { id: '820982911946154508', list: [1, '-9007199254740993', '1e400', 0.1, 1e21], small: 7 },
  ])
  const [delivery] = await deliveries()
  expect(delivery).toMatchObject({ status: 'succeeded', body })
  expect(delivery?.warnings.map(({ path, code }: Body) => [path, code])).toEqual([
    ['/id', 'unsafe_number'],
    ['/list/1', 'unsafe_number'],
    ['/list/2', 'unsafe_number'],
  ])
  const large = `{"id":"big","list":[${Array.from({ length: 40_000 }, (_, n) => `90071992547409931${n}`).join()}],"small":1}`
  succeed(await post(path, large, basic(KEY)))
  expect((await data())[1]?.list[39_999]).toBe('9007199254740993139999')
  expect((await deliveries())[0]?.warnings).toHaveLength(20)
  expectFailure(await post(path, '{"id":820982911946154508,"x":"\\u0000"}', basic(KEY)), 'VALIDATION_ERROR')
  // The other interfaces refuse such numbers.
  const response = await fetch(`${world.url}/v1/crm/records/any/x`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${world.adminToken}`, 'content-type': 'application/json' },
    body: '{"data":{"id":820982911946154508}}',
  })
  expect(response.status).toBe(400)
})

test('the body of a delivery that succeeded is shown for a day', async () => {
  const { path, deliveries, id } = await newWebhook({ signature: { scheme: 'token' } })
  succeed(await post(path, '{"n":1}', basic(KEY)))
  expect((await deliveries())[0]).toMatchObject({ status: 'succeeded', body: '{"n":1}', warnings: null })
  await world.database.query(
    `UPDATE plinth.inbound_delivery SET created_at = created_at - interval '25 hours', last_attempt_at = last_attempt_at - interval '25 hours'
     WHERE webhook_id = $1`,
    [id],
  )
  expect((await deliveries())[0]?.body).toBeNull()
})

test('a rotated secret and the one before it are valid, and one that a PATCH sets at once replaces both', async () => {
  const { path, one, id, data } = await newWebhook({ signature: { scheme: 'token' } })
  const rotate = (query = '') => call('POST', `${one}/rotate-secret${query}`)
  expect(succeed(await rotate('?dry_run=true'))).toMatchObject({ id, secret: null, dry_run: true })
  const { secret, version } = succeed(await rotate())
  expect(secret).toMatch(/^whsec_/)
  expect(version).toBe(2)
  succeed(await post(path, '{"n":1}', basic(KEY)))
  succeed(await post(path, '{"n":2}', basic(secret)))
  const query = `mutation { rotateInboundWebhookSecret(base: "crm", id: "${id}") { secret } }`
  const next = (await call('POST', '/graphql', { query })).body.data.rotateInboundWebhookSecret.secret
  expectFailure(await post(path, '{"n":3}', basic(KEY)), 'UNAUTHORIZED')
  succeed(await post(path, '{"n":4}', basic(secret)))
  succeed(await post(path, '{"n":5}', basic(next)))
  await world.database.query(
    `UPDATE plinth.inbound_webhook SET former_secret_until = now() - interval '1 s' WHERE id = $1`,
    [id],
  )
  succeed(await call('PATCH', one, { name: 'Renamed' }))
  expectFailure(await post(path, '{"n":6}', basic(secret)), 'UNAUTHORIZED')
  succeed(await rotate())
  succeed(await call('PATCH', one, { secret: 'another-secret' }))
  expectFailure(await post(path, '{"n":7}', basic(next)), 'UNAUTHORIZED')
  succeed(await post(path, '{"n":8}', basic('another-secret')))
  expect((await data()).map(({ n }) => n)).toEqual([1, 2, 4, 5, 8])
  const { call: reader } = await world.newToken([{ permission: 'read' }])
  expectFailure(await reader('POST', `${one}/rotate-secret`), 'FORBIDDEN')
  expectFailure(await call('POST', '/v1/crm/inbound-webhooks/none/rotate-secret'), 'NOT_FOUND')
})

test('refused signatures are counted for a webhook that exists, are named in the log, and leave nothing else', {
  tags: 'full',
}, async () => {
  const { path, one, id, deliveries } = await newWebhook({ signature: { scheme: 'token' } })
  expect(succeed(await call('GET', one)).status).toEqual({ refused: 0, last_refused_at: null })
  for (let n = 0; n < 3; n++) expectFailure(await post(path, '{}', basic('wrong')), 'UNAUTHORIZED')
  expectFailure(await post(path.replace(id, 'absent'), '{}', basic('wrong')), 'UNAUTHORIZED')
  succeed(await post(path, '{}', basic(KEY)))
  const status = await eventually(async () => {
    const found = succeed(await call('GET', one)).status
    return found.refused > 0 ? found : undefined
  })
  expect(status).toEqual({ refused: 3, last_refused_at: expect.stringMatching(/^\d{4}-/) })
  expect(await deliveries()).toHaveLength(1)
  expect(succeed(await call('GET', one)).version).toBe(1)
  const lines = world.log.filter((line) => line.includes('"status":401')).map((line) => JSON.parse(line))
  expect(lines.map(({ inbound_webhook }) => inbound_webhook)).toContain(`crm/${id}`)
})

test('an inbound webhook that does not exist is looked up once', async () => {
  const path = '/inbound/default/crm/never-made/ingest'
  expectFailure(await post(path, '{}', basic('x')), 'UNAUTHORIZED')
  const ran = await statementsOf(async () => {
    for (let n = 0; n < 5; n++) expectFailure(await post(path, '{}', basic('x')), 'UNAUTHORIZED')
  })
  expect(ran.filter(({ name }) => name.startsWith('get_inbound_webhook'))).toEqual([])
  const record_type = await world.newType()
  succeed(
    await call('PUT', '/v1/crm/inbound-webhooks/never-made', {
      record_type,
      secret: KEY,
      signature: { scheme: 'token' },
    }),
    201,
  )
  succeed(await post(path, '{}', basic(KEY)))
})

test('the revert of a deletion answers the new secret, once, on every interface', async () => {
  const { one, id, path } = await newWebhook({ signature: { scheme: 'token' } })
  const lastSeq = async () =>
    succeed(await call('GET', `/v1/crm/changes?kind=inbound_webhook&id=${id}&order=desc&limit=1`)).data[0].seq
  succeed(await call('DELETE', one))
  const reverted = succeed(await call('POST', `/v1/crm/changes/${await lastSeq()}/revert`))
  expect(reverted.secrets).toEqual([
    { kind: 'inbound_webhook', id, secret: expect.stringMatching(/^whsec_/) },
  ])
  succeed(await post(path, '{}', basic(reverted.secrets[0].secret)))
  expectFailure(await post(path, '{}', basic(KEY)), 'UNAUTHORIZED')
  const removed = await call('DELETE', one)
  const request_id = removed.headers.get('x-request-id')
  const shown = succeed(await call('POST', '/v1/crm/revert?dry_run=true', { request_id }))
  expect(shown.secrets).toEqual([{ kind: 'inbound_webhook', id, secret: null }])
  const undone = succeed(await call('POST', '/v1/crm/revert', { request_id }))
  expect(undone.secrets).toEqual([{ kind: 'inbound_webhook', id, secret: expect.stringMatching(/^whsec_/) }])
  succeed(await post(path, '{}', basic(undone.secrets[0].secret)))
  const { text } = await call('GET', `/v1/crm/changes?kind=inbound_webhook&id=${id}`)
  expect(text).not.toContain(undone.secrets[0].secret)
  const patched = await call('PATCH', one, { name: 'x' })
  const again = succeed(
    await call('POST', '/v1/crm/revert', { request_id: patched.headers.get('x-request-id') }),
  )
  expect(again.secrets).toBeUndefined()

  const deletion = async () => (await call('DELETE', one)).headers.get('x-request-id') ?? ''
  const undo = `mutation { revertChanges(base: "crm", requestId: "${await deletion()}") { secrets } }`
  const byGraphql = (await call('POST', '/graphql', { query: undo })).body.data.revertChanges.secrets
  expect(byGraphql).toEqual(reverted.secrets.map((made: Body) => ({ ...made, secret: expect.any(String) })))
  succeed(await post(path, '{}', basic(byGraphql[0].secret)))
  const plan = (await callTool(world, '/mcp/crm', 'undo', { request_id: await deletion() })).body
  expect(JSON.stringify(plan)).not.toContain('whsec_')
  const byTool = (await callTool(world, '/mcp/crm', 'undo', { plan_token: plan.plan_token })).body.secrets
  succeed(await post(path, '{}', basic(byTool[0].secret)))
  expectFailure(await post(path, '{}', basic(byGraphql[0].secret)), 'UNAUTHORIZED')
})

describe('a mapping', () => {
  test('links its record to others, by external id, in the same transaction', { tags: 'full' }, async () => {
    const ticket = await world.newType()
    const label = await world.newType()
    const [belongs, has] = [`belongs${++serial}`, `has${++serial}`]
    for (const id of [belongs, has]) succeed(await call('PUT', `/v1/crm/relationship-types/${id}`, {}), 201)
    const at = (type: string, n: string) => `/v1/crm/records/${type}/${n}`
    succeed(
      await call('PUT', at(ticket, 't1'), { data: {}, external_id: 'thread-1', external_source: 'mail' }),
      201,
    )
    for (const id of ['a', 'b']) succeed(await call('PUT', at(label, id), { data: {} }), 201)
    const { path, recordType, data, deliveries, one } = await newWebhook({
      signature: { scheme: 'token' },
      mapping: {
        external_id: '$.id',
        data: { text: '$.text' },
        relationships: [
          { rel_type: belongs, record_type: ticket, external_id: '$.thread', external_source: 'mail' },
          { rel_type: has, record_type: label, id: '$.labels[*]', direction: 'incoming' },
        ],
      },
    })
    const send = (payload: object) => post(path, JSON.stringify(payload), basic(KEY))
    const {
      data: [{ id }],
    } = succeed(await send({ id: 'm1', text: 'hi', thread: 'thread-1', labels: ['a', 'b'] }))
    const related = async (direction: string, rel: string) =>
      succeed(
        await call('GET', `${at(recordType, id)}/related?rel_type=${rel}&direction=${direction}&sort=id`),
      ).data.map(({ record }: Body) => record.id)
    expect(await related('outgoing', belongs)).toEqual(['t1'])
    expect(await related('incoming', has)).toEqual(['a', 'b'])
    succeed(await send({ id: 'm2', text: 'first of its thread' }))
    const failed = expectFailure(await send({ id: 'm3', text: 'x', thread: 'none' }), 'VALIDATION_ERROR')
    expect(failed.details[0].path).toBe('/relationships/0/external_id')
    expectFault(await send({ id: 'm4', text: 'x', thread: { odd: true } }), '/relationships/0/external_id')
    expect((await data()).map(({ text }) => text)).toEqual(['hi', 'first of its thread'])
    const [last] = await deliveries()
    expect(last).toMatchObject({
      status: 'failed',
      error: { details: [{ path: '/relationships/0/external_id' }] },
    })
    for (const [relationships, where] of [
      [[{ rel_type: 'none', record_type: ticket, id: '$.x' }], '/mapping/relationships/0/rel_type'],
      [[{ rel_type: belongs, record_type: 'none', id: '$.x' }], '/mapping/relationships/0/record_type'],
      [[{ rel_type: belongs, record_type: ticket }], '/mapping/relationships/0/external_id'],
      [
        [{ rel_type: belongs, record_type: ticket, id: '$.x', external_id: '$.y' }],
        '/mapping/relationships/0/external_id',
      ],
      [[{ rel_type: belongs, record_type: ticket, id: '$[' }], '/mapping/relationships/0/id'],
    ] as const)
      expectFault(await call('PUT', one, { record_type: recordType, mapping: { relationships } }), where)
    expectFailure(await call('DELETE', `/v1/crm/relationship-types/${belongs}`), 'CONFLICT')
  })

  test('of items links each of its records', async () => {
    const order = await world.newType()
    const rel = `of${++serial}`
    succeed(await call('PUT', `/v1/crm/relationship-types/${rel}`, {}), 201)
    succeed(await call('PUT', `/v1/crm/records/${order}/o1`, { data: {} }), 201)
    const { path, recordType } = await newWebhook({
      signature: { scheme: 'token' },
      mapping: {
        items: '$.lines',
        external_id: '$.sku',
        data: { sku: '$.sku' },
        relationships: [{ rel_type: rel, record_type: order, id: '$$.order' }],
      },
    })
    succeed(await post(path, '{"order":"o1","lines":[{"sku":"a"},{"sku":"b"}]}', basic(KEY)))
    const related = succeed(
      await call('GET', `/v1/crm/records/${order}/o1/related?rel_type=${rel}&direction=incoming`),
    )
    expect(related.data).toHaveLength(2)
    const failed = expectFailure(
      await post(path, '{"order":"o2","lines":[{"sku":"c"}]}', basic(KEY)),
      'VALIDATION_ERROR',
    )
    expect(failed.details[0].path).toBe('/records/0/relationships/0/id')
    expect(succeed(await call('GET', `/v1/crm/records/${recordType}`)).data).toHaveLength(2)
  })

  test('with on_existing keep leaves a record that exists as it is', async () => {
    const { path, data, one, recordType } = await newWebhook({
      signature: { scheme: 'token' },
      mapping: { external_id: '$.thread', data: { subject: '$.subject' }, on_existing: 'keep' },
    })
    const send = (subject: string) => post(path, JSON.stringify({ thread: 't', subject }), basic(KEY))
    expect(succeed(await send('First')).data).toMatchObject([{ operation: 'created' }])
    expect(succeed(await send('Second')).data).toMatchObject([{ operation: 'unchanged' }])
    await Promise.all(
      [1, 2, 3].map((n) =>
        post(path, JSON.stringify({ thread: 'race', subject: `n${n}` }), basic(KEY)).then((answer) =>
          succeed(answer),
        ),
      ),
    )
    expect(await data()).toHaveLength(2)
    expect((await data())[0]).toEqual({ subject: 'First' })
    expectFault(
      await call('PUT', one, { record_type: recordType, mapping: { on_existing: 'keep' } }),
      '/mapping/on_existing',
    )
  })
})
