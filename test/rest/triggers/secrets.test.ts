// @module-tag full
/** Secrets of triggers: how they sign deliveries, and where they are not shown. */
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import { openReceiver, type Received, type Receiver } from '../../support/receiver.ts'
import { triggersOf } from '../../support/triggers.ts'
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

test('a rotated secret signs beside the former one for 24 hours', { tags: 'full' }, async () => {
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
