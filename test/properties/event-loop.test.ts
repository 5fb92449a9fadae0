// @module-tag full
/** No request blocks the event loop for long, and each is answered, whatever its size and shape. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../src/foundation/limits.ts'
import { start } from '../cli/plinth.ts'
import { sleep } from '../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { SEED } from '../support/seed.ts'
import { EXAMPLES } from './hostile-examples.ts'
import { hostileSizes, prepare, type Sent } from './hostile-sizes.ts'

const TOKEN = 'plt_test-administrator-of-everything'
const MOST_ANSWERED = 17 * 1024 * 1024
const MOST_REFUSED = 64 * 1024
/** The recorder samples every 20 ms and reports in the following turn. */
const RECORDED_MS = 60
/** Attempts per request, each with a new server process. */
const TRIES = 5
/** Processor time of the measured work of `slowness` where memory is quick, in ms. */
const QUICK_MS = 150

type SlowTurn = { ms: number; cpu_ms: number; gc_ms: number; requests: { method: string; route: string }[] }
type Served = { url: string; slowTurns: SlowTurn[]; errors: string[]; stop(): Promise<void> }

let database: TestDatabase
let dataDir: string
let server: Served

beforeAll(async () => {
  database = await cloneDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-event-loop-'))
  server = await serve()
  await prepare(async (path, body) => {
    const answer = await send({ kind: 'prepare', method: 'PUT', path, body: JSON.stringify(body) })
    expect(answer.status, answer.text).toBeLessThan(300)
  })
}, CASES_TIMEOUT)
afterAll(async () => {
  await server?.stop()
  await database?.drop()
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

/** Starts the server as its own process, so that the test does not use its event loop. */
async function serve(): Promise<Served> {
  const child = start(['serve'], {
    DATABASE_URL: database.url,
    PLINTH_DATA_DIR: dataDir,
    PLINTH_PORT: '0',
    PLINTH_RATE_LIMIT: '0',
    PLINTH_ADMIN_TOKEN: TOKEN,
    PLINTH_LOG_LEVEL: 'warn',
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const slowTurns: SlowTurn[] = []
  const errors: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    const read = (line: string) => {
      const [, ready] = /^plinth ready .*?(http:\S+)/.exec(line) ?? []
      if (ready) resolve(ready)
      else if (line.includes('slow turn of the event loop')) slowTurns.push(JSON.parse(line) as SlowTurn)
      else errors.push(line)
    }
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read)
    void ended.then(() => reject(new Error(`The server has ended: ${errors.join('\n')}`)))
  })
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, slowTurns, errors, stop }
}

async function send({ method, path, body, accept, type = 'application/json' }: Sent) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      accept: accept ?? 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, bytes: bytes.length, text: bytes.subarray(0, 300).toString() }
}

/**
 * How many times as much processor time this machine takes now for new memory and for reading JSON. Some virtual machines
 * take twenty times as long for a page of memory that no process has used yet.
 */
function slowness(): number {
  const work = `
    const text = '[' + '1e300,'.repeat(1_700_000) + '0]'
    const before = process.cpuUsage()
    Buffer.alloc(64 * 1024 * 1024, 1)
    JSON.parse(text)
    const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1000)`
  return Math.max(1, Number(execFileSync(process.execPath, ['-e', work])) / QUICK_MS)
}

/** Waits until the recorder has reported the last turn; it runs only while requests are open. */
async function settle(): Promise<void> {
  await sleep(RECORDED_MS)
  await fetch(`${server.url}/healthz`)
  await sleep(RECORDED_MS)
}

/** Sends a request and returns the turns that used too much processor time on the serving thread. */
async function longTurns(sent: Sent): Promise<SlowTurn[]> {
  const what = described(sent)
  server.slowTurns.length = 0
  const answer = await send(sent).catch((thrown: Error) => {
    throw new Error(`${what} has no answer: ${thrown.cause ?? thrown.message}`)
  })
  await settle()
  expect(answer.status, `${what}: ${answer.text}\n${server.errors.splice(0).join('\n')}`).toBeLessThan(500)
  expect(answer.bytes, what).toBeLessThan(answer.status < 400 ? MOST_ANSWERED : MOST_REFUSED)
  const slow = server.slowTurns.filter(({ cpu_ms }) => cpu_ms > LIMITS.turnMs)
  if (slow.length === 0) return slow
  const most = LIMITS.turnMs * slowness()
  return slow.filter(({ cpu_ms }) => cpu_ms > most)
}

/** Repeats a failing request in a new process: other load slows the work, and caches of the old process would hide it. */
async function expectShortTurns(sent: Sent): Promise<void> {
  for (let tries = 1; ; tries++) {
    const turns = await longTurns(sent)
    if (turns.length === 0) return
    if (tries === TRIES) expect.fail(`${described(sent)} held the event loop: ${JSON.stringify(turns)}`)
    await server.stop()
    server = await serve()
  }
}

const described = ({ kind, method, path, body = '' }: Sent): string =>
  `${kind}, ${method} ${path.slice(0, 200)} (${path.length}), body of ${body.length}: ${body.slice(0, 200)}`

test('requests that once blocked the event loop stay within the limit of a turn', {
  timeout: CASES_TIMEOUT * 3,
}, async () => {
  for (const make of EXAMPLES) await expectShortTurns(make())
})

test('no request of hostile size or shape blocks the event loop or causes a server error', {
  tags: 'sampled',
  timeout: CASES_TIMEOUT * 3,
}, async () => {
  for (const sent of fc.sample(hostileSizes, { numRuns: cases(60), seed: SEED })) await expectShortTurns(sent)
})
