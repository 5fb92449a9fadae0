// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

test('concurrent writes that share a statement each have their own outcome', async () => {
  const type = await world.newType({
    json_schema: { type: 'object', properties: { n: { type: 'integer' } } },
  })
  const at = (id: string) => `/v1/crm/records/${type}/${id}`
  await Promise.all(times(20, (i) => world.call('PUT', at(`r${i}`), { data: { n: i } })))
  const answers = await Promise.all(
    times(60, (i) => {
      const n = i < 20 ? i + 1 : i < 30 ? i - 19 : i
      // 0–19 change, 20–29 repeat the changes of 0–9, 30–39 are invalid, 40–59 are new.
      const id = i < 20 ? `r${i}` : i < 30 ? `r${i - 20}` : `s${i}`
      return world.call('PUT', at(id), { data: { n: i >= 30 && i < 40 ? 'no' : n } })
    }),
  )
  expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(times(20, () => 200))
  expect(answers.slice(30, 40).map(({ status }) => status)).toEqual(times(10, () => 400))
  expect(answers.slice(40).map(({ status }) => status)).toEqual(times(20, () => 201))
  for (const { body } of answers.slice(0, 30)) expect(['updated', 'unchanged']).toContain(body.operation)
  for (const i of times(10, (each) => each)) {
    const log = await world.logOf(type, `r${i}`)
    expect(log.map(({ version }) => version)).toEqual([1, 2])
    expect(succeed(await world.call('GET', at(`r${i}`))).data).toEqual({ n: i + 1 })
  }
})

test('PUTs that share a statement create absent records, and deleted ones under their next version', async () => {
  const type = await world.newType({
    json_schema: { type: 'object', properties: { n: { type: 'integer' }, note: { type: 'string' } } },
    indexes: [{ fields: ['data.n'] }, { type: 'text', fields: ['data.note'] }],
  })
  const at = (id: string) => `/v1/crm/records/${type}/${id}`
  const put = (i: number, n: number, headers = {}) =>
    world.call('PUT', at(`r${i}`), { data: { n, note: n === 105 ? 'zeppelin' : 'harbour' } }, headers)
  await Promise.all(times(20, (i) => put(i, i)))
  await Promise.all(times(10, (i) => world.call('DELETE', at(`r${i}`))))
  const answers = await Promise.all([
    ...times(40, (i) => put(i, 100 + i)),
    ...times(5, (i) => put(50 + i, 200, { 'if-match': '*' })),
  ])
  const outcome = ({ status, body }: (typeof answers)[number]) => [status, body.operation, body.version]
  expect(answers.slice(0, 10).map(outcome)).toEqual(times(10, () => [201, 'created', 3]))
  expect(answers.slice(10, 20).map(outcome)).toEqual(times(10, () => [200, 'updated', 2]))
  expect(answers.slice(20, 40).map(outcome)).toEqual(times(20, () => [201, 'created', 1]))
  expect(answers.slice(40).map(({ status }) => status)).toEqual(times(5, () => 404))
  const found = async (filter?: object) => {
    const page = await world.call('POST', `/v1/crm/records/${type}/query`, { filter, limit: 100 })
    return succeed(page).data.map(({ id }: { id: string }) => id)
  }
  const field = (name: string, op: string, value: unknown) => ({ field: `data.${name}`, op, value })
  expect(await found()).toHaveLength(40)
  expect(await found(field('n', 'eq', 137))).toEqual(['r37'])
  expect(await found(field('note', 'search', 'zeppelin'))).toEqual(['r5'])
  expect(await found(field('n', 'eq', 15))).toEqual([])
})

test('log entries of writes that share a statement name their own request and token', async () => {
  const type = await world.newType()
  const tokens = await Promise.all(times(3, () => world.newToken([{ permission: 'write' }])))
  const sent = times(45, (i) => ({ id: `together-${i}`, token: tokens[i % 3] }))
  const answers = await Promise.all(
    sent.map(({ id, token }, i) =>
      token?.call('POST', `/v1/crm/records/${type}`, { data: { i } }, { 'x-request-id': id }),
    ),
  )
  const log = await world.logOf(type)
  expect(log).toHaveLength(45)
  for (const [i, answer] of answers.entries()) {
    const entry = log.find(({ id }) => id === answer?.body.id)
    expect(entry).toMatchObject({
      request_id: sent[i]?.id,
      token_id: sent[i]?.token?.id,
      operation: 'create',
      data: { i },
    })
  }
})

test('concurrent reads that share a statement each return their own record or 404', {
  tags: 'full',
}, async () => {
  const types = await Promise.all(times(3, () => world.newType()))
  await Promise.all(
    times(30, (i) => world.call('PUT', `/v1/crm/records/${types[i % 3]}/same-${i}`, { data: { i } })),
  )
  const answers = await Promise.all(
    times(90, (i) => world.call('GET', `/v1/crm/records/${types[i % 3]}/same-${i % 45}`)),
  )
  for (const [i, answer] of answers.entries()) {
    const exists = i % 45 < 30
    expect(answer.status).toBe(exists ? 200 : 404)
    if (exists)
      expect(answer.body).toMatchObject({
        id: `same-${i % 45}`,
        record_type: types[i % 3],
        data: { i: i % 45 },
      })
  }
})

test('a read without permission is 403 even if it shares a statement with a permitted one', {
  tags: 'full',
}, async () => {
  const [open, closed] = [await world.newType(), await world.newType()]
  await world.call('PUT', `/v1/crm/records/${closed}/secret`, { data: { canary: 'only-for-admins' } })
  await world.call('PUT', `/v1/crm/records/${open}/plain`, { data: {} })
  const { call } = await world.newToken([{ record_type: open, permission: 'write' }])
  const answers = await Promise.all(
    times(40, (i) =>
      (i % 2 === 0 ? call : world.call)(
        'GET',
        `/v1/crm/records/${i % 4 < 2 ? closed : open}/${i % 4 < 2 ? 'secret' : 'plain'}`,
      ),
    ),
  )
  for (const [i, answer] of answers.entries()) {
    const refused = i % 2 === 0 && i % 4 < 2
    expect(answer.status).toBe(refused ? 403 : 200)
    if (refused) expect(answer.text).not.toContain('only-for-admins')
  }
})
