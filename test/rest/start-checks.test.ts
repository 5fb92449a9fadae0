/** What a start refuses: a store of contents of another database, a database without notifications, a standby. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openBucket } from '../support/bucket.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { openProxy, withoutNotifications } from '../support/proxy.ts'
import { type Body, openServer } from '../support/server.ts'
import { openStream } from '../support/sse.ts'
import { until } from '../support/until.ts'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-stores-'))
  database = await cloneDatabase()
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const store = (name: string): string => pathToFileURL(join(folder, name)).href
const LARGE = 'x'.repeat(20_000)

/** Starts a server, does something with it and closes it. */
async function during(
  where: TestDatabase,
  env: Record<string, string>,
  use: (server: Awaited<ReturnType<typeof openServer>>) => Promise<unknown> = async () => {},
): Promise<void> {
  const server = await openServer(env, where)
  try {
    await use(server)
  } finally {
    await server.close()
  }
}

const putLarge = (base: string) => async (server: Awaited<ReturnType<typeof openServer>>) => {
  await server.call('PUT', `/v1/bases/${base}`, {})
  await server.call('PUT', `/v1/${base}/file-types/docs`, {})
  const headers = { authorization: `Bearer ${server.adminToken}` }
  const put = await fetch(`${server.url}/v1/${base}/files/docs/a.txt`, {
    method: 'PUT',
    headers,
    body: LARGE,
  })
  expect(put.status).toBe(201)
}

describe('the store of contents', () => {
  beforeAll(async () => during(database, { PLINTH_BLOB_URL: store('own') }, putLarge('crm')))

  test('belongs to its database: a start with it again, and with a moved copy without its id, is served', {
    tags: 'full',
  }, async () => {
    await during(database, { PLINTH_BLOB_URL: store('own') })
    const id = join(folder, 'own', 'store-id')
    const kept = await readFile(id, 'utf8')
    expect(kept).toMatch(/^[0-9a-f]{64}\n$/)
    await rm(id)
    await during(database, { PLINTH_BLOB_URL: store('own') }, async (server) => {
      expect((await server.call('GET', '/v1/crm/files/docs/a.txt')).status).toBe(200)
    })
    expect(await readFile(id, 'utf8')).toBe(kept)
  })

  test('is refused where it lacks the contents of the database, and stays without an id', async () => {
    await expect(during(database, { PLINTH_BLOB_URL: store('empty') })).rejects.toThrow(
      'PLINTH_BLOB_URL: this is not the store of this database, 1 content is elsewhere.',
    )
    expect(existsSync(join(folder, 'empty', 'store-id'))).toBe(false)
  })

  test('is refused for a new database, whose sweep would remove contents of the other one', {
    tags: 'full',
  }, async () => {
    const other = await cloneDatabase()
    onTestFinished(() => other.drop())
    await expect(during(other, { PLINTH_BLOB_URL: store('own') })).rejects.toThrow(
      'it has contents of another one',
    )
    await during(database, { PLINTH_BLOB_URL: store('own') })
  })

  test('that is empty is taken over by a new database', { tags: 'full' }, async () => {
    const [first, next] = [await cloneDatabase(), await cloneDatabase()]
    onTestFinished(async () => void (await Promise.all([first.drop(), next.drop()])))
    await during(first, { PLINTH_BLOB_URL: store('handed-on') })
    await during(next, { PLINTH_BLOB_URL: store('handed-on') }, putLarge('desk'))
    await expect(during(first, { PLINTH_BLOB_URL: store('handed-on') })).rejects.toThrow(
      'contents of another',
    )
  })

  test('is taken all the same when the operator says so, once', { tags: 'full' }, async () => {
    await mkdir(join(folder, 'adopted'))
    await writeFile(join(folder, 'adopted', 'store-id'), `${'0'.repeat(64)}\n`)
    const copy = await cloneDatabase()
    onTestFinished(() => copy.drop())
    await during(copy, { PLINTH_BLOB_URL: store('elsewhere') }, putLarge('crm'))
    await expect(during(copy, { PLINTH_BLOB_URL: store('adopted') })).rejects.toThrow('--adopt-store')
    await during(copy, { PLINTH_BLOB_URL: store('adopted'), PLINTH_ADOPT_STORE: 'true' })
    await during(copy, { PLINTH_BLOB_URL: store('adopted') })
  })

  test('is known in a bucket too, and a bucket that does not answer does not prevent the start', {
    tags: 'full',
  }, async () => {
    const bucket = await openBucket()
    const [first, next] = [await cloneDatabase(), await cloneDatabase()]
    onTestFinished(async () => void (await Promise.all([first.drop(), next.drop()])))
    await during(first, { PLINTH_BLOB_URL: bucket.url }, putLarge('crm'))
    await during(first, { PLINTH_BLOB_URL: bucket.url })
    await expect(during(next, { PLINTH_BLOB_URL: bucket.url })).rejects.toThrow('contents of another')
    await bucket.close()
    await during(first, { PLINTH_BLOB_URL: bucket.url }, async (server) => {
      expect(server.log.join()).toContain('could not be asked whose it is')
    })
  })
})

test('a database that takes no writes ends the start, which says to give the primary', {
  tags: 'full',
}, async () => {
  const standby = await cloneDatabase()
  onTestFinished(() => standby.drop())
  const client = new pg.Client(standby.url)
  await client.connect()
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  await client.query(`ALTER DATABASE "${rows[0]?.name}" SET default_transaction_read_only = on`)
  await client.end()
  await expect(during(standby, {})).rejects.toThrow(/takes no writes: it is a standby.*the primary/)
})

