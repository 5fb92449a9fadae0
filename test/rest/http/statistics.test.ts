/** A background job analyzes tables after many writes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  // Autovacuum may analyze the tables first; then nothing is left for the job.
  for (const table of ['record', 'record_index', 'change'])
    await world.database.query(`ALTER TABLE plinth.${table} SET (autovacuum_enabled = off)`)
})
afterAll(() => world.close())

const analyzed = async () => {
  const rows = await world.database.query<{ relname: string }>(
    `SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'plinth' AND last_analyze IS NOT NULL ORDER BY 1`,
  )
  return rows.map(({ relname }) => relname)
}

test('the tables that grew are analyzed, and no others', { tags: 'full' }, async () => {
  const type = await world.newType({ indexes: [{ fields: ['data.n'] }] })
  expect(await analyzed()).toEqual([])
  const operations = times(1000, (n) => ({
    type: 'upsert_record',
    record_type: type,
    id: `r${n}`,
    data: { n },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  await expect
    .poll(analyzed, { timeout: 25_000, interval: 100 })
    .toEqual(['change', 'record', 'record_index'])
})

test('columns that no query plan uses have no planner statistics', async () => {
  const rows = await world.database.query<{ name: string }>(
    `SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attstattarget = 0 AND a.attnum > 0 AND NOT a.attisdropped AND c.relnamespace = 'plinth'::regnamespace ORDER BY 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual([
    'change.call',
    'change.data',
    'draft_record.base',
    'draft_record.data',
    'record.data',
    'record_text.words',
    'record_text_words.search_keys',
    'relationship.data',
  ])
})
