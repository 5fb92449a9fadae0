/** A server with an embedded PostgreSQL of its own, which is backed up, in a process of its own. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { plinthProcess, start } from '../cli/plinth.ts'
import { type Body, type Call, caller } from './caller.ts'
import { eventually } from './until.ts'

const TOKEN = 'plt_test-administrator-of-backups'

export type BackedUp = {
  dataDir: string
  url: string
  pid: number
  call: Call
  /** What /readyz says. */
  ready(): Promise<Body>
  /** Waits until /readyz is as expected. */
  until(holds: (ready: Body) => boolean): Promise<Body>
  /** Ends the process by a signal, and waits for its end. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  log: string[]
}

export const directory = async (folder: string, name: string): Promise<string> => {
  const path = join(folder, name)
  await mkdir(path, { recursive: true })
  return path
}

export const settingsOf = (dataDir: string, backups?: string): Record<string, string> => ({
  PLINTH_DATA_DIR: dataDir,
  PLINTH_PORT: '0',
  PLINTH_RATE_LIMIT: '0',
  PLINTH_ADMIN_TOKEN: TOKEN,
  PLINTH_LOG_FORMAT: 'json',
  PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  PLINTH_WEBHOOK_SCHEDULE: '1',
  ...(backups !== undefined && {
    PLINTH_BACKUP_URL: backups.includes(':') ? backups : pathToFileURL(backups).href,
  }),
})

/** Starts the server. `backups` is a directory or an address; without it there are none. */
export async function startBackedUp(
  dataDir: string,
  backups?: string,
  env: Record<string, string> = {},
): Promise<BackedUp> {
  const child = start(['serve'], { ...settingsOf(dataDir, backups), ...env })
  const log: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.on('close', (code) => reject(new Error(`The server ended with ${code}: ${log.join('\n')}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('plinth ready ')) resolve(line.slice('plinth ready '.length))
    })
  })
  const ready = async () => (await (await fetch(`${url}/readyz`)).json()) as Body
  return {
    ...{ dataDir, url, pid: child.pid ?? 0, call: caller(url, TOKEN), ready, log },
    until: (holds) =>
      eventually(async () => {
        const found = await ready()
        return holds(found) ? found : undefined
      }),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      await ended
      // The guard of a killed server ends its PostgreSQL; a start takes it over before.
    },
  }
}

/** Runs a command on a data directory. */
export const run = (args: string[], dataDir: string, backups?: string, env: Record<string, string> = {}) =>
  plinthProcess(args, { ...settingsOf(dataDir, backups), ...env })

/** The JSON of a command that succeeds. */
export async function ask(
  args: string[],
  dataDir: string,
  backups?: string,
  env: Record<string, string> = {},
) {
  const { code, out, err } = await run([...args, '--json'], dataDir, backups, env)
  if (code !== 0) throw new Error(`plinth ${args.join(' ')} ended with ${code}: ${out}${err}`)
  return JSON.parse(out) as Body
}

/** A directory in memory of so many bytes; undefined where this user may not mount one. */
export async function smallDisk(path: string, bytes: number): Promise<(() => Promise<void>) | undefined> {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const exec = promisify(execFile)
  await mkdir(path, { recursive: true })
  try {
    await exec('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path])
  } catch {
    return undefined
  }
  return async () => {
    await exec('umount', ['-l', path])
    await rm(path, { recursive: true, force: true })
  }
}

/** Asks the embedded PostgreSQL of a server. */
export async function query<Row extends object>(
  { dataDir }: Pick<BackedUp, 'dataDir'>,
  text: string,
): Promise<Row[]> {
  const host = encodeURIComponent(join(dataDir, 'run'))
  const client = new pg.Client({ connectionString: `postgres://plinth@localhost:5432/plinth?host=${host}` })
  await client.connect()
  const { rows } = await client.query<Row>(text)
  await client.end()
  return rows
}

/** Ends the segment that the server writes, as a minute does. */
export const endSegment = async (server: Pick<BackedUp, 'dataDir'>): Promise<void> =>
  void (await query(server, 'SELECT pg_switch_wal()'))
