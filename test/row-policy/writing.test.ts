import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openPolicyEngine, type Through } from '../support/row-policy.ts'
import { openWorld, type World } from '../support/world.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    stage: { type: 'string' },
    amount: { type: 'number' },
    secret: { type: 'string', enum: ['canary', 'default canary'] },
    team: { type: 'string' },
  },
  required: ['secret'],
  additionalProperties: false,
}
const OURS = { field: 'data.team', op: 'eq', value: 'ours' }
const POLICY = {
  recordType: 'deal',
  filter: { and: [OURS, { field: 'status', op: 'eq', value: 'active' }] },
  fields: ['data.title', 'data.stage', 'data.amount'],
  defaults: { team: 'ours', secret: 'default canary', stage: 'open' },
}
const type = 'deal'

let world: World
let policies: Awaited<ReturnType<typeof openPolicyEngine>>
let through: Through

beforeAll(async () => {
  world = await openWorld()
  const indexes = [{ fields: ['data.title', 'data.secret'], unique: true }]
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: SCHEMA, indexes }), 201)
  policies = await openPolicyEngine(world)
  through = await policies.through([POLICY])
})
afterAll(async () => {
  await policies.close()
  await world.close()
})

let a: string
let x: string
let serial = 0
beforeEach(async () => {
  a = `a${++serial}`
  x = `x${serial}`
  await put(a, { title: `t${a}`, stage: 'open', secret: 'canary', team: 'ours' })
  await put(x, { title: `t${x}`, stage: 'open', secret: 'canary', team: 'theirs' })
})

const path = '/v1/crm/records/deal'
const put = async (id: string, data: object, more = {}) =>
  succeed(await world.call('PUT', `${path}/${id}`, { data, ...more }), 201)
const stored = async (id: string) => (await world.call('GET', `${path}/${id}`)).body
const dataOf = async (id: string) => (await stored(id)).data
const expectUntouched = async (id: string) => expect((await stored(id)).version).toBe(1)

describe('Creating a record under a row-level policy', () => {
  test('applies defaults to missing properties, and returns visible fields only', {
    tags: 'full',
  }, async () => {
    const { body } = await through('create', { type, data: { title: `n${a}` } })
    expect(body).toMatchObject({ operation: 'created', version: 1 })
    expect(body.data).toEqual({ title: `n${a}`, stage: 'open' })
    expect(await dataOf(body.id)).toEqual({
      title: `n${a}`,
      stage: 'open',
      secret: 'default canary',
      team: 'ours',
    })
  })

  test('prefers sent values to defaults', async () => {
    const { body } = await through('create', { type, data: { title: `n${a}`, stage: 'won' } })
    expect(body.data.stage).toBe('won')
  })

  test('refuses a hidden property like an unknown one', async () => {
    const hidden = await through('create', { type, data: { secret: 'canary' } })
    const unknown = await through('create', { type, data: { zzzzzz: 'canary' } })
    expect(hidden.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/data/secret', code: 'unknown_field', allowed: ['title', 'stage', 'amount'] }],
    })
    expect(JSON.stringify(hidden.error?.details).replaceAll('secret', 'zzzzzz')).toBe(
      JSON.stringify(unknown.error?.details),
    )
  })

  test('refuses a record that the policy would hide, and writes nothing', async () => {
    const strict = await policies.through([
      { ...POLICY, filter: { field: 'data.amount', op: 'lt', value: 5 } },
    ])
    const { error } = await strict('create', { type, id: `o${a}`, data: { amount: 7 } })
    expect(error).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'out_of_bounds' }] })
    expect((await stored(`o${a}`)).error.code).toBe('NOT_FOUND')
    expect(await world.logOf(type, `o${a}`)).toEqual([])
  })

  test('reports a missing hidden property without its name', async () => {
    const bare = await policies.through([{ ...POLICY, defaults: { team: 'ours' } }])
    const { error } = await bare('create', { type, data: { title: 'x', amount: 'much' } })
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [
        { path: '/data/amount', code: 'type' },
        { path: '/data', code: 'hidden_properties' },
      ],
    })
    expect(JSON.stringify([error?.message, error?.details])).not.toMatch(/secret|canary/)
  })

  test('reports a unique index with a hidden field without its name', async () => {
    const { body } = await through('create', { type, data: { title: `n${a}` } })
    expect(body.version).toBe(1)
    const { error } = await through('create', { type, data: { title: `n${a}` } })
    expect(error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'hidden_properties' }] })
    expect(JSON.stringify([error?.message, error?.details])).not.toMatch(/secret|canary/)
  })

  test('is a conflict for an id or external id in use, whether or not that record is visible', async () => {
    for (const id of [a, x]) {
      const { error } = await through('create', { type, id, data: {} })
      expect(error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'exists' }] })
    }
    await put(`p${x}`, { secret: 'canary' }, { external_id: `e${x}` })
    const { error } = await through('create', { type, data: {}, externalId: `e${x}` })
    expect(error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'duplicate_external_id' }] })
    expect(JSON.stringify(error)).not.toContain(`p${x}`)
  })

  test('replays an idempotency key under the same policy, and is a conflict under another one', async () => {
    const args = { type, data: { title: `n${a}` }, key: `key-${a}` }
    const { body } = await through('create', args)
    expect((await through('create', args)).body).toEqual(body)
    const wider = await policies.through([{ recordType: type, filter: OURS }])
    expect((await wider('create', args)).error?.code).toBe('CONFLICT')
  })

  test('writes nothing in a dry run', async () => {
    const { body } = await through('create', { type, id: `d${a}`, data: {}, dryRun: true })
    expect(body).toMatchObject({ dryRun: true, data: { stage: 'open' } })
    expect((await stored(`d${a}`)).error.code).toBe('NOT_FOUND')
  })
})

