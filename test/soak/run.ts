/**
 * `npm run soak -- --minutes 10`: ordinary clients beside one that sends requests of hostile size and shape. Says how long the
 * ordinary requests took, what the hostile ones were answered, and what memory did. Ends with 1 where an ordinary request
 * failed, its 99th percentile is above `--p99` ms, or what lives in memory grew.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { endChildren, postmasterOf, startPlinth } from '../bench/children.ts'
import { memoryOf } from '../bench/memory.ts'
import { prepare } from '../properties/hostile-sizes.ts'
import { type Asked, caller, client, prepareShop } from './honest.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    lanes: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    /** Pause after each hostile request. With 0, they fill what the server gives their token. */
    pause: { type: 'string', default: '0' },
    p99: { type: 'string', default: '250' },
  },
})
/** Server memory at the end against that after the first quarter. */
const GROWTH_MB = 150
/** From then on, the heap has its size and the caches are full: what still grows leaks. */
const SETTLED_MS = 600_000
const SLOPE_MB_A_MINUTE = 1
/** A slope of fewer minutes is that of the last collections of garbage. */
const SLOPE_SAMPLES = 40
const SAMPLE_MS = 15_000
/** About as many as there are in two minutes. */
const LAST_COLLECTIONS = 25
/** An idle server collects its garbage within ten seconds, and returns freed pages within half a minute. */
const REST_MS = 40_000
const say = (text: string) => process.stdout.write(`${text}\n`)

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

async function main(): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-soak-'))
  const heapFile = join(dataDir, 'live-heap')
  const observer = fileURLToPath(new URL('./live-heap.ts', import.meta.url))
  const plinth = await startPlinth(dataDir, undefined, {
    flags: ['--import', observer],
    env: { SOAK_HEAP: heapFile },
  })
  const admin = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim()
  const call = caller(plinth.url, admin)
  await prepareShop(call)
  await prepare(async (path, body) => void (await call('PUT', path, body)))
  const tokens = await Promise.all(
    Array.from({ length: Number(values.clients) }, () => tokenFor(plinth.url, admin, 'shop', 'write')),
  )
  const hostileToken = await tokenFor(plinth.url, admin, 'big', 'manage')
  const hostile = spawn(process.execPath, [fileURLToPath(new URL('./hostile.ts', import.meta.url))], {
    env: {
      ...process.env,
      SOAK_URL: plinth.url,
      SOAK_TOKEN: hostileToken,
      SOAK_LANES: values.lanes,
      SOAK_SEED: values.seed,
      SOAK_PAUSE: values.pause,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const begun = performance.now()
  const until = begun + Number(values.minutes) * 60_000
  const isOver = () => performance.now() > until
  const asked: Asked[] = []
  const memory: Sample[] = []
  /** The least that lived after the last collections: what is in flight comes on top. */
  const leastLive = async () => {
    const text = await readFile(heapFile, 'utf8').catch(() => '')
    const last = text.trim().split('\n').slice(-LAST_COLLECTIONS)
    return Math.min(...last.map(Number)) / 2 ** 20
  }
  const sampling = (async () => {
    while (!isOver()) {
      await sleep(SAMPLE_MS)
      const now = memoryOf(plinth.pid, postmasterOf(dataDir))
      const liveMb = await leastLive()
      if (now) memory.push({ ...now, liveMb, ms: performance.now() - begun })
      if (now)
        say(
          `memory: server ${now.serverMb.toFixed(0)} MB, of which live ${liveMb.toFixed(1)} MB, with PostgreSQL ${now.treeMb.toFixed(0)} MB`,
        )
    }
  })()
  await Promise.all(
    tokens.map((token, i) => client(caller(plinth.url, token), i * 997, isOver, (one) => asked.push(one))),
  )
  await sampling
  const gone = new Promise((resolve) => hostile.once('exit', resolve))
  hostile.kill('SIGTERM')
  await gone
  await sleep(REST_MS)
  const idle = memoryOf(plinth.pid, postmasterOf(dataDir))
  await plinth.end()
  await rm(dataDir, { recursive: true, force: true })
  return report(asked, memory, idle)
}

async function tokenFor(url: string, admin: string, base: string, permission: string): Promise<string> {
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `soak ${base}`,
      grants: [{ base, record_type: '*', environment: '*', permission }],
    }),
  })
  const { token } = (await response.json()) as { token: string }
  return token
}

type Memory = { serverMb: number; treeMb: number }
type Sample = Memory & { liveMb: number; ms: number }

/** Megabytes a minute, by least squares. */
function slopeOf(samples: readonly Sample[], mbOf: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length
  const [at, mb] = [mean(samples.map(({ ms }) => ms)), mean(samples.map(mbOf))]
  const of = (sample: Sample) => (sample.ms - at) * (mbOf(sample) - mb)
  const spread = samples.reduce((sum, { ms }) => sum + (ms - at) ** 2, 0)
  return (samples.reduce((sum, each) => sum + of(each), 0) / spread) * 60_000
}

function report(asked: readonly Asked[], memory: readonly Sample[], idle: Memory | undefined): boolean {
  const failed = asked.filter(({ status }) => status < 200 || status > 299)
  for (const kind of [...new Set(asked.map((one) => one.kind)), 'all']) {
    const ms = asked
      .filter((one) => kind === 'all' || one.kind === kind)
      .map((one) => one.ms)
      .sort((a, b) => a - b)
    const [p50, p99] = [percentile(ms, 0.5), percentile(ms, 0.99)]
    say(
      `${kind}: ${ms.length} requests, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${ms.at(-1)?.toFixed(1)} ms`,
    )
  }
  say(`failed: ${failed.length} ${JSON.stringify(failed.slice(0, 5))}`)
  if (idle)
    say(
      `memory when idle: server ${idle.serverMb.toFixed(0)} MB, with PostgreSQL ${idle.treeMb.toFixed(0)} MB`,
    )
  const all = asked.map(({ ms }) => ms).sort((a, b) => a - b)
  const settled = memory[Math.floor(memory.length / 4)]?.serverMb ?? 0
  const last = memory.slice(-4).map(({ serverMb }) => serverMb)
  const growth = last.length > 0 ? Math.min(...last) - settled : 0
  say(`memory growth of the server after the first quarter: ${growth.toFixed(0)} MB`)
  const settledSamples = memory.filter(({ ms }) => ms >= SETTLED_MS)
  const isLong = settledSamples.length >= SLOPE_SAMPLES
  const slope = (mbOf: (sample: Sample) => number) => (isLong ? slopeOf(settledSamples, mbOf) : 0)
  const live = slope(({ liveMb }) => liveMb)
  const [server, tree] = [slope(({ serverMb }) => serverMb), slope(({ treeMb }) => treeMb)]
  if (isLong)
    say(
      `slope after ten minutes: live ${live.toFixed(2)}, server ${server.toFixed(2)}, with PostgreSQL ${tree.toFixed(2)} MB a minute`,
    )
  return (
    failed.length === 0 &&
    percentile(all, 0.99) <= Number(values.p99) &&
    growth <= GROWTH_MB &&
    // V8 keeps freed pages up to the most that the heap has had, so the process grows with its peaks, and what lives does not.
    // Of PostgreSQL it is only said: a run is too short to tell a leak from caches that fill.
    live < SLOPE_MB_A_MINUTE
  )
}

try {
  process.exitCode = (await main()) ? 0 : 1
} finally {
  await endChildren()
}
