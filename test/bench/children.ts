import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A server of this run, in a process of its own. */
export type Child = { pid: number; url: string; readyMs: number; end(): Promise<void> }

const START_MS = 60_000
const END_MS = 30_000
const alive = new Set<ChildProcess>()

/** What `npm start` gives the process. */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }
const FLAGS = ['--max-semi-space-size=16', '--no-parallel-scavenge', '--no-allocation-site-pretenuring']

type Observed = { flags?: readonly string[]; env?: Record<string, string> }
/** Plinth as a user starts it, but without a rate limit; what it logs goes to /dev/null. */
export const startPlinth = (
  dataDir: string,
  profile?: string,
  { flags = [], env = {} }: Observed = {},
): Promise<Child> =>
  start('../../bin/plinth.mjs', ['serve'], profile, [...FLAGS, ...flags], {
    PLINTH_DATA_DIR: dataDir,
    PLINTH_PORT: '0',
    PLINTH_RATE_LIMIT: '0',
    ...env,
  })

export const startFloor = (databaseUrl: string, profile?: string): Promise<Child> =>
  start('./floor.ts', [], profile, FLAGS, { DATABASE_URL: databaseUrl })

async function start(
  file: string,
  args: string[],
  profile: string | undefined,
  nodeFlags: readonly string[],
  settings: Record<string, string>,
): Promise<Child> {
  const own = Object.entries(process.env).filter(([name]) => !/^(PLINTH_|DATABASE_URL)/.test(name))
  const flags = [...nodeFlags, ...(profile ? ['--cpu-prof', '--cpu-prof-dir', profile] : [])]
  const begun = performance.now()
  const child = spawn(process.execPath, [...flags, fileURLToPath(new URL(file, import.meta.url)), ...args], {
    env: { ...Object.fromEntries(own), ...ALLOCATOR, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  const url = await readyLine(child, file)
  return { pid: child.pid ?? 0, url, readyMs: performance.now() - begun, end: () => end(child) }
}

function readyLine(child: ChildProcess, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const late = setTimeout(
      () => reject(new Error(`${file} was not ready in ${START_MS / 1000} s`)),
      START_MS,
    )
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk
      const url = /^\w+ ready (\S+)$/m.exec(text)?.[1]
      if (!url) return
      clearTimeout(late)
      resolve(url)
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`${file} ended with ${code} before it was ready`))
    })
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  if ((await Promise.race([gone, sleep(END_MS, 'late', { ref: false })])) !== 'late') return
  child.kill('SIGKILL')
  await gone
}

/** Ends whatever this run still has, each by its own id. */
export async function endChildren(): Promise<void> {
  await Promise.all([...alive].map(end))
}

/** The id of the PostgreSQL of a data directory, while it has one. */
export function postmasterOf(dataDir: string): number | undefined {
  try {
    return (
      Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]) || undefined
    )
  } catch {
    return undefined
  }
}

/** Stops a PostgreSQL that outlived its server, as it does when the server had to be killed. */
export async function endPostgres(dataDir: string): Promise<void> {
  const pid = postmasterOf(dataDir)
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    return
  }
  for (let waited = 0; postmasterOf(dataDir) === pid && waited < END_MS; waited += 50) await sleep(50)
}
