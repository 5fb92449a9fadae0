// @module-tag full
/** SQL that writes beside other writers, changed schemas, and a killed server. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { cases } from '../../support/cases.ts'
import { startChild } from '../../support/child-server.ts'
import { type Holding, holdOpen } from '../../support/holding.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type = ''
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  type = await world.newType(schemaOf({ type: 'number' }))
  const operations = times(10, (n) => ({
    type: 'create_record',
    record_type: type,
    id: `r${n}`,
    data: { n: 0, old: n },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
})

const schemaOf = (n: object) => ({ json_schema: { properties: { n, old: { type: 'integer' } } } })
const run = (statements: string, more: object = {}): Promise<Answer> =>
  world.call('POST', '/v1/crm/sql/execute', { statements, ...more })
const values = async (): Promise<number[]> =>
  succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`)).data.map(({ data }: Body) => data.n)
/** Waits until a writer is blocked by the locks of the other transaction. */
const blocked = (other: Holding) =>
  vi.waitFor(async () => expect(await other.waiting()).not.toEqual([]), { timeout: 20_000 })

test('writers of the same rows in opposite order both take effect, once each', {}, async () => {
  const add = (id: string) => `UPDATE ${type} SET n = n + 1 WHERE id = '${id}'`
  const forth = times(10, (n) => add(`r${n}`)).join(';')
  const back = times(10, (n) => add(`r${9 - n}`)).join(';')
  // A machine under load may answer that the writes met too often. A client then sends again.
  const write = async (statements: string) => {
    const answer = await run(statements)
    if (answer.status !== 409) return succeed(answer)
    expect(expectFailure(answer, 'CONFLICT').message).toContain('Send the request again')
    return write(statements)
  }
  const rounds = cases(6)
  for (let round = 0; round < rounds; round++) await Promise.all([write(forth), write(back)])
  expect(await values()).toEqual(times(10, () => 2 * rounds))
})

test('rows that change at each look are a 409 that names them and says what to do', async () => {
  // A view that shows another version than the table: no look is ever the last.
  const [view] = await world.database.query<{ text: string }>(
    `SELECT pg_get_viewdef('plinth_sql.record'::regclass) AS text`,
  )
  const text = view?.text ?? ''
  const moving = text.replace(/\bversion,/, 'version + 1 AS version,')
  expect(moving).not.toBe(text)
  await world.database.query(`CREATE OR REPLACE VIEW plinth_sql.record WITH (security_barrier) AS ${moving}`)
  const answers = [
    await run(`SELECT 1 AS one; UPDATE ${type} SET n = 1 WHERE id < 'r3'`),
    await run(`SELECT 1 AS one; DELETE FROM ${type} WHERE id < 'r3'`),
  ]
  await world.database.query(`CREATE OR REPLACE VIEW plinth_sql.record WITH (security_barrier) AS ${text}`)
  for (const answer of answers) {
    const { message, details } = expectFailure(answer, 'CONFLICT')
    expect(message).toMatch(/^Statement 1: .*"r0" and 2 more.*Nothing was written\. Send the request again/)
    expect(details).toMatchObject(
      times(3, (n) => ({
        path: `/statements/1/r${n}`,
        code: 'version_mismatch',
        received: `r${n}`,
        hint: expect.stringMatching(/again/),
      })),
    )
  }
  expect(await values()).toEqual(times(10, () => 0))
})

test('rows are written under the schema that holds when they are locked, not when they were read', async () => {
  const other = await holdOpen(world.database)
  await other.query(`SELECT 1 FROM plinth.record_type WHERE base_id = 'crm' AND id = $1 FOR UPDATE`, [type])
  const writing = run(`UPDATE ${type} SET n = 7`)
  await blocked(other)
  await other.query(
    `UPDATE plinth.record_type SET json_schema = $2, revision = revision + 1, version = version + 1
     WHERE base_id = 'crm' AND id = $1`,
    [type, JSON.stringify(schemaOf({ type: 'number', maximum: 5 }).json_schema)],
  )
  await other.end('COMMIT')
  const { message } = expectFailure(await writing, 'VALIDATION_ERROR')
  expect(message).toMatch(/Statement 0: .*r0/)
  expect(await values()).toEqual(times(10, () => 0))
})

test('a type that is deleted between reading and writing leaves nothing written', async () => {
  const other = await holdOpen(world.database)
  await other.query(`SELECT 1 FROM plinth.record_type WHERE base_id = 'crm' AND id = $1 FOR UPDATE`, [type])
  const writing = run(`INSERT INTO ${type} (id, n) VALUES ('new', 1); UPDATE ${type} SET n = 7`)
  await blocked(other)
  await other.query(`DELETE FROM plinth.record WHERE base_id = 'crm' AND record_type = $1`, [type])
  await other.query(`DELETE FROM plinth.record_type WHERE base_id = 'crm' AND id = $1`, [type])
  await other.end('COMMIT')
  expect([400, 404]).toContain((await writing).status)
  const left = `SELECT 1 FROM plinth.record WHERE base_id = 'crm' AND record_type = $1`
  expect(await world.database.query(left, [type])).toEqual([])
})

test('a plan is void when the schema changed what its statements mean', async () => {
  const { plan_token } = succeed(await run(`DELETE FROM ${type} WHERE old > 3`))
  const migration = [{ op: 'rename', field: 'data.old', to: 'data.fresh' }]
  const json_schema = { properties: { n: {}, fresh: { type: 'integer' } } }
  const path = `/v1/crm/record-types/${type}?migrate=true`
  succeed(await world.call('PUT', path, { json_schema, migration }))
  const confirmed = await run('', { statements: undefined, plan_token })
  expect(expectFault(confirmed, '/statements/0')).toMatchObject({ code: 'unknown_column' })
  const again = succeed(await run(`DELETE FROM ${type} WHERE fresh > 3`))
  succeed(await world.call('PATCH', `/v1/crm/records/${type}/r5`, { data: { fresh: 0 } }))
  const stale = await run('', { statements: undefined, plan_token: again.plan_token })
  expect(expectFailure(stale, 'CONFLICT').details[0]).toMatchObject({ code: 'plan_stale' })
  expect(await values()).toHaveLength(10)
})

test('a server killed during requests leaves each written completely or not at all', {}, async () => {
  const child = await startChild(world)
  const answered: string[] = []
  const send = async (name: string) => {
    const statements = `INSERT INTO ${type} (id, old) SELECT '${name}-' || i, i FROM generate_series(1, 200) AS i;
      UPDATE ${type} SET n = 1 WHERE id LIKE '${name}-%'`
    await child.call('POST', '/v1/crm/sql/execute', { statements })
    answered.push(name)
    if (answered.length === 3) await child.kill()
  }
  const outcomes = await Promise.allSettled(times(16, (n) => send(`k${n}`)))
  expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
  // One statement: PostgreSQL may still be committing transactions of the killed server.
  const rows = await world.database.query<{ name: string; count: number; done: number; entries: number }>(
    `SELECT split_part(id, '-', 1) AS name, count(*)::int AS count, count(*) FILTER (WHERE data ->> 'n' = '1')::int AS done,
       (SELECT count(*)::int FROM plinth.change c WHERE c.record_type = $1 AND c.id LIKE 'k%' AND kind = 'record') AS entries
     FROM plinth.record WHERE record_type = $1 AND id LIKE 'k%' GROUP BY 1`,
    [type],
  )
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(answered))
  expect(rows.map(({ count, done }) => [count, done])).toEqual(rows.map(() => [200, 200]))
  expect(rows[0]?.entries).toBe(rows.length * 400)
})
