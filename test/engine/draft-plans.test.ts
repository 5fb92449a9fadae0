// @module-tag full
/** Statements over drafts ask for each by its key, also while PostgreSQL knows nothing of a new change-set. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../support/query-plans.ts'
import { openWorld, type World } from '../support/world.ts'

const RECORDS = 1000

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const table of ['change', 'record', 'draft_record', 'draft_change', 'draft_index'])
    await world.database.query(`ALTER TABLE plinth.${table} SET (autovacuum_enabled = off)`)
  const type = { indexes: [{ fields: ['data.n'] }] }
  succeed(await world.call('PUT', '/v1/crm/record-types/t', type), 201)
  await write('crm', 'upsert_record')
  // The statistics know another change-set.
  await write(await open(), 'patch_record')
  await world.database.query('ANALYZE')
})
afterAll(() => world.close())

let count = 0
const open = async () => succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
const write = async (base: string, type: string) => {
  count++
  const operations = times(RECORDS, (n) => ({
    ...{ type, record_type: 't', id: `r${n}` },
    data: { n: count + n },
  }))
  succeed(await world.call('POST', `/v1/${base}/batch`, { operations }))
}

test('drafts are written, merged and dropped by key without statistics of them', async () => {
  const id = await open()
  await write(id, 'patch_record')
  const ran = await statementsOf(async () => {
    await write(id, 'patch_record')
    succeed(
      await world.call('POST', '/v1/crm/promote', {
        from: id,
        resources: [{ kind: 'record', record_type: 't', id: 'r1' }],
      }),
    )
  })
  // Statements over drafts read whose they are from the connection.
  await world.database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET plinth.change_set = ''${id}''', current_database()); END $$`,
  )
  const planOf = async (part: string) => {
    const found = ran.find(({ text }) => text.includes(part)) as RanStatement
    expect(found, part).toBeDefined()
    return (await explain(world.database, found)).text
  }
  const replaced = await planOf('UPDATE plinth_draft.record r')
  expect(replaced).toContain('draft_record_pkey')
  expect(replaced).not.toContain('draft_record_row_no')
  expect(await planOf('INSERT INTO plinth.proposed_change'), 'asked for each entry').toContain('"Limit"')
  expect(await planOf('DELETE FROM plinth.draft_index'), 'looked up in a hash').toContain('hashed SubPlan')
})
