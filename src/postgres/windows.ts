/** Windows specifics: TCP with a password instead of unix sockets, pg_ctl instead of signals. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Path of the password file, created on first use; undefined on other platforms. */
export async function passwordFile(dataDir: string): Promise<string | undefined> {
  if (process.platform !== 'win32') return undefined
  const path = join(dataDir, 'postgres.password')
  const fresh = { flag: 'wx', mode: 0o600 } as const
  await writeFile(path, randomBytes(24).toString('hex'), fresh).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return path
}

export function readPassword(dataDir: string): string {
  return readFileSync(join(dataDir, 'postgres.password'), 'utf8')
}

/** Finds a free port on 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done, failed) => server.once('error', failed).listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise<void>((done) => server.close(() => done()))
  if (address === null || typeof address === 'string') throw new Error('No free port on 127.0.0.1')
  return address.port
}

/** Stops a server with pg_ctl and waits until it has exited. */
export async function stopByPgCtl(pgCtl: string, pgdata: string): Promise<void> {
  const stop = (mode: string) => run(pgCtl, ['stop', '-D', pgdata, '-w', '-t', '20', '-m', mode])
  await stop('fast').catch(() => stop('immediate'))
}
