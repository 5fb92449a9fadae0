import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryOfProcess } from '../../../src/postgres/launch.ts'
import { succeed } from '../../support/answers.ts'
import { settled } from '../../support/indexes.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const properties = { title: { type: 'string' } }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: { properties } }), 201)
  const data = { title: 'datacanary' }
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data }), 201)
})
afterAll(() => world.close())

const sql = (query: string, more: object = {}) => world.call('POST', '/v1/crm/sql', { query, ...more })
/** An expression for a text of half a gigabyte. */
const HUGE = `replace(replace(replace(lpad('', 1000, 'a'), 'a', lpad('', 1000, 'a')), 'a', lpad('', 500, 'a')), 'b', 'bb')`
const HUNGRY = [
  `SELECT length(a || b) AS n FROM (SELECT ${HUGE} AS a, ${HUGE} AS b) x`,
  `WITH x AS MATERIALIZED (SELECT ${HUGE} AS t FROM generate_series(1, 40)) SELECT sum(length(t)) AS n FROM x`,
  `SELECT length(string_agg(rpad('x', 1000), '')) AS n FROM generate_series(1, 1000) a, generate_series(1, 2000) b`,
  `SELECT length(concat(${HUGE}, ${HUGE})) AS n`,
]

// The operator of an external database sets its memory limits. Processes are limited on Linux only.
describe.skipIf(process.env['DATABASE_URL'] !== undefined || process.platform !== 'linux')(
  'the embedded PostgreSQL server',
  () => {
    test('refuses a statement that needs too much memory, and survives it', { tags: 'full' }, async () => {
      const checkpointer = () =>
        world.database.query(`SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`)
      const begun = await checkpointer()
      expect(begun).toHaveLength(1)
      for (const query of HUNGRY) {
        const { status, body } = await sql(query)
        expect(status, query).toBe(400)
        expect(body.error.details[0]).toMatchObject({ path: '/query', code: 'too_complex' })
      }
      const two = await Promise.all([sql(HUNGRY[0] ?? ''), sql(HUNGRY[1] ?? '')])
      expect(two.map(({ status }) => status)).toEqual([400, 400])
      // If the kernel had killed a process, PostgreSQL would have restarted all of them.
      expect(await checkpointer()).toEqual(begun)
      expect(succeed(await sql('SELECT title FROM deal')).data).toEqual([{ title: 'datacanary' }])
    })

    test('processes a batch of the largest size within its memory limit', { tags: 'full' }, async () => {
      const text = Array.from({ length: 1100 }, (_, i) => `word${i}`).join(' ')
      const operations = Array.from({ length: 1000 }, (_, i) => ({
        type: 'create_record',
        record_type: 'deal',
        data: { title: text, n: i },
      }))
      const answer = await world.call('POST', '/v1/crm/batch', { operations })
      expect(answer.status, answer.text.slice(0, 300)).toBe(200)
      const indexes = [{ fields: ['data.title'] }, { fields: ['data.n'] }]
      succeed(await world.call('PATCH', '/v1/crm/record-types/deal', { indexes }))
      const built: Body[] = await settled(world, 'deal')
      expect(built.map(({ status }) => status)).toEqual(['ready', 'ready'])
    })

    test('processes a batch of very many numbers within its memory limit', { tags: 'full' }, async () => {
      const operations = Array.from({ length: 900 }, (_, i) => ({
        type: 'upsert_record',
        record_type: 'deal',
        id: `dense${i}`,
        data: { numbers: Array.from({ length: 1100 }, (_, n) => 100 + ((n + i) % 900)) },
      }))
      const answer = await world.call('POST', '/v1/crm/batch', { operations })
      expect(answer.status, answer.text.slice(0, 300)).toBe(200)
      expect(answer.body.meta.count).toBe(900)
    })

    test('logs neither SQL texts nor the data of records', { tags: 'full' }, async () => {
      const queries: [string, object?][] = [
        [`SELECT 'sqlcanary'::int AS n`],
        [`SELECT title::int AS n FROM deal WHERE id = 'd1'`],
        ['SELECT $1::text::date AS d', { params: ['sqlcanary'] }],
        [`SELECT to_date('sqlcanary', 'YYYY') AS d`],
        [`SELECT 'sqlcanary' AS a, length(a || b) AS n FROM (SELECT ${HUGE} AS a, ${HUGE} AS b) x`],
        [`SELECT jsonb_path_query('{}', 'strict $.sqlcanary') AS x`],
      ]
      for (const [query, more] of queries) expect((await sql(query, more)).status, query).toBe(400)
      const filter = { field: 'data.title', op: 'like', value: 'sqlcanary\\' }
      expect((await world.call('POST', '/v1/crm/records/deal/query', { filter })).status).toBe(400)
      const [row] = await world.database.query<{ data_directory: string }>('SHOW data_directory')
      const log = readFileSync(join(dirname(row?.data_directory ?? ''), 'postgres.log'), 'utf8')
      expect(log).toContain('database system is ready')
      expect(log).not.toMatch(/sqlcanary|datacanary/i)
    })
  },
)

test('the memory limit of a PostgreSQL process scales with the machine, between 192 and 384 MiB', () => {
  const gibibyte = 1024 ** 3
  const limits: Body = [0.5, 1, 1.25, 64].map((size) => memoryOfProcess(size * gibibyte) / 1024 ** 2)
  expect(limits).toEqual([192, 256, 320, 384])
})
