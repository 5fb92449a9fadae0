import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFault } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  const properties = { status: { type: 'string' }, amount: { type: 'number' } }
  const json_schema = { type: 'object', properties, additionalProperties: false }
  at = `/v1/crm/records/${await world.newType({ json_schema })}`
})
afterAll(() => world.close())

const query = (body: object) => world.call('POST', `${at}/query`, body)
const eq = (field: string) => ({ filter: { field, op: 'eq', value: 'x' } })

test('a hint for a field names only what the type has', { tags: 'full' }, async () => {
  const near = expectFault(await query(eq('staus')), '/filter/field')
  expect(JSON.parse(near.hint)).toEqual({ field: 'data.status', op: 'eq', value: 'x' })
  expect(near.allowed).toEqual(expect.arrayContaining(['status', 'data.status', 'data.amount']))
  const through = expectFault(await query(eq('requested_by.data.plan')), '/filter/field')
  expect(through).not.toHaveProperty('hint')
  expect(through.message).toContain('A filter reaches linked records through a relationship type')
  const right = expectFault(await query(eq('amount')), '/filter/field')
  expect(JSON.parse(right.hint).field).toBe('data.amount')
  const none = expectFault(await query({ fields: ['subject'] }), '/fields')
  expect(none).not.toHaveProperty('hint')
  const open = `/v1/crm/records/${await world.newType()}/query`
  expect(
    JSON.parse(expectFault(await world.call('POST', open, eq('staus')), '/filter/field').hint).field,
  ).toBe('data.staus')
})

test('the name of a relationship type leads to the linked record, not to a property', {
  tags: 'full',
}, async () => {
  const source = await world.newType({ json_schema: { type: 'object', properties: { subject: {} } } })
  const target = await world.newType()
  const rel = `${source}_owner`
  await world.call('PUT', `/v1/crm/relationship-types/${rel}`, {
    source_record_types: [source],
    target_record_types: [target],
  })
  const faultOf = async (type: string, filter: object, path = '/filter/field') =>
    expectFault(await world.call('POST', `/v1/crm/records/${type}/query`, { filter }), path)
  const meant = async (type: string, field: string) => {
    const { message, hint } = await faultOf(type, eq(field).filter)
    expect(message).toContain('is no field of the record itself')
    return hint.startsWith('{') ? JSON.parse(hint).field : hint
  }
  expect(await meant(source, `${rel}.name`)).toBe(`${rel}.data.name`)
  expect(await meant(source, rel)).toBe(`${rel}.id`)
  expect(await meant(target, `${rel}.name`)).toBe(`~${rel}.data.name`)
  expect(await meant(source, `${target}.name`)).toBe(`${rel}.data.name`)
  expect(await meant(target, `${source}.data.name`)).toBe(`~${rel}.data.name`)
  const narrow = await world.newToken([{ record_type: source, permission: 'read' }])
  const hidden = await narrow.call('POST', `/v1/crm/records/${source}/query`, eq(`${target}.name`))
  expect(JSON.stringify(hidden.body.error)).not.toContain(rel)
  const object = await faultOf(source, { [rel]: 'x' }, `/filter/${rel}`)
  expect(JSON.parse(object.hint)).toEqual({ field: `${rel}.id`, op: 'eq', value: 'x' })
  const sorted = await world.call('POST', `/v1/crm/records/${source}/query`, { sort: `${rel}.name` })
  expect(expectFault(sorted, '/sort')).not.toHaveProperty('hint')
  const put = await world.call('PUT', `/v1/crm/records/${source}/a`, { data: { subject: 's', [rel]: 'b' } })
  expect(put.body.meta.warnings).toEqual([expect.stringContaining('To link, send "relationships"')])
})

test('an unknown type is 400 by its shape before it is 404', async () => {
  expectFault(await world.call('POST', '/v1/crm/records/nothing/query', eq('staus')), '/filter/field')
})

test('a hint for a sort keeps its direction', async () => {
  for (const [sort, meant] of [
    ['created_at:desc', '-created_at'],
    ['amount desc, created_at asc', '-data.amount,created_at'],
    [[{ created_at: 'desc' }], '-created_at'],
    [{ amount: -1 }, undefined],
  ] as const) {
    const { details } = (await query({ sort })).body.error
    expect(details[0].hint, JSON.stringify(sort)).toBe(meant)
  }
})

test('a function of an aggregate has the hint that is meant, or none', async () => {
  const hintOf = async (fn: string) => {
    const body = { aggregations: [{ fn, field: 'data.amount' }] }
    return expectFault(await world.call('POST', `${at}/aggregate`, body), '/aggregations/0/fn').hint
  }
  expect(await Promise.all(['median', 'average', 'total', 'maxx', 'distinct'].map(hintOf))).toEqual([
    undefined,
    'avg',
    'sum',
    'max',
    'count_distinct',
  ])
})

test('a property that a closed schema does not have is named by its whole field, where it is near', async () => {
  const closed = (properties: object) => ({ type: 'object', properties, additionalProperties: false })
  const json_schema = closed({
    stage: { type: 'string' },
    address: closed({ 'zip-code': { type: 'string' } }),
  })
  const open = `/v1/crm/records/${await world.newType({ json_schema })}/query`
  const faultOf = async (body: object, at: string) => expectFault(await world.call('POST', open, body), at)
  const near = await faultOf(eq('data.stge'), '/filter/field')
  expect(near).toMatchObject({ hint: 'data.stage', allowed: ['stage', 'address'] })
  expect(near.message).toContain('Did you mean data.stage?')
  expect(await faultOf(eq('data.address.zip-kode'), '/filter/field')).toMatchObject({
    hint: 'data.address.zip-code',
    allowed: ['zip-code'],
  })
  expect(await faultOf({ sort: '-data.stge' }, '/sort')).toMatchObject({ hint: 'data.stage' })
  const far = await faultOf({ fields: ['data.xyzzy'] }, '/fields')
  expect(far).not.toHaveProperty('hint')
  expect(far.message).not.toContain('Did you mean')
})
