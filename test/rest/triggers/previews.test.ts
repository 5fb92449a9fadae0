// @module-tag full
/** Triggers of previews: what they send, and what a promotion carries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { triggersOf } from '../../support/triggers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
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
const arrived = (path: string, count: number) => triggers.arrived(path, count)

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

  test('is held as soon as production calls its URL, and stays so when production ends', {
    tags: 'full',
  }, async () => {
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
    expect(promoted.changes[0].diff).toEqual([
      { op: 'replace', path: '/description', value: 'Better', before: null },
    ])
    expect(succeed(await call('GET', one))).toMatchObject({ ...FREE, enabled: true })
    await put('r1', {})
    await arrived(1)
    await remove(base)
  })
})
