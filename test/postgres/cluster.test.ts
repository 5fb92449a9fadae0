// @module-tag full
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Cluster, openCluster } from '../../src/postgres/cluster.ts'
import { claimOwnership } from '../../src/postgres/ownership.ts'
import { serverProcesses } from '../../src/postgres/processes.ts'
import {
  copyProject,
  kill9,
  onlyPrograms,
  openElsewhere,
  serverPid,
  startElsewhere,
  writePackage,
} from './other-process.ts'

const isRoot = process.geteuid?.() === 0
const NOBODY = 65534
const silent = { info() {}, warn() {} }

// Each test takes a second on an idle machine; on a busy disk initdb is slow.
vi.setConfig({ testTimeout: 30_000 })

let scratch: string
let dataDir: string

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'plinth-test-')))
  dataDir = join(scratch, 'data')
})

afterEach(async () => {
  for (const parent of [scratch, ...directoriesIn(scratch)]) {
    const pids = () => serverProcesses(join(parent, 'postgres'))
    for (const pid of pids()) tryKill(pid, 'SIGKILL')
    while (pids().length > 0) await sleep(10)
  }
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

test('openCluster starts on an empty directory, and keeps the data over a restart', async () => {
  const first = await open()
  expect(first.adopted).toBe(false)
  await sql(first.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)')
  await first.stop()
  expect(serverProcesses(join(dataDir, 'postgres'))).toEqual([])

  const second = await open()
  expect(second.adopted).toBe(false)
  expect(await sql(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }])
  await second.stop()
})

test('the embedded server is durable, sorts by code point and listens only on its private socket', async () => {
  const cluster = await open()
  expect(
    await sql(
      cluster.url,
      `SELECT current_setting('fsync') fsync, current_setting('synchronous_commit') commit,
         current_setting('data_checksums') checksums, current_setting('listen_addresses') addresses,
         current_setting('server_encoding') encoding, current_setting('TimeZone') zone, current_user "user",
         current_database() "database", 'Z' < 'a' AND 'z' < 'é' AS code_points, inet_server_addr() tcp`,
    ),
  ).toEqual([
    {
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      addresses: '',
      encoding: 'UTF8',
      zone: 'UTC',
      user: 'plinth',
      database: 'plinth',
      code_points: true,
      tcp: null,
    },
  ])
  expect(statSync(join(dataDir, 'run')).mode & 0o777).toBe(0o700)
  expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
  await cluster.stop()
})

test('openCluster takes over a server whose Node process was killed, and can stop it', async () => {
  const orphaned = await openElsewhere(dataDir)
  await sql(orphaned.url, 'CREATE TABLE kept (n int)')
  const pid = serverPid(dataDir)
  await kill9(orphaned)

  const cluster = await open()
  expect(cluster.adopted).toBe(true)
  expect(serverPid(dataDir)).toBe(pid)
  expect(await sql(cluster.url, 'SELECT n FROM kept')).toEqual([])
  await cluster.stop()
  expect(serverProcesses(join(dataDir, 'postgres'))).toEqual([])
})

test('acknowledged rows survive a kill -9 of the postmaster', async () => {
  const before = await open()
  await sql(before.url, 'CREATE TABLE kept (n int)')
  const writer = await connect(before.url)
  let acknowledged = 0
  const writing = (async () => {
    for (let n = 1; ; n++) {
      await writer.query('INSERT INTO kept VALUES ($1)', [n])
      acknowledged = n
    }
  })().catch(() => {})
  while (acknowledged < 20) await sleep(5)
  process.kill(serverPid(dataDir), 'SIGKILL')
  await writing

  // At once, while the last backends may still be running.
  const after = await open()
  expect(after.adopted).toBe(false)
  const [row] = await sql(after.url, 'SELECT count(*)::int AS count FROM kept')
  expect(row?.['count']).toBeGreaterThanOrEqual(acknowledged)
  await before.stop()
  expect(await sql(after.url, 'SELECT 1 AS alive'), 'stopping the dead one spares the living').toEqual([
    { alive: 1 },
  ])
  await after.stop()
})

test('a stale pid file with the pid of another program does not prevent the start', async () => {
  await open()
  process.kill(serverPid(dataDir), 'SIGKILL')
  while (serverProcesses(join(dataDir, 'postgres')).length > 0) await sleep(10)
  for (const file of ['postgres/postmaster.pid', 'run/.s.PGSQL.5432.lock']) {
    const lines = readFileSync(join(dataDir, file), 'utf8').split('\n')
    writeFileSync(join(dataDir, file), [process.pid, ...lines.slice(1)].join('\n'))
  }
  const cluster = await open()
  expect(cluster.adopted).toBe(false)
  await cluster.stop()
})

test('a kill during initdb does not prevent the next start', async () => {
  const child = startElsewhere(dataDir)
  const drafts = () =>
    existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.includes('draft')) : []
  while (drafts().length === 0) await sleep(5)
  await kill9({ child })
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
  const cluster = await open()
  expect(await sql(cluster.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }])
  await cluster.stop()
})

