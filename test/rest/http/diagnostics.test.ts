import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { plinth } from '../../cli/plinth.ts'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { openServer, type TestServer } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer({ PLINTH_COLOUR: 'blue' })
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  const indexes = [{ fields: ['data.n'] }]
  succeed(await server.call('PUT', '/v1/crm/record-types/deal', { indexes }), 201)
  for (const id of ['late', 'off'])
    succeed(
      await server.call('PUT', `/v1/crm/triggers/${id}`, {
        record_types: ['deal'],
        events: ['create'],
        url: 'https://hooks.example.com/in',
      }),
      201,
    )
})
afterAll(() => server.close())

type Check = { name: string; status: string; message: string }
async function diagnose() {
  const { status, checks } = succeed(await server.call('GET', '/v1/diagnostics'))
  const found = (checks as Check[]).map(({ name, status, message }) => [name, `${status}: ${message}`])
  return { status, found: Object.fromEntries(found) as Record<string, string> }
}

test('a sound installation has no errors, and unknown settings are named without their values', {
  tags: 'full',
}, async () => {
  const { status, found } = await diagnose()
  expect(status).toBe('warning')
  expect(found).toMatchObject({
    versions: expect.stringMatching(/^ok: Plinth \S+, Node \S+, PostgreSQL 1/),
    settings: 'warning: Unknown settings have no effect: PLINTH_COLOUR. Correct the names, or remove them.',
    database: expect.stringMatching(/^ok: /),
    isolation: expect.stringMatching(/^(ok|warning): /),
    clock: expect.stringMatching(/^ok: /),
    backup: expect.stringMatching(/^ok: This server makes no backups/),
    slow_lists: expect.stringMatching(/^ok: /),
    indexes: expect.stringMatching(/^ok: /),
    triggers: 'ok: No trigger fails or is held.',
    secrets: expect.stringMatching(/^ok: /),
    jobs: expect.stringMatching(/^ok: /),
  })
  expect(JSON.stringify(found)).not.toMatch(/blue|plt_|postgres:\/\//)
})

/** The exit code of `plinth doctor`, and what it prints. */
async function doctor() {
  const { code, out } = await plinth(['doctor'], { PLINTH_URL: server.url, PLINTH_TOKEN: server.adminToken })
  return { code, out }
}

test('`doctor` exits with 1 for clocks a minute apart, and with 0 for a warning of seconds', {
  tags: 'full',
}, async () => {
  const now = Date.now
  const clock = vi.spyOn(Date, 'now')
  onTestFinished(() => clock.mockRestore())
  clock.mockImplementation(() => now() + 5000)
  expect((await diagnose()).found['clock']).toMatch(/^warning: .* differ by 5 s/)
  expect(await doctor()).toMatchObject({ code: 0, out: expect.stringContaining('differ by 5 s') })
  clock.mockImplementation(() => now() - 90_000)
  expect((await diagnose()).found['clock']).toMatch(/^error: .* differ by 90 s/)
  expect(await doctor()).toMatchObject({ code: 1, out: expect.stringContaining('differ by 90 s') })
})

test('held triggers and late jobs are warnings', { tags: 'full' }, async () => {
  const { database } = server
  await database.query(`UPDATE plinth.trigger SET calls_production = true WHERE id = 'late'`)
  await database.query(`SELECT graphile_worker.add_job('late_one', run_at => now() - interval '1 hour')`)
  const { found } = await diagnose()
  expect(found).toMatchObject({
    triggers: expect.stringMatching(/^warning: Held in previews.*: 1 trigger \(late of crm\)/),
    jobs: 'warning: 1 job should have run long ago: late_one. Look for "a job failed" in the log.',
  })
  expect((await doctor()).code).toBe(0)
  await database.query(`UPDATE plinth.trigger SET calls_production = false WHERE id = 'late'`)
})

test.each([
  ['triggers', `UPDATE plinth.trigger SET disabled_reason = 'It failed.' WHERE id = 'off'`],
  ['secrets', `UPDATE plinth.trigger SET secret = 'v1.0000000000000000.a.b' WHERE id = 'off'`],
  ['indexes', `UPDATE plinth.record_type_index SET status = 'failed'`],
])('`doctor` exits with 1 for an error of %s alone', async (name, statement) => {
  const { database } = server
  const [trigger] = await database.query<{ secret: string }>(
    `SELECT secret FROM plinth.trigger WHERE id = 'off'`,
  )
  await database.query(statement)
  const { code, out } = await doctor()
  await database.query(`UPDATE plinth.trigger SET disabled_reason = NULL, secret = $1 WHERE id = 'off'`, [
    trigger?.secret,
  ])
  await database.query(`UPDATE plinth.record_type_index SET status = 'ready'`)
  expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(new RegExp(`${name}\\s+error`)) })
  expect(await doctor()).toMatchObject({ code: 0 })
})