test('a database whose notifications do not arrive ends the start', { tags: 'full' }, async () => {
  const other = await cloneDatabase()
  const [whole, mute] = [await openProxy(other.url), await openProxy(other.url, 0, withoutNotifications)]
  onTestFinished(async () => void (await Promise.all([whole.close(), mute.close(), other.drop()])))
  await during({ ...other, url: whole.url }, {}, async (server) => {
    expect((await server.call('GET', '/v1/bases')).status).toBe(200)
  })
  await expect(during({ ...other, url: mute.url }, {})).rejects.toThrow(
    'DATABASE_URL: notifications do not arrive. Connect to PostgreSQL directly, or to a pool in session mode.',
  )
})

// Debian's package, which nothing else needs: without it there is no pool to try.
const POOLER = '/usr/sbin/pgbouncer'

describe.skipIf(!existsSync(POOLER))('pgbouncer', { tags: 'full' }, () => {
  const pooled = async (pool: string, logins: string, use: Parameters<typeof during>[2]) => {
    const other = await cloneDatabase()
    onTestFinished(() => other.drop())
    const pooler = await openPooler(other.url, pool, logins)
    onTestFinished(() => pooler.close())
    await during({ ...other, url: pooler.url }, {}, use)
    return other
  }
  /** Each way to use the database that a pool could break. */
  const walk = (isolation: string) => async (server: Awaited<ReturnType<typeof openServer>>) => {
    succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
    const type = {
      json_schema: { type: 'object', properties: { title: { type: 'string' }, n: { type: 'integer' } } },
      indexes: [{ fields: ['data.n'] }, { fields: ['data.title'], type: 'text' }],
    }
    succeed(await server.call('PUT', '/v1/crm/record-types/note', type), 201)
    const stream = await openStream(server, '/v1/crm/changes/stream')
    for (const n of [1, 2])
      succeed(await server.call('PUT', `/v1/crm/records/note/n${n}`, { data: { title: `red ${n}`, n } }), 201)
    expect((await stream.until(2)).map(({ data }) => data.id)).toEqual(['n1', 'n2'])
    stream.cut()
    const filter = { field: 'data.title', op: 'search', value: 'red' }
    const found = succeed(await server.call('POST', '/v1/crm/records/note/query', { filter }))
    expect(found.data.map(({ id }: Body) => id).sort()).toEqual(['n1', 'n2'])
    const query = 'SELECT id, n FROM note ORDER BY n'
    expect(succeed(await server.call('POST', '/v1/crm/sql', { query })).data).toEqual([
      { id: 'n1', n: 1 },
      { id: 'n2', n: 2 },
    ])
    const statements = 'UPDATE note SET n = n + 10'
    expect(succeed(await server.call('POST', '/v1/crm/sql/execute', { statements })).meta.count).toBe(2)
    expect(succeed(await server.call('GET', '/readyz')).sql_isolation).toBe(isolation)
    expect(server.log.some((line) => line.includes('roles of SQL statements cannot log in'))).toBe(
      isolation === 'parser_only',
    )
  }

  test('in transaction mode ends the start, and leaves no lock that the next start would wait for', async () => {
    const other = await cloneDatabase()
    onTestFinished(() => other.drop())
    const pooler = await openPooler(other.url, 'transaction', 'asked')
    onTestFinished(() => pooler.close())
    await expect(during({ ...other, url: pooler.url }, {})).rejects.toThrow(
      /notifications do not arrive.*session mode/,
    )
    await during(other, {})
  })

  test('in session mode that asks the database for logins is served, with roles of SQL', () =>
    pooled('session', 'asked', walk('full')))

  test('in session mode that knows one login, or makes all of them one, leaves SQL to the parser', async () => {
    await pooled('session', 'listed', walk('parser_only'))
    await pooled('session', 'forced', walk('parser_only'))
  })
})

let poolers = 0

/**
 * Starts pgbouncer before a database. It refuses to run as root, so another user runs it.
 * @param logins whether it asks the database for them, has a list of one, or logs all clients in as that one
 */
async function openPooler(
  databaseUrl: string,
  mode: string,
  logins: string,
): Promise<{ url: string; close(): Promise<void> }> {
  // The user of the pool may not reach the socket of the database.
  const proxy = await openProxy(databaseUrl)
  const to = new URL(proxy.url)
  // Without one the database trusts the login, and the pool asks for it.
  to.password ||= 'secret'
  const port = 20_000 + ((process.pid + 1000 * poolers++) % 10_000)
  const [user, password] = [decodeURIComponent(to.username), decodeURIComponent(to.password)]
  const forced = `user=${user} password=${password}`
  const directory = await mkdtemp(join(tmpdir(), 'plinth-pooler-'))
  await chmod(directory, 0o755)
  const [file, list] = [join(directory, 'pgbouncer.ini'), join(directory, 'logins')]
  await writeFile(list, `"${user}" "${password}"\n`, { mode: 0o644 })
  await writeFile(
    file,
    `[databases]
* = host=127.0.0.1 port=${to.port} ${{ asked: `auth_user=${user}`, forced }[logins] ?? ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = ${logins === 'forced' ? 'any' : 'scram-sha-256'}
auth_file = ${list}
auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1
pool_mode = ${mode}
default_pool_size = 60
max_client_conn = 200
ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout
`,
    { mode: 0o644 },
  )
  const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const pooler = spawn(POOLER, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...as })
  let said = ''
  pooler.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  const ended = new Promise<void>((resolve) => pooler.once('exit', () => resolve()))
  await until(() => /process up/.test(said))
  to.port = String(port)
  return {
    url: to.href,
    close: async () => {
      pooler.kill()
      await ended
      await proxy.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
