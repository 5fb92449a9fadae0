import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { openLog, startServer } from '../../src/main.ts'
import { serverProcesses } from '../../src/postgres/processes.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { openServer } from '../support/server.ts'
import { plinthProcess as plinth, start } from './plinth.ts'

type Answer = {
  id?: number
  result?: { tools?: { name: string }[]; content?: { text: string }[] }
  error?: unknown
}

let database: TestDatabase
let dataDir: string
let settings: Record<string, string>

beforeAll(async () => {
  database = await cloneDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-process-'))
  settings = {
    DATABASE_URL: database.url,
    PLINTH_DATA_DIR: dataDir,
    PLINTH_PORT: '0',
    PLINTH_RATE_LIMIT: '0',
  }
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** A JSON-RPC client over standard input and output. Each output line must be a message. */
function speak(args: readonly string[], env: Record<string, string>) {
  const child = start(['mcp', ...args], env)
  const answers: Answer[] = []
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    answers.push(answer)
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  })
  const send = (message: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let last = 0
  const ask = (method: string, params: object = {}) =>
    new Promise<Answer>((resolve) => {
      last += 1
      waiting.set(last, resolve)
      send({ id: last, method, params })
    })
  const initialize = async () => {
    await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    send({ method: 'notifications/initialized' })
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, answers, ask, initialize, ended }
}

type Relay = ReturnType<typeof speak>

const narrow = ['--base', 'crm', '--read-only', '--types', 'task', '--tools', 'list_types,query_records']

test('`serve` prints its address, commands find it by the data directory, and SIGTERM ends it with 0', {
  tags: 'full',
}, async () => {
  const child = start(['serve'], settings)
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on(
      'line',
      (line) => void (line.startsWith('plinth ready ') && resolve()),
    )
  })
  child.stderr.resume()
  await ready
  const here = { PLINTH_DATA_DIR: dataDir }
  expect(await plinth(['base', 'put', 'crm'], here)).toMatchObject({ code: 0, err: '' })
  const task = ['record-type', 'put', 'task', '--base', 'crm', '--schema', '-', '--json']
  const made = await plinth(task, here, '{"type":"object"}')
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^\{"id":"task",.*\}\n$/) })
  const absent = await plinth(['record', 'get', 'task', 'none', '--base', 'crm'], here)
  expect(absent).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^NOT_FOUND: /) })
  expect(await plinth(['record', 'get', 'task'], here)).toMatchObject({ code: 2, out: '' })

  const joined = speak(['--base', 'crm'], here)
  await joined.initialize()
  const { result } = await joined.ask('tools/list')
  expect(result?.tools?.map(({ name }) => name)).toContain('upsert_record')
  joined.child.stdin.end()
  expect(await joined.ended).toBe(0)

  const narrowed = speak(narrow, here)
  await narrowed.initialize()
  const few = await narrowed.ask('tools/list')
  expect(few.result?.tools?.map(({ name }) => name)).toEqual(['list_types', 'query_records'])
  narrowed.child.stdin.end()
  expect(await narrowed.ended).toBe(0)

  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})