test('failing and disabled triggers, failed indexes and jobs, and secrets of another key are errors', async () => {
  const { database } = server
  await database.query(`UPDATE plinth.trigger SET failing_since = now() WHERE id = 'late'`)
  await database.query(`UPDATE plinth.trigger SET disabled_reason = 'It failed.' WHERE id = 'off'`)
  await database.query(`UPDATE plinth.trigger SET secret = 'v1.0000000000000000.a.b' WHERE id = 'off'`)
  await database.query(`UPDATE plinth.record_type_index SET status = 'failed'`)
  await database.query(
    `SELECT graphile_worker.add_job('lost', max_attempts => 1, run_at => now() + interval '1 day')`,
  )
  await database.query(`UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE task_id = (
    SELECT id FROM graphile_worker._private_tasks WHERE identifier = 'lost')`)
  const { status, found } = await diagnose()
  expect(status).toBe('error')
  expect(found).toMatchObject({
    triggers: expect.stringMatching(
      /^error: Disabled by the server: 1 trigger \(off of crm\).*Failing: 1 trigger \(late of crm\)/,
    ),
    indexes: expect.stringMatching(/^error: .*data\.n of deal in crm/),
    secrets: expect.stringMatching(/^error: 1 secret cannot be opened.*PLINTH_MASTER_KEY/),
    jobs: expect.stringMatching(/^error: 1 job failed for good: lost/),
  })
})

test('a list that was slow is named with the index that would serve it, and values of its filter are not', {
  tags: 'full',
}, async () => {
  await server.database.query(`UPDATE plinth.record_type_index SET status = 'ready'`)
  const filter = JSON.stringify({ field: 'data.owner', op: 'eq', value: 'canary' })
  // Locks the table to delay the list.
  const held = server.database.query(`DO $$ BEGIN LOCK TABLE plinth.record; PERFORM pg_sleep(1); END $$`)
  await sleep(200)
  succeed(await server.call('GET', `/v1/crm/records/deal?filter=${encodeURIComponent(filter)}`))
  await held
  const { found } = await diagnose()
  expect(found['slow_lists']).toMatch(/^warning: .*deal of crm \(1 time,/)
  expect(found['indexes']).toMatch(/^warning: .*\{"fields":\["data\.owner".* of deal in crm/)
  expect(JSON.stringify(found)).not.toContain('canary')
})

test('outgrown statistics are a warning with the names of the tables', { tags: 'full' }, async () => {
  const operations = times(900, (n) => ({ type: 'create_record', record_type: 'note', data: { n } }))
  succeed(await server.call('PUT', '/v1/crm/record-types/note', {}), 201)
  succeed(await server.call('POST', '/v1/crm/batch', { operations }))
  // The server renews statistics on its own, so that they are made old again until the check sees them.
  const statistics = await eventually(async () => {
    await server.database.query(`UPDATE pg_class SET reltuples = 0 WHERE oid = 'plinth.record'::regclass`)
    const { statistics = '' } = (await diagnose()).found
    // Other tables may be named earlier.
    return / record[,.]/.test(statistics) ? statistics : undefined
  })
  expect(statistics).toMatch(/^warning: \d+ tables? outgrew /)
})

test('only an administrator of everything sees the diagnostics', async () => {
  const grant = { base: 'crm', record_type: '*', environment: '*', permission: 'admin' }
  const { token } = succeed(await server.call('POST', '/v1/tokens', { name: 'crm', grants: [grant] }), 201)
  const error = expectFailure(await server.as(token)('GET', '/v1/diagnostics'), 'FORBIDDEN')
  expect(error.message).toContain('admin')
  expectFailure(await server.as(null)('GET', '/v1/diagnostics'), 'UNAUTHORIZED')
  const query = '{ diagnostics { status checks { name status message } } }'
  const asked = await server.call('POST', '/graphql', { query })
  expect(asked.body.data.diagnostics.status).toBe('error')
})
