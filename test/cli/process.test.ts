import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { openLog, startServer } from '../../src/main.ts'
import { serverProcesses } from '../../src/postgres/processes.ts'
import { prettyLine } from '../../src/pretty-log.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { SELF_SIGNED } from '../support/self-signed.ts'
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

test('`mcp` answers every request with an error when its server is unreachable', {
  tags: 'full',
}, async () => {
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

test('the log has every line in order, though it is written in pieces and the process ends after a flush', {
  tags: 'full',
}, async () => {
  const main = new URL('../../src/log-pieces.ts', import.meta.url).href
  const wrote = (end: string) => {
    const script = `import { logInPieces } from '${main}'
      const log = logInPieces()
      for (let n = 1; n <= 3000; n++) log.write(n + ' ' + 'x'.repeat(100) + '\\n')
      ${end}`
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    return stderr.split('\n').map((line) => line.replace(/ x{100}$/, ''))
  }
  const lines = [...Array.from({ length: 3000 }, (_, n) => String(n + 1)), '']
  for (const end of ['', 'log.flush(() => process.exit(0))']) expect(wrote(end)).toEqual(lines)
})

const ownDirectory = () => mkdtemp(join(tmpdir(), 'plinth-own-'))

async function errorOf(env: Record<string, string>): Promise<string> {
  const { message } = await (async () => startServer(readConfig(env), openLog(SILENT)))().then(
    () => expect.unreachable('the server starts'),
    (error: Error) => error,
  )
  return message
}
const SILENT = { logLevel: 'silent', logFormat: 'json' } as const

test('a start says what to do if TLS of the database is absent or not trusted', async () => {
  const own = await ownDirectory()
  // The answer to a request for TLS, by the protocol of PostgreSQL.
  const answering = (answer: 'S' | 'N') =>
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write(answer)
        if (answer === 'S') new TLSSocket(socket, { isServer: true, ...SELF_SIGNED }).on('error', () => {})
      })
    })
  for (const [answer, message] of [
    ['S', /certificate .*DATABASE_URL is signed by no authority.*sslrootcert=.*\(DEPTH_ZERO_SELF/],
    ['N', /DATABASE_URL has no TLS.*sslmode/],
  ] as const) {
    const server = answering(answer)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const DATABASE_URL = `postgres://u:secret-4711@localhost:${port}/x?sslmode=require`
    try {
      const said = await errorOf({ ...settings, PLINTH_DATA_DIR: own, DATABASE_URL })
      expect(said).toMatch(message)
      expect(said).not.toContain('secret-4711')
    } finally {
      server.close()
    }
  }
  await rm(own, { recursive: true })
})

test('a checkout is not prepared without a database client, or with one of other models', async () => {
  const { isPrepared } = (await import(new URL('../../bin/prepare.mjs', import.meta.url).href)) as {
    isPrepared(folder: string): boolean
  }
  const own = await ownDirectory()
  const generated = join(own, 'src/engine/prisma')
  const [model, client] = [join(own, 'prisma/models/a.prisma'), join(generated, 'client.ts')]
  for (const folder of [dirname(model), join(generated, 'internal')]) await mkdir(folder, { recursive: true })
  await writeFile(model, 'model A {\n  id String\n}\n')
  expect(isPrepared(own)).toBe(false)
  await writeFile(client, '')
  await utimes(client, 999, 999)
  await writeFile(join(generated, 'internal/class.ts'), `"inlineSchema": "model A {\\n  id String\\n}\\n"`)
  // Newer, but the same.
  expect(isPrepared(own)).toBe(true)
  await writeFile(model, 'model A {\n  id Int\n}\n')
  expect(isPrepared(own)).toBe(false)
  await utimes(model, 998, 998)
  expect(isPrepared(own)).toBe(true)
  await rm(own, { recursive: true })
})

