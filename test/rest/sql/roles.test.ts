import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { openPrincipals } from '../../../src/engine/sql/execution/principals.ts'
import { FUNCTIONS } from '../../../src/engine/sql/guard/allow/calls.ts'
import { openDatabase } from '../../../src/engine/storage/database/pool.ts'
import { expectFailure, succeed } from '../../support/answers.ts'
import { databaseUrl } from '../../support/global-setup.ts'
import { type Call, openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['deal', 'note'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: {} }), 201)
})
afterAll(() => world.close())

const ask = async (call: Call) =>
  succeed(await call('POST', '/v1/crm/sql', { query: 'SELECT count(*) AS n FROM records' })).data[0].n
type Grant = { role: string; base_id: string; record_types: string[] }
const grants = () => world.database.query<Grant>('SELECT * FROM plinth.sql_grant ORDER BY record_types')

test('tokens with equal grants share an SQL role at every instance; other tokens have different ones', {
  tags: 'full',
}, async () => {
  const second = await openWorld({}, world.database)
  const token = async (record_type: unknown) =>
    (await world.newToken([{ permission: 'read', record_type }])).token
  const tokens = await Promise.all([token('deal'), token(['deal']), token(['note', 'deal']), token('note')])
  for (const server of [world, second])
    for (const each of [...tokens, server.adminToken]) await ask(server.as(each))
  const found = await grants()
  expect(found.map(({ base_id, record_types }) => ({ base_id, record_types }))).toEqual([
    { base_id: 'crm', record_types: ['*'] },
    { base_id: 'crm', record_types: ['deal'] },
    { base_id: 'crm', record_types: ['note'] },
    { base_id: 'crm', record_types: ['deal', 'note'] },
  ])
  expect(new Set(found.map(({ role }) => role)).size).toBe(4)
  await second.close()
})

test('a dropped SQL role is created again', { tags: 'full' }, async () => {
  await ask(world.call)
  const [{ role } = { role: '' }] = (await grants()).filter(({ record_types }) => record_types[0] === '*')
  await world.database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, [
    role,
  ])
  await world.database.query(`DROP ROLE ${role}`)
  // A request may still get a connection whose end the pool has not noticed.
  await vi.waitFor(async () => expect(await ask(world.call)).toBe(1))
})

test('an SQL role unused for a day is dropped, and no other role is', { tags: 'full' }, async () => {
  await ask(world.call)
  const { call } = await world.newToken([{ permission: 'read', record_type: 'note' }])
  await ask(call)
  const roles = async () =>
    (await world.database.query<{ rolname: string }>('SELECT rolname FROM pg_roles')).map(
      ({ rolname }) => rolname,
    )
  const before = await roles()
  const [old] = (await grants()).filter(({ record_types }) => record_types[0] === 'note')
  if (!old) throw new Error('The token has no role')
  await world.database.query(
    `UPDATE plinth.sql_grant SET used_at = now() - interval '2 days' WHERE role = $1`,
    [old.role],
  )
  const db = openDatabase(world.database.url, () => {})
  const options = { connectionString: world.database.url, db, isolation: 'full', timeoutMs: 1000 } as const
  const { sweep } = openPrincipals(options)
  await sweep()
  // The role is still in use, because its connection waits for the next statement.
  expect(await roles()).toContain(old.role)
  await world.database.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
    old.role,
  ])
  const afterSweep = () => sweep().then(roles)
  await expect.poll(afterSweep).not.toContain(old.role)
  const database = old.role.slice(0, old.role.lastIndexOf('_'))
  const kept = before.filter((name) => name.startsWith(`${database}_`) || !name.startsWith('plinth_sql_'))
  expect(await roles()).toEqual(expect.arrayContaining(kept.filter((name) => name !== old.role)))
  expect(await ask(call)).toBe(0)
  await db.close()
})