describe('A PUT under a row-level policy', () => {
  test('replaces visible fields and keeps hidden ones', async () => {
    const { body } = await through('put', { type, id: a, data: { title: `u${a}` } })
    expect(body).toMatchObject({ operation: 'updated', version: 2, data: { title: `u${a}` } })
    expect(body.data).toEqual({ title: `u${a}` })
    expect(await dataOf(a)).toEqual({ title: `u${a}`, secret: 'canary', team: 'ours' })
  })

  test('with the same visible data changes nothing', async () => {
    const { body } = await through('put', { type, id: a, data: { title: `t${a}`, stage: 'open' } })
    expect(body).toMatchObject({ operation: 'unchanged', version: 1 })
  })

  test('of an absent record creates it with defaults', async () => {
    const { body } = await through('put', { type, id: `n${a}`, data: {} })
    expect(body).toMatchObject({ operation: 'created', data: { stage: 'open' } })
    expect(await dataOf(`n${a}`)).toMatchObject({ team: 'ours', secret: 'default canary' })
  })

  test('of a hidden record is 404, by id and by external id', async () => {
    await put(`p${x}`, { secret: 'canary', team: 'theirs' }, { external_id: `e${x}` })
    const byId = await through('put', { type, id: x, data: {} })
    const byPair = await through('putByPair', { type, data: {}, externalId: `e${x}` })
    const expected = await through('put', { type, id: x, data: {}, versions: [1] })
    const absent = await through('put', { type, id: `z${x}`, data: {}, versions: [1] })
    expect(byId.error?.code).toBe('NOT_FOUND')
    expect(byPair.error?.code).toBe('NOT_FOUND')
    expect(byPair.error?.message).not.toContain(`p${x}`)
    expect(JSON.stringify(expected.error).replaceAll(x, `z${x}`)).toBe(JSON.stringify(absent.error))
    await expectUntouched(x)
    await expectUntouched(`p${x}`)
  })

  test('by external id creates and updates visible records', async () => {
    const made = await through('putByPair', { type, data: { title: `m${a}` }, externalId: `e${a}` })
    expect(made.body).toMatchObject({ operation: 'created', data: { stage: 'open' } })
    const again = await through('putByPair', { type, data: { title: `m2${a}` }, externalId: `e${a}` })
    expect(again.body).toMatchObject({ operation: 'updated', id: made.body.id, data: { title: `m2${a}` } })
    expect(await dataOf(made.body.id)).toMatchObject({ secret: 'default canary', team: 'ours' })
    const clash = await through('put', { type, id: a, data: {}, externalId: `e${a}` })
    expect(clash.error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'duplicate_external_id' }] })
  })

  test('obeys the expected version', async () => {
    const { error } = await through('put', { type, id: a, data: {}, versions: [7] })
    expect(error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'version_mismatch' }] })
    expect((await through('put', { type, id: a, data: {}, versions: [1] })).body.version).toBe(2)
  })

  test('that would hide the record is refused', async () => {
    const small = await policies.through([
      { recordType: type, filter: { field: 'data.stage', op: 'neq', value: 'won' }, fields: ['data.stage'] },
    ])
    const { error } = await small('put', { type, id: a, data: { stage: 'won' } })
    expect(error).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'out_of_bounds' }] })
    await expectUntouched(a)
  })

  test('by concurrent requests creates one record, and all of them succeed', { tags: 'full' }, async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => through('put', { type, id: `c${a}`, data: { amount: n } })),
    )
    expect(all.map(({ error }) => error?.message).filter(Boolean)).toEqual([])
    const { version, data } = await stored(`c${a}`)
    expect(all.map(({ body }) => body.version).sort()).toContain(version)
    expect(data).toMatchObject({ team: 'ours', secret: 'default canary' })
    expect(all.filter(({ body }) => body.operation === 'created')).toHaveLength(1)
  })
})

