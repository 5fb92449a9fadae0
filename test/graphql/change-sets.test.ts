import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
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
