import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { start } from '../cli/plinth.ts'
import { type Call, caller } from './caller.ts'

export type ChildServer = {
  readonly pid: number
  readonly url: string
  readonly call: Call
  /** Ends the process at once, as `kill -9` does, and waits for its end. */
  kill(): Promise<void>
}

/** What servers share. */
export type Shared = { readonly database?: { readonly url: string }; readonly adminToken: string }

/** Starts a server in a process of its own, on the database of the world, or with one of its own in the data directory that `env` names. */
export async function startChild(world: Shared, env: Record<string, string> = {}): Promise<ChildServer> {
  const { PLINTH_DATA_DIR: kept } = env
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'plinth-child-')))
  const child = start(['serve'], {
    DATABASE_URL: world.database?.url,
    PLINTH_DATA_DIR: dataDir,
    PLINTH_PORT: '0',
    PLINTH_RATE_LIMIT: '0',
    PLINTH_ADMIN_TOKEN: world.adminToken,
    ...env,
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2000)
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.on('close', (code) => reject(new Error(`The server ended with ${code}: ${said}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('plinth ready ')) resolve()
    })
  })
  // Its own address: the line has the public one.
  const { url } = JSON.parse(await readFile(join(dataDir, 'server.json'), 'utf8'))
  return {
    pid: child.pid ?? 0,
    url,
    call: caller(url, world.adminToken),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
      if (kept === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}