test('`mcp` without a running server starts one, writes only messages, and ends at the end of its input', {
  tags: 'full',
}, async () => {
  const own = speak([], settings)
  own.child.stderr.resume()
  await own.initialize()
  const { result } = await own.ask('tools/call', { name: 'list_bases', arguments: {} })
  expect(result?.content?.[0]?.text).toContain('"data":')
  const of = speak(['--base', 'nowhere'], settings)
  of.child.stderr.resume()
  const { error } = await of.ask('initialize')
  expect(JSON.stringify(error)).toContain(`which runs on the data directory ${dataDir}`)
  of.child.stdin.end()
  expect(await of.ended).toBe(0)
  own.child.stdin.end()
  expect(await own.ended).toBe(0)
  await expect(readFile(join(dataDir, 'server.json'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test.each([
  [
    'the reader of its output goes away',
    async (relay: Relay): Promise<void> => void relay.child.stdout.destroy(),
  ],
  [
    'its input ends while the server starts',
    async (relay: Relay): Promise<void> => void relay.child.stdin.end(),
  ],
  ['it is killed', async (relay: Relay): Promise<void> => void relay.child.kill('SIGKILL')],
  [
    'all its pipes are closed',
    async ({ child }: Relay) => {
      for (const pipe of [child.stdout, child.stderr, child.stdin]) pipe.destroy()
    },
  ],
] as const)(
  '`mcp` leaves no process behind when %s',
  { tags: 'full', timeout: 240_000 },
  async (when, end) => {
    const own = await mkdtemp(join(tmpdir(), 'plinth-own-'))
    const pgdata = join(own, 'postgres')
    const relay = speak([], { PLINTH_DATA_DIR: own })
    relay.child.stderr.resume()
    for (const pipe of relay.child.stdio) pipe?.on('error', () => {})
    if (when.startsWith('its input'))
      await expect.poll(() => serverProcesses(pgdata).length, { timeout: 120_000 }).toBeGreaterThan(0)
    else await relay.initialize()
    await end(relay)
    // Its output is the answer to what comes next.
    if (when.startsWith('the reader')) void relay.ask('ping')
    await expect.poll(() => serverProcesses(pgdata), { timeout: 30_000, interval: 200 }).toEqual([])
    await relay.ended
    await expect(readFile(join(pgdata, 'postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' })
    await rm(own, { recursive: true, force: true })
  },
)

test('`mcp` with --types and --tools lists only these tools, also of the server that it starts', {
  tags: 'full',
}, async () => {
  const server = await openServer({}, database)
  await server.call('PUT', '/v1/bases/crm', {})
  await server.close()
  const own = speak(narrow, settings)
  own.child.stderr.resume()
  await own.initialize()
  const { result } = await own.ask('tools/list')
  expect(result?.tools?.map(({ name }) => name)).toEqual(['list_types', 'query_records'])
  own.child.stdin.end()
  expect(await own.ended).toBe(0)
})

test('`mcp` exits with 0 on SIGTERM', { tags: 'full' }, async () => {
  const own = speak([], settings)
  own.child.stderr.resume()
  await own.initialize()
  own.child.kill('SIGTERM')
  expect(await own.ended).toBe(0)
})

test('`mcp` answers every request with an error when its server is unreachable', async () => {
  const lost = speak([], { PLINTH_URL: 'http://127.0.0.1:1' })
  lost.child.stderr.resume()
  expect(await lost.ask('initialize')).toMatchObject({
    error: { code: -32603, message: expect.stringContaining('http://127.0.0.1:1') },
  })
  lost.child.stdin.end()
  expect(await lost.ended).toBe(0)
})

test('`serve` exits with 1 and names the invalid setting', { tags: 'full' }, async () => {
  const { code, out, err } = await plinth(['serve'], { ...settings, PLINTH_PORT: 'many' })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^NOT_STARTED: .*PLINTH_PORT/)
})

test('a start names the setting of a misspelt variable, a taken port and an absent database', async () => {
  const own = await mkdtemp(join(tmpdir(), 'plinth-taken-'))
  const errorOf = async (more: object) => {
    const env = { ...settings, PLINTH_DATA_DIR: own, ...more }
    const { message } = await (async () => startServer(readConfig(env), openLog('silent')))().then(
      () => expect.unreachable('the server starts'),
      (error: Error) => error,
    )
    return message
  }
  expect(await errorOf({ PLINTH_PROT: '1' })).toContain(
    'unknown setting PLINTH_PROT, did you mean PLINTH_PORT',
  )
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  try {
    expect(await errorOf({ PLINTH_PORT: String(port) })).toMatch(/Port \d+ .*is in use.*PLINTH_PORT/)
  } finally {
    await new Promise((resolve) => taken.close(resolve))
  }
  const DATABASE_URL = `postgres://127.0.0.1:${port}/x`
  expect(await errorOf({ DATABASE_URL })).toContain('DATABASE_URL cannot be reached')
  await rm(own, { recursive: true })
})

test('the command line of a process does not show its token', {
  skip: process.platform !== 'linux',
}, async () => {
  const silent = createServer(() => {})
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as AddressInfo
  const token = `plt_${'x'.repeat(43)}`
  const child = start(['--token', token, '--url', `http://127.0.0.1:${port}`, 'base', 'list'], {})
  await once(silent, 'connection')
  const shown = await readFile(`/proc/${child.pid}/cmdline`, 'utf8')
  expect(shown).toContain('plinth')
  expect(shown).not.toContain('xxxx')
  child.kill('SIGKILL')
  silent.close()
})
