/** What Windows does otherwise: TCP and a password for want of unix sockets, pg_ctl for want of signals. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The file that holds the server's password, made on first use; undefined where no password is needed. */
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

/** A port of 127.0.0.1 nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done, failed) => server.once('error', failed).listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise<void>((done) => server.close(() => done()))
  if (address === null || typeof address === 'string') throw new Error('No free port on 127.0.0.1')
  return address.port
}

/** Stops the server of a data directory by pg_ctl, which waits until it is gone. */
export async function stopByPgCtl(pgCtl: string, pgdata: string): Promise<void> {
  const stop = (mode: string) => run(pgCtl, ['stop', '-D', pgdata, '-w', '-t', '20', '-m', mode])
  await stop('fast').catch(() => stop('immediate'))
}
