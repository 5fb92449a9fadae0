import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const SCHEMA = { json_schema: { type: 'object', properties: { stage: { type: 'string' } } } }
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', SCHEMA), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: { stage: 'open' } }), 201)
})
afterAll(() => world.close())

const send = async (query: string, variables: object = {}) =>
  (await world.call('POST', '/graphql', { query, variables })).body

test('a document reads and writes production and a change-set side by side', async () => {
  const opened = await send(
    'mutation { createPreview(base: "crm", input: { name: "fix", copy: "on_write", title: "Try" }) { id changeSet { title status revision counts } } }',
  )
  expect(opened.data.createPreview).toEqual({
    id: 'crm--fix',
    changeSet: { title: 'Try', status: 'open', revision: 0, counts: { create: 0, update: 0, delete: 0 } },
  })
  const written = await send(
    'mutation { putRecord(base: "crm--fix", recordType: "deal", id: "d1", data: { stage: "won" }) { version data } }',
  )
  expect(written.data.putRecord).toEqual({ version: 2, data: { stage: 'won' } })
  expect(written.extensions).toEqual({ changeSet: 'crm--fix' })
  const read = await send(`{
    here: record(base: "crm--fix", recordType: "deal", id: "d1") { data }
    there: record(base: "crm", recordType: "deal", id: "d1") { data }
    proposal(base: "crm", from: "crm--fix") { revision summary }
  }`)
  expect(read.extensions).toBeUndefined()
  expect(read.data).toEqual({
    ...{ here: { data: { stage: 'won' } }, there: { data: { stage: 'open' } } },
    proposal: { revision: 1, summary: { create: 0, update: 1, delete: 0 } },
  })
})

test('a field that is no part of change-sets is refused, and writes nothing', async () => {
  for (const document of [
    'mutation { putRecordType(base: "crm--fix", id: "x", input: {}) { id } }',
    'mutation { claimRecords(base: "crm--fix", recordType: "deal") { limit } }',
    'mutation { revertChanges(base: "crm--fix", last: true) { count } }',
  ]) {
    const { errors } = await send(document)
    const { code, details } = errors[0].extensions ?? {}
    // One that does not validate would prove nothing.
    expect({ document, code, detail: details?.[0]?.code }).toEqual({
      ...{ document, code: 'FORBIDDEN', detail: 'not_in_change_sets' },
    })
  }
  const types = await world.database.query('SELECT base_id, id FROM plinth.record_type')
  expect(types).toEqual([{ base_id: 'crm', id: 'deal' }])
})

describe('the typed schema of its address', () => {
  const at = async (base: string, query: string, as = world.call) =>
    (await as('POST', `/graphql/${base}`, { query })).body
  const READ = '{ deal(id: "d1") { id _version } dealRecords { totalCount } }'

  test('is that of production without what a change-set has not, and its requests run there', async () => {
    const text = (await world.call('GET', '/graphql/crm--fix/schema.graphql')).text
    expect(text).toContain('updateDeal(')
    expect(text).not.toMatch(/claimDeal|attachDeal|dealChanges|_history/)
    expect((await world.call('GET', '/graphql/crm/schema.graphql')).text).toMatch(/claimDeal/)
    const written = await at('crm--fix', 'mutation { createDeal(id: "typed", data: {}) { deal { id } } }')
    expect(written).toEqual({
      data: { createDeal: { deal: { id: 'typed' } } },
      extensions: { changeSet: 'crm--fix' },
    })
    const dry = 'mutation { deleteDeal(id: "d1", dryRun: true) { id } }'
    expect((await at('crm--fix', dry)).data).toEqual({ deleteDeal: { id: 'd1' } })
    for (let n = 0; n < 3; n++) {
      expect((await at('crm--fix', READ)).data).toMatchObject({
        deal: { _version: 2 },
        dealRecords: { totalCount: 2 },
      })
      expect((await at('crm', READ)).data).toMatchObject({
        deal: { _version: 1 },
        dealRecords: { totalCount: 1 },
      })
    }
    await at('crm--fix', 'mutation { deleteDeal(id: "typed") { id } }')
    const page = await world.call('GET', '/graphql/crm--fix', undefined, { accept: 'text/html' })
    expect(page.headers.get('content-type')).toContain('text/html')
  })

  test('of production: a token that proposes writes into its change-set there', async () => {
    const { call } = await world.newToken([{ permission: 'write', writes: 'propose' }])
    const open = async () =>
      (succeed(await world.call('GET', '/v1/crm/previews')).data as { id: string }[]).length
    const before = await open()
    expect((await at('crm', READ, call)).data).toMatchObject({ deal: { _version: 1 } })
    expect(await open()).toBe(before)
    for (const query of [
      'query Q { __typename } mutation M { updateDeal(id: "d1", data: { stage: "a" }) { deal { _version } } }',
      '#x\nmutation M{updateDeal(id:"d1",data:{stage:"b"}){deal{_version}}}',
    ])
      await call('POST', '/graphql/crm', { query, operationName: 'M' })
    expect(await open()).toBe(before + 1)
    expect((await at('crm', READ, call)).data).toMatchObject({ deal: { _version: 3 } })
    expect((await at('crm', READ)).data).toMatchObject({ deal: { _version: 1 } })
  })
})