test('an SQL role may only read the ten views and call the functions that the parser allows', {
  tags: 'full',
}, async () => {
  await ask(world.call)
  const [{ role } = { role: '' }] = await grants()
  const readable = await world.database.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND has_table_privilege($1, c.oid, 'SELECT')
       AND has_schema_privilege($1, n.oid, 'USAGE') ORDER BY 1`,
    [role],
  )
  expect(readable.map(({ name }) => name)).toEqual([
    'plinth_sql.call',
    'plinth_sql.change',
    'plinth_sql.claim',
    'plinth_sql.draft_record',
    'plinth_sql.draft_relationship',
    'plinth_sql.record',
    'plinth_sql.record_type',
    'plinth_sql.relationship',
    'plinth_sql.relationship_type',
    'plinth_sql.usage',
  ])
  const callable = await world.database.query<{ name: string; schema: string; volatile: boolean }>(
    `SELECT DISTINCT p.proname AS name, n.nspname AS schema, p.provolatile = 'v' AS volatile
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE has_function_privilege($1, p.oid, 'EXECUTE') AND has_schema_privilege($1, n.oid, 'USAGE')`,
    [role],
  )
  expect(callable.filter(({ volatile }) => volatile)).toEqual([])
  const own = callable.filter(({ schema }) => schema !== 'pg_catalog').map(({ name }) => name)
  expect(own.sort()).toEqual(['instant', 'sql_change_set'])
  const names = new Set(callable.map(({ name }) => name))
  const known = await world.database.query<{ name: string }>(
    `SELECT DISTINCT proname AS name FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace`,
  )
  expect(known.filter(({ name }) => FUNCTIONS.has(name) && !names.has(name))).toEqual([])
  const [rights] = await world.database.query<object>(
    `SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
       has_database_privilege(rolname, current_database(), 'TEMP') AS temp,
       has_database_privilege(rolname, current_database(), 'CREATE') AS makes,
       has_language_privilege(rolname, 'plpgsql', 'USAGE') AS speaks,
       (SELECT count(*)::int FROM pg_auth_members WHERE member = r.oid) AS memberships
     FROM pg_roles r WHERE rolname = $1`,
    [role],
  )
  expect(rights).toEqual({
    rolsuper: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolreplication: false,
    rolbypassrls: false,
    temp: false,
    makes: false,
    speaks: false,
    memberships: 1,
  })
})

test('/readyz shows how SQL statements are isolated', async () => {
  expect((await world.call('GET', '/readyz')).body.sql_isolation).toBe('full')
  expect(world.log.some((line) => line.includes('sql_isolation'))).toBe(false)
})

/** Runs `work` with a server on an empty database owned by a login with these rights. */
async function onLogin(
  rights: string,
  work: (call: Call, log: string[], name: string, admin: pg.Client) => Promise<void>,
) {
  const name = `plinth_login_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client({ connectionString: inject('server') })
  await admin.connect()
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}' ${rights}`)
  await admin.query(`CREATE DATABASE ${name} OWNER ${name}`)
  const url = new URL(databaseUrl(inject('server'), name))
  url.username = name
  url.password = name
  const server = await openServer({ DATABASE_URL: url.href })
  try {
    await work(server.call, server.log, name, admin)
  } finally {
    await server.close()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  }
}

const narrow = async (call: Call) => {
  succeed(await call('PUT', '/v1/bases/crm', {}), 201)
  for (const type of ['deal', 'note']) {
    succeed(await call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
    succeed(await call('PUT', `/v1/crm/records/${type}/r1`, { data: { of: type } }), 201)
  }
  const rows = async (query: string) => succeed(await call('POST', '/v1/crm/sql', { query })).data
  expect(await rows('SELECT id, data FROM deal')).toEqual([{ id: 'r1', data: { of: 'deal' } }])
  expect(await rows('SELECT count(*) AS n FROM records')).toEqual([{ n: 2 }])
}

test('a login with CREATEROLE that is no superuser isolates SQL statements by roles', {
  tags: 'full',
}, async () => {
  await onLogin('CREATEROLE', async (call, log) => {
    expect((await call('GET', '/readyz')).body.sql_isolation).toBe('roles')
    expect(log.some((line) => line.includes('"sql_isolation":"roles"'))).toBe(true)
    await narrow(call)
  })
})

test('SQL works in a database whose right to connect was revoked, before a server starts or while it runs', {
  tags: 'full',
}, async () => {
  await ask(world.call)
  const [{ role } = { role: '' }] = await grants()
  const name = new URL(world.database.url).pathname.slice(1)
  const group = role.slice(0, role.lastIndexOf('_'))
  const revoke = () => world.database.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC, ${group}`)
  await revoke()
  const { call, token } = await world.newToken([{ permission: 'read', record_type: ['deal', 'none'] }])
  expect(await ask(call)).toBe(1)
  await revoke()
  const second = await openWorld({}, world.database)
  expect(await ask(second.as(token))).toBe(1)
  await second.close()
})

test('roles that cannot connect are a failure of the server, which its log explains, and weaken nothing', {
  tags: 'full',
}, async () => {
  await onLogin('CREATEROLE', async (call, log, name, admin) => {
    await narrow(call)
    // Another owner, so that the login of the server cannot grant the right again.
    await admin.query(
      `ALTER DATABASE ${name} OWNER TO CURRENT_USER; GRANT CONNECT ON DATABASE ${name} TO ${name}`,
    )
    const { rows } = await admin.query(`SELECT oid FROM pg_database WHERE datname = $1`, [name])
    await admin.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC, plinth_sql_${rows[0].oid}`)
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plinth-sql' AND datname = '${name}'`,
    )
    const answer = await call('POST', '/v1/crm/sql', { query: 'SELECT id FROM note' })
    const { details } = expectFailure(answer, 'INTERNAL_ERROR')
    expect(details).toMatchObject([{ path: '', code: 'sql_unavailable' }])
    expect(log.some((line) => line.includes('permission denied for database'))).toBe(true)
    expect((await call('GET', '/readyz')).body.sql_isolation).toBe('roles')
  })
})

// Creating and dropping a database waits for other backends of the shared server.
test('a login without CREATEROLE isolates SQL statements by the parser only, and the log warns', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  await onLogin('', async (call, log) => {
    expect((await call('GET', '/readyz')).body.sql_isolation).toBe('parser_only')
    expect(log.some((line) => line.includes('PLINTH_SQL_ENABLED=false'))).toBe(true)
    await narrow(call)
  })
})

// The operator of an external database sets its privileges.
test.skipIf(process.env['DATABASE_URL'] !== undefined)(
  'the SQL roles of the embedded server can connect only to their own database',
  async () => {
    await ask(world.call)
    const [{ role } = { role: '' }] = await grants()
    const found = await world.database.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1', current_database())
       AND has_database_privilege($1, oid, 'CONNECT')`,
      [role],
    )
    expect(found).toHaveLength(1)
    expect(['postgres', 'template1']).not.toContain(found[0]?.datname)
  },
)