describe('A patch under a row-level policy', () => {
  test('is merged into the visible fields', { tags: 'full' }, async () => {
    const { body } = await through('patch', { type, id: a, merge: { stage: null, amount: 4 } })
    expect(body).toMatchObject({ version: 2, data: { title: `t${a}`, amount: 4 } })
    expect(await dataOf(a)).toEqual({ title: `t${a}`, amount: 4, secret: 'canary', team: 'ours' })
  })

  test.each([[{ secret: null }], [{ secret: 'default canary' }], [{ team: { deep: 1 } }]])(
    'is refused if it names hidden fields: %j',
    async (merge) => {
      const { error } = await through('patch', { type, id: a, merge })
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ code: 'unknown_field' }] })
      await expectUntouched(a)
    },
  )

  test.each([
    ['test', [{ op: 'test', path: '/data/secret', value: 'canary' }]],
    ['remove', [{ op: 'remove', path: '/data/secret' }]],
    ['replace', [{ op: 'replace', path: '/data/secret', value: 'default canary' }]],
    ['add', [{ op: 'add', path: '/data/secret', value: 'default canary' }]],
    ['copy', [{ op: 'copy', from: '/data/secret', path: '/data/title' }]],
    ['move', [{ op: 'move', from: '/data/secret', path: '/data/title' }]],
  ])('treats a hidden field like an absent one in the JSON Patch operation %s', async (_op, operations) => {
    const { error } = await through('patch', { type, id: a, operations })
    const named = JSON.parse(JSON.stringify(operations).replaceAll('secret', 'zzzzzz'))
    const unknown = await through('patch', { type, id: a, operations: named })
    expect(error?.code).toBe(unknown.error?.code)
    expect(JSON.stringify(error?.details).replaceAll('secret', 'zzzzzz')).toBe(
      JSON.stringify(unknown.error?.details),
    )
    await expectUntouched(a)
  })

  test('that replaces the whole data keeps hidden fields', async () => {
    const operations = [
      { op: 'test', path: '/data', value: { title: `t${a}`, stage: 'open' } },
      { op: 'replace', path: '/data', value: { title: `r${a}` } },
    ]
    const { body } = await through('patch', { type, id: a, operations })
    expect(body.data).toEqual({ title: `r${a}` })
    expect(await dataOf(a)).toEqual({ title: `r${a}`, secret: 'canary', team: 'ours' })
  })

  test('of a hidden record is answered like that of an absent one', async () => {
    for (const args of [
      { merge: { title: 'mine' } },
      { merge: { title: 'mine' }, versions: [9] },
      { operations: [] },
    ]) {
      const outside = await through('patch', { type, id: x, ...args })
      const absent = await through('patch', { type, id: `z${x}`, ...args })
      expect(outside.error?.code).toBe('NOT_FOUND')
      expect(outside.error?.message.replaceAll(x, `z${x}`)).toBe(absent.error?.message)
      expect(outside.error?.details).toEqual(absent.error?.details)
    }
    await expectUntouched(x)
  })
})