test('promote and discard take the documents of REST', async () => {
  await send('mutation { createRecord(base: "crm--fix", recordType: "deal", id: "d2", data: {}) { id } }')
  const gone = await send(
    'mutation { discardChanges(base: "crm--fix", resources: [{ kind: "record", record_type: "deal", id: "d2" }]) { revision changes } }',
  )
  expect(gone.data.discardChanges.changes).toMatchObject([{ id: 'deal/d2', op: 'create' }])
  await send(
    'mutation { putRecord(base: "crm", recordType: "deal", id: "d1", data: { stage: "lost" }) { id } }',
  )
  const resolve = [{ record_type: 'deal', id: 'd1', take: 'preview' }]
  const done = await send(
    'mutation P($resolve: JSON) { promote(base: "crm", from: "crm--fix", resolve: $resolve) { changes } }',
    { resolve },
  )
  expect(done.data.promote.changes).toMatchObject([{ kind: 'record', id: 'deal/d1', op: 'update' }])
  const read = await send(
    '{ record(base: "crm", recordType: "deal", id: "d1") { data } base(id: "crm--fix") { changeSet { status } } }',
  )
  expect(read.data).toEqual({ record: { data: { stage: 'won' } }, base: { changeSet: { status: 'merged' } } })
})

test('promote takes a deletion that grew once `resolve` says so', async () => {
  const types = { source_record_types: ['deal'], target_record_types: ['deal'], on_delete: 'cascade' }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/parent', types), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/grows', { data: {} }), 201)
  await send('mutation { createPreview(base: "crm", input: { name: "grown", copy: "on_write" }) { id } }')
  await send('mutation { deleteRecord(base: "crm--grown", recordType: "deal", id: "grows") { id } }')
  const relationships = [{ rel_type: 'parent', record_type: 'deal', id: 'grows' }]
  succeed(await world.call('PUT', '/v1/crm/records/deal/child', { data: {}, relationships }), 201)
  const promote = (resolve: object[]) =>
    send(
      'mutation P($resolve: JSON) { promote(base: "crm", from: "crm--grown", resolve: $resolve) { changes } }',
      { resolve },
    )
  const refused = await promote([])
  expect(refused.errors[0].extensions.details).toMatchObject([{ path: '/deal/grows', code: 'cascade_grew' }])
  succeed(await world.call('GET', '/v1/crm/records/deal/grows'))
  const done = await promote([{ record_type: 'deal', id: 'grows', take: 'preview' }])
  expect(done.data.promote.changes).toMatchObject([{ id: 'deal/grows', op: 'delete' }])
  for (const id of ['grows', 'child'])
    expect((await world.call('GET', `/v1/crm/records/deal/${id}`)).status).toBe(404)
})