test('a secret is read from the file that its setting with _FILE names', async () => {
  const own = await ownDirectory()
  const file = join(own, 'secret')
  const read = (env: Record<string, string>) => readConfig({ PLINTH_PORT: '0', ...env })
  await writeFile(file, 'plt_a-token-of-some-length\n')
  expect(read({ PLINTH_ADMIN_TOKEN_FILE: file })).toMatchObject({ adminToken: 'plt_a-token-of-some-length' })
  expect(read({ PLINTH_ADMIN_TOKEN_FILE: file }).unknownSettings).toEqual([])
  expect(() => read({ PLINTH_ADMIN_TOKEN_FILE: file, PLINTH_ADMIN_TOKEN: 'x' })).toThrow(
    'PLINTH_ADMIN_TOKEN_FILE is set beside PLINTH_ADMIN_TOKEN',
  )
  expect(() => read({ PLINTH_MASTER_KEY_FILE: `${file}-absent` })).toThrow(
    /PLINTH_MASTER_KEY_FILE names .*-absent, which cannot be read: ENOENT/,
  )
  await writeFile(file, 'postgres://db.example.com/x')
  expect(read({ DATABASE_URL_FILE: file })).toMatchObject({ databaseUrl: 'postgres://db.example.com/x' })
  // A fault names the setting, and shows nothing of the file.
  await writeFile(file, 'canary-4711')
  expect(() => read({ PLINTH_MASTER_KEY_FILE: file })).toThrow(
    /^((?!canary).)*PLINTH_MASTER_KEY((?!canary).)*$/,
  )
  await writeFile(file, '\n')
  expect(() => read({ DATABASE_URL_FILE: file })).toThrow('which is empty')
  await writeFile(file, 'x'.repeat(70_000))
  expect(() => read({ DATABASE_URL_FILE: file })).toThrow('more than 65536 bytes')
  expect(() => read({ PLINTH_PORT_FILE: file })).not.toThrow()
  expect(read({ PLINTH_PORT_FILE: file }).unknownSettings).toEqual(['PLINTH_PORT_FILE'])
  await rm(own, { recursive: true })
})

test('the log is JSON in a pipe, and lines for people where the setting says so', {
  tags: 'full',
}, async () => {
  const own = await ownDirectory()
  const env = { ...settings, PLINTH_DATA_DIR: own }
  const refused = {
    PLINTH_DATA_DIR: own,
    DATABASE_URL: database.url,
    PLINTH_DELIVERIES: 'off',
    PLINTH_PORT: '0',
  }
  const firstLine = async (format: Record<string, string>) => {
    const child = start(['serve'], { ...env, ...refused, ...format })
    const [line] = await once(createInterface({ input: child.stderr }), 'line')
    child.kill('SIGTERM')
    await once(child, 'close')
    return String(line)
  }
  expect(JSON.parse(await firstLine({}))).toMatchObject({ level: expect.any(String) })
  expect(await firstLine({ PLINTH_LOG_FORMAT: 'pretty' })).toMatch(/^\d\d:\d\d:\d\d\.\d{3} (INFO|WARN) {2}\w/)
  const line = { level: 'error', time: '2026-11-26T09:30:00.000Z', msg: 'a\u001b[2J', text: 'b\nc', n: 1 }
  const shown = prettyLine(JSON.stringify({ ...line, err: { message: 'no', stack: 'Error: no\n    at x' } }))
  expect(shown).toMatch(/ERROR a\\u001b\[2J text="b\\nc" n=1\nError: no\n {4}at x\n$/)
  await rm(own, { recursive: true })
})

test('a start names the setting of a misspelt variable, a taken port and an absent database', {
  tags: 'full',
}, async () => {
  const own = await ownDirectory()
  const startError = (more: object) => errorOf({ ...settings, PLINTH_DATA_DIR: own, ...more })
  expect(await startError({ PLINTH_PROT: '1' })).toContain(
    'unknown setting PLINTH_PROT, did you mean PLINTH_PORT',
  )
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  try {
    expect(await startError({ PLINTH_PORT: String(port) })).toMatch(/Port \d+ .*is in use.*PLINTH_PORT/)
  } finally {
    await new Promise((resolve) => taken.close(resolve))
  }
  const DATABASE_URL = `postgres://127.0.0.1:${port}/x`
  expect(await startError({ DATABASE_URL })).toContain('DATABASE_URL cannot be reached')
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
