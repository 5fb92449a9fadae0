import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
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

test('`serve` prints its address, commands find it by the data directory, and SIGTERM ends it with 0', async () => {
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

  const joined = speak(['--base', 'crm'], here)
  await joined.initialize()
  const { result } = await joined.ask('tools/list')
  expect(result?.tools?.map(({ name }) => name)).toContain('upsert_record')
  joined.child.stdin.end()
  expect(await joined.ended).toBe(0)

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
  own.child.stdin.end()
  expect(await own.ended).toBe(0)
  await expect(readFile(join(dataDir, 'server.json'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('`mcp` with --types and --tools lists only these tools', async () => {
  const args = ['--base', 'crm', '--read-only', '--types', 'task', '--tools', 'list_types,query_records']
  const own = speak(args, settings)
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
  expect(await lost.ask('initialize')).toMatchObject({ error: { code: -32603 } })
  lost.child.stdin.end()
  expect(await lost.ended).toBe(0)
})

test('`serve` exits with 1 and names the invalid setting', async () => {
  const { code, out, err } = await plinth(['serve'], { ...settings, PLINTH_PORT: 'many' })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(/^NOT_STARTED: .*PLINTH_PORT/)
})