describe('Under a row-level policy', () => {
  test('cancel, restore and delete of a hidden record are answered like those of an absent one', async () => {
    for (const name of ['cancel', 'restore', 'remove'] as const) {
      const outside = await through(name, { type, id: x })
      const absent = await through(name, { type, id: `z${x}` })
      expect(outside.error?.code, name).toBe('NOT_FOUND')
      expect(outside.error?.message.replaceAll(x, `z${x}`)).toBe(absent.error?.message)
    }
    await expectUntouched(x)
  })

  test('a cancel that would hide the record is refused', async () => {
    expect((await through('cancel', { type, id: a })).error).toMatchObject({ code: 'FORBIDDEN' })
    await expectUntouched(a)
  })

  test('cancel, restore and delete of a visible record return visible fields only', async () => {
    const ours = await policies.through([{ ...POLICY, filter: OURS }])
    const cancelled = await ours('cancel', { type, id: a })
    expect(cancelled.body).toMatchObject({ status: 'cancelled', version: 2 })
    expect(cancelled.body.data).toEqual({ title: `t${a}`, stage: 'open' })
    const restored = await ours('restore', { type, id: a })
    expect(restored.body).toMatchObject({ status: 'active', data: { title: `t${a}`, stage: 'open' } })
    expect((await ours('remove', { type, id: a, versions: [1] })).error?.code).toBe('CONFLICT')
    expect((await ours('remove', { type, id: a })).body).toEqual({ id: a, deleted: true })
    // Under a policy, deleted records cannot be restored.
    expect((await ours('restore', { type, id: a })).error?.code).toBe('NOT_FOUND')
  })

  test('a deletion that cascades to a hidden record is refused', { tags: 'full' }, async () => {
    const rel = { source_record_types: ['deal'], target_record_types: ['deal'], on_delete: 'cascade' }
    succeed(await world.call('PUT', `/v1/crm/relationship-types/part${serial}`, rel), 201)
    const link = (source: string) => ({
      rel_type: `part${serial}`,
      ...{ source_record_type: type, source_id: source, target_record_type: type, target_id: a },
    })
    succeed(await world.call('PUT', '/v1/crm/relationships', link(x)), 201)
    expect((await through('remove', { type, id: a })).error).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ code: 'out_of_bounds' }],
    })
    await expectUntouched(x)
    await expectUntouched(a)
    expect(
      (await world.call('PUT', `${path}/${x}`, { data: { secret: 'canary', team: 'ours' } })).status,
    ).toBe(200)
    expect((await through('remove', { type, id: a })).body.deleted).toBe(true)
    expect((await stored(x)).error.code).toBe('NOT_FOUND')
  })
})

describe('An aggregation under a row-level policy', () => {
  test('counts visible records only, and refuses hidden fields', async () => {
    const only = await policies.through([
      { ...POLICY, filter: { and: [OURS, { field: 'id', op: 'eq', value: a }] } },
    ])
    const counted = await only('aggregate', {
      type,
      aggregations: [{ fn: 'count' }],
      groupBy: ['data.stage'],
    })
    expect(counted.body.rows).toEqual([{ 'data.stage': 'open', count: 1 }])
    for (const args of [
      { aggregations: [{ fn: 'max', field: 'data.secret' }] },
      { aggregations: [{ fn: 'count' }], groupBy: ['data.secret'] },
      { aggregations: [{ fn: 'count' }], groupBy: ['data'] },
      { aggregations: [{ fn: 'min', field: 'data' }] },
      { aggregations: [{ fn: 'count' }], filter: { field: 'data.team', op: 'is_not_null' } },
    ]) {
      const { error } = await only('aggregate', { type, ...args })
      expect(error?.details[0]?.code).toBe('unknown_field')
    }
  })
})
