import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCluster, supervise } from '../../src/postgres/cluster.ts'
import { serverProcesses } from '../../src/postgres/processes.ts'
import { kill9, openElsewhere } from './other-process.ts'

const quiet = { info: () => {}, warn: () => {} }
let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-supervised-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const PUT_BACK =
  'Put the directory back, and the server goes on with it; or stop the server and restore a backup.'

const postmaster = async () =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n', 1)[0])

async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows[0]
  } finally {
    await client.end()
  }
}

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(100)
    }
  }
}

test('a killed PostgreSQL is restarted at the same URL with its acknowledged rows', {
  tags: 'full',
}, async () => {
  const supervised = await supervise({ dataDir, log: quiet })
  const url = supervised?.url ?? ''
  await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
  const killed = await postmaster()
  process.kill(killed, 'SIGKILL')
  expect(await eventually(() => ask(url, 'SELECT answer FROM kept'))).toEqual({ answer: 42 })
  expect(await postmaster()).not.toBe(killed)
  await supervised?.close()
  await expect(ask(url, 'SELECT 1')).rejects.toThrow()
})

test('no new database is made in place of data that was moved away, and the server goes on when it is back', {
  tags: 'full',
}, async () => {
  const said: string[] = []
  const warn = ({ err }: { err?: Error }) => void said.push(err?.message ?? '')
  const supervised = await supervise({ dataDir, log: { ...quiet, warn } })
  const url = supervised?.url ?? ''
  await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
  const killed = await postmaster()
  await rename(dataDir, `${dataDir}.moved`)
  process.kill(killed, 'SIGKILL')
  await eventually(async () => expect(said).toContainEqual(`The data in ${dataDir} is gone. ${PUT_BACK}`))
  // Another server that starts on the directory keeps the database that it makes.
  const other = await openCluster({ dataDir, log: quiet })
  await eventually(async () => expect(said.at(-1)).toContain('is another database'))
  await other.stop()
  await rm(dataDir, { recursive: true })
  await rename(`${dataDir}.moved`, dataDir)
  expect(await eventually(() => ask(url, 'SELECT answer FROM kept'))).toEqual({ answer: 42 })
  await supervised?.close()
})

test('PostgreSQL ends with its Node process when their data directory was removed', {
  tags: 'full',
}, async () => {
  const supervised = await supervise({ dataDir, log: quiet })
  const running = await postmaster()
  await rm(dataDir, { recursive: true })
  const begun = performance.now()
  await supervised?.close()
  expect(performance.now() - begun).toBeLessThan(10_000)
  await eventually(async () => expect(() => process.kill(running, 0)).toThrow('ESRCH'))
})

test('PostgreSQL ends soon after its Node process was killed, unless another one has taken it over', {
  tags: 'full',
  timeout: 60_000,
}, async () => {
  const pgdata = join(dataDir, 'postgres')
  await kill9(await openElsewhere(dataDir))
  expect(serverProcesses(pgdata)).not.toEqual([])
  const supervised = await supervise({ dataDir, log: quiet })
  const taken = await postmaster()
  // Longer than the guard of the killed process waits.
  await sleep(8000)
  expect(await postmaster()).toBe(taken)
  expect(await ask(supervised?.url ?? '', 'SELECT 1 AS one')).toEqual({ one: 1 })
  await supervised?.close()
  expect(serverProcesses(pgdata)).toEqual([])
  await kill9(await openElsewhere(dataDir))
  await eventually(async () => expect(serverProcesses(pgdata)).toEqual([]))
  // It was shut down, not only ended: the next start needs no recovery.
  expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('received fast shutdown request')
})

test('supervise returns null for a directory that another process serves', { tags: 'full' }, async () => {
  const first = await supervise({ dataDir, log: quiet })
  expect(await supervise({ dataDir, log: quiet })).toBeNull()
  expect(await ask(first?.url ?? '', 'SELECT 1 AS one')).toEqual({ one: 1 })
  await first?.close()
})

test('a start that joins a PostgreSQL which is just ending waits for its end, and starts one', {
  tags: 'full',
}, async () => {
  for (let delay = 0; delay < 60; delay += 4) {
    await openCluster({ dataDir, log: quiet })
    const ending = await postmaster()
    const starting = supervise({ dataDir, log: quiet })
    await sleep(delay)
    process.kill(ending, 'SIGINT')
    const supervised = await starting
    // Where it was taken before it ended, it is restarted.
    expect(await eventually(() => ask(supervised?.url ?? '', 'SELECT 1 AS one'))).toEqual({ one: 1 })
    await supervised?.close()
  }
})
