// @module-tag full
/** While the database cannot be written, `/readyz` and errors say so, and reads are served. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let name: string
/** A token with which no SQL has run. */
let fresh: World['call']
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/task', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/task/a', { data: { n: 1 } }), 201)
  fresh = (await world.newToken([{ permission: 'read', record_type: 'task' }])).call
  name = new URL(world.database.url).pathname.slice(1)
})
afterAll(() => world.close())

/** Ends the open connections, because the settings apply to new ones only. */
async function reconnect(): Promise<void> {
  await world.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'plinth%'`,
  )
}
const ready = async () => {
  const { status, body } = await world.as(null)('GET', '/readyz')
  return [status, body.database]
}
const becomes = (expected: unknown[]) =>
  expect.poll(ready, { timeout: 15_000, interval: 200 }).toEqual(expected)
const write = () => world.call('PUT', '/v1/crm/records/task/a', { data: { n: Math.random() } })
const served = async () => (await world.call('GET', '/v1/crm/records/task/a')).status

const sql = (call = world.call) =>
  call('POST', '/v1/crm/sql', { query: "SELECT data FROM task WHERE id = 'a'" })

/** Ends the connections of SQL, and makes all roles look unused for some hours. */
async function forgetSql() {
  succeed(await sql())
  await world.database.query(`UPDATE plinth.sql_grant SET used_at = now() - interval '5 hours'`)
}

/** A role that was made before serves reads by SQL; a new one cannot be made. */
async function expectSql(code: string) {
  await reconnect()
  await expect.poll(async () => (await sql()).status).toBe(200)
  const { details } = expectFailure(await sql(fresh), 'INTERNAL_ERROR')
  expect(details).toMatchObject([{ path: '', code }])
}

async function expectNoWrites(code: string) {
  await expect.poll(served).toBe(200)
  const answer = await write()
  expect(expectFailure(answer, 'INTERNAL_ERROR').details).toMatchObject([{ path: '', code }])
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  succeed(await world.call('GET', '/v1/crm/records/task/a'))
}

test('a writable database is ready, and readiness checks write at most once in some seconds', async () => {
  // Counts the writes of the checks, whose connection has this name.
  await world.database.query('CREATE SCHEMA counted')
  await world.database.query('CREATE SEQUENCE counted.writes')
  await world.database.query(
    `CREATE FUNCTION counted.pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn LANGUAGE plpgsql AS $$
     BEGIN
       IF current_setting('application_name') = 'plinth-stops' THEN PERFORM nextval('counted.writes'); END IF;
       RETURN pg_catalog.pg_logical_emit_message($1, $2, $3);
     END $$`,
  )
  await world.database.query(`ALTER DATABASE ${name} SET search_path = counted, pg_catalog, public`)
  await reconnect()
  const writes = async () => {
    const sql = `SELECT coalesce(pg_sequence_last_value('counted.writes'), 0)::int AS n`
    const [row] = await world.database.query<{ n: number }>(sql)
    return row?.n ?? 0
  }
  await expect.poll(async () => [await ready(), (await writes()) > 0]).toEqual([[200, 'reachable'], true])
  const before = await writes()
  for (const _ of Array(20)) expect(await ready()).toEqual([200, 'reachable'])
  expect((await writes()) - before).toBeLessThan(5)
  await world.database.query(`ALTER DATABASE ${name} RESET search_path`)
  await reconnect()
  await becomes([200, 'reachable'])
  await world.database.query('DROP SCHEMA counted CASCADE')
})

test('a read-only database is not ready until it is writable again', {
  tags: 'full',
}, async () => {
  await forgetSql()
  await world.database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await reconnect()
  await becomes([503, 'read_only'])
  await expectNoWrites('read_only')
  await expectSql('read_only')
  await world.database.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
  await reconnect()
  await becomes([200, 'reachable'])
  await expect.poll(async () => (await write()).status).toBe(200)
  await expect.poll(async () => (await sql(fresh)).status).toBe(200)
})

test('/readyz is 503 while the database disk is full', { tags: 'full' }, async () => {
  fresh = (await world.newToken([{ permission: 'read', record_type: ['task', 'none'] }])).call
  await forgetSql()
  // Raises the error of PostgreSQL in the two places where it occurs.
  const full = (kind: string) => `RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not ${kind}'`
  await world.database.query(`CREATE SCHEMA full_disk`)
  await world.database.query(
    `CREATE FUNCTION full_disk.pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn LANGUAGE plpgsql AS
     $$ BEGIN ${full('write')}; END $$`,
  )
  await world.database.query(
    `CREATE FUNCTION full_disk.extend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${full('extend')}; END $$`,
  )
  await world.database.query(
    `CREATE TRIGGER full_disk BEFORE UPDATE ON plinth.record FOR EACH ROW EXECUTE FUNCTION full_disk.extend()`,
  )
  await world.database.query(
    `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON plinth.sql_grant FOR EACH ROW EXECUTE FUNCTION full_disk.extend()`,
  )
  await world.database.query(`ALTER DATABASE ${name} SET search_path = full_disk, pg_catalog, public`)
  await reconnect()
  await becomes([503, 'disk_full'])
  await expectNoWrites('disk_full')
  await expectSql('disk_full')
  await world.database.query(`DROP TRIGGER full_disk ON plinth.sql_grant`)
  await world.database.query(`DROP TRIGGER full_disk ON plinth.record`)
  await world.database.query(`DROP SCHEMA full_disk CASCADE`)
  await becomes([200, 'reachable'])
  succeed(await write())
})