test('of two processes that open an empty directory at once, one starts the server and both use it', async () => {
  const both = await Promise.all([openElsewhere(dataDir), openElsewhere(dataDir)])
  expect(both.map(({ adopted }) => adopted).sort()).toEqual([false, true])
  expect(both.map(({ owner }) => owner).sort(), 'one of them owns it').toEqual([false, true])
  await sql(both[0].url, 'CREATE TABLE shared (n int)')
  expect(await sql(both[1].url, 'SELECT n FROM shared')).toEqual([])
  expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.guard', 'postgres.log', 'run'])
  for (const { child } of both) await kill9({ child })
})

test('a data directory whose path is too long for a socket uses a private directory for it', async () => {
  dataDir = join(scratch, `a long, "quoted" näme ${'x'.repeat(100)}`)
  const cluster = await open()
  const socket = new URL(cluster.url).searchParams.get('host') ?? ''
  expect(dirname(socket)).toBe(realpathSync(tmpdir()))
  expect(statSync(socket).mode & 0o777).toBe(0o700)
  await cluster.stop()

  chmodSync(socket, 0o777)
  await expect(open(), 'others may have put theirs there').rejects.toThrow('other users can write to it')
  rmSync(socket, { recursive: true })
})

test('openCluster refuses a directory with files of another program, and keeps them', async () => {
  mkdirSync(join(dataDir, 'postgres'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres/precious'), 'yes')
  await expect(open()).rejects.toThrow('has files, but no PostgreSQL data')
  expect(readFileSync(join(dataDir, 'postgres/precious'), 'utf8')).toBe('yes')
})

test('the embedded server starts in a project of mode 700 from a package without symlinks', async () => {
  chmodSync(scratch, 0o700)
  const project = copyProject(join(scratch, 'project'))
  const other = await openElsewhere(dataDir, { project })
  expect(await sql(other.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }])
  await other.stop()
  expect(serverProcesses(join(dataDir, 'postgres'))).toEqual([])
})

test('without user namespaces root starts the server with setpriv, also on existing data', async () => {
  await (await open()).stop()
  const path = onlyPrograms(join(scratch, 'bin'), ['setpriv', 'chown'])
  const other = await openElsewhere(dataDir, { path })
  expect(statSync(join(dataDir, 'postgres/base')).uid).toBe(isRoot ? NOBODY : process.geteuid?.())
  await other.stop()

  const again = await open()
  expect(await sql(again.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }])
  await again.stop()
})

test('root without a way to drop privileges gets an error; other users do not need one', async () => {
  const path = onlyPrograms(join(scratch, 'bin'), [])
  if (isRoot) return expect(openElsewhere(dataDir, { path })).rejects.toThrow('Start as an ordinary user')
  await (await openElsewhere(dataDir, { path })).stop()
})

test('root uses a data directory of an ordinary user and does not change its owner', async () => {
  chmodSync(scratch, 0o755)
  const project = copyProject(join(scratch, 'project'))
  const node = join(scratch, 'node')
  writePackage(realpathSync(process.execPath), node)
  mkdirSync(dataDir, { mode: 0o700 })
  if (isRoot) chownSync(dataDir, NOBODY, NOBODY)
  const user = [String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
  const prefix = isRoot ? ['setpriv', '--reuid', ...user] : []

  await (await openElsewhere(dataDir, { project, node, prefix })).stop()
  await (await open()).stop()
  const again = await openElsewhere(dataDir, { project, node, prefix })
  expect(again.adopted).toBe(false)
  await again.stop()
})

test('one process has the ownership lock of a database, and loses it when killed', async () => {
  const first = await openElsewhere(dataDir)
  expect(first.owner).toBe(true)
  expect(await claimOwnership(first.url)).toBeNull()
  await kill9(first)

  let lost = 0
  const ownership = await claimOwnership(first.url, { onLost: () => lost++ })
  expect(ownership).not.toBeNull()
  await ownership?.release()
  expect(lost, 'a released lock is not lost').toBe(0)

  await claimOwnership(first.url, { onLost: () => lost++ })
  await sql(first.url, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`)
  while (lost === 0) await sleep(5)
  expect(lost).toBe(1)
})

function open(): Promise<Cluster> {
  return openCluster({ dataDir, log: silent })
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url)
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

function directoriesIn(path: string): string[] {
  return readdirSync(path).map((name) => join(path, name))
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

test('the log of a running server is rotated above 5 MB, and is then written from its start', async () => {
  const cluster = await open()
  const logFile = join(dataDir, 'postgres.log')
  cluster.truncateLog()
  expect(existsSync(`${logFile}.1`)).toBe(false)
  writeFileSync(logFile, 'x'.repeat(5 * 1024 * 1024), { flag: 'a' })
  cluster.truncateLog()
  expect(statSync(logFile).size).toBe(0)
  expect(statSync(`${logFile}.1`).size).toBeGreaterThan(5 * 1024 * 1024)
  await cluster.stop()
  expect(readFileSync(logFile, 'utf8')).toMatch(/^[^\0]*database system is shut down/)
})
