/** Paths and addresses of one embedded server. */
import { createHash } from 'node:crypto'
import { access, chmod, constants, lstat, mkdir, realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readPidFile } from './processes.ts'
import { DATABASE, SOCKET_PORT, SUPERUSER } from './settings.ts'
import { readPassword } from './windows.ts'

export type PostgresPaths = { dataDir: string; pgdata: string; run: string; logFile: string }
type Address = { host: string; port: number }

/** Maximum length of a socket path, without the terminating zero. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103
const WINDOWS = process.platform === 'win32'

/** Creates the directories of a server. The data directory is initialized later. */
export async function preparePlace(dataDir: string): Promise<PostgresPaths> {
  const real = await makeDirectory(dataDir)
  const pgdata = join(real, 'postgres')
  const run = WINDOWS ? real : await prepareSocketDirectory(real, pgdata)
  return { dataDir: real, pgdata, run, logFile: join(real, 'postgres.log') }
}

async function makeDirectory(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(path)
  } catch (cause) {
    throw new Error(
      `The data directory is not writable by this user: ${resolve(path)}. Choose another one.`,
      {
        cause,
      },
    )
  }
}

/** Possible addresses of the running server. Another process may have started it under a different TMPDIR. */
export function addresses(paths: PostgresPaths): Address[] {
  const running = readPidFile(paths.pgdata)
  if (WINDOWS) return running ? [{ host: '127.0.0.1', port: running.port }] : []
  const ours = { host: paths.run, port: SOCKET_PORT }
  if (!running?.socketDirectory || running.socketDirectory === paths.run) return [ours]
  return [ours, { host: running.socketDirectory, port: running.port }]
}

/** Connection URL with every part explicit, because `pg` fills missing parts from the environment. */
export function addressUrl(paths: PostgresPaths, { host, port }: Address, database = DATABASE): string {
  if (!host.startsWith('/')) {
    return `postgres://${SUPERUSER}:${readPassword(paths.dataDir)}@${host}:${port}/${database}?sslmode=disable`
  }
  const socket = `host=${encodeURIComponent(host)}&sslmode=disable`
  return `postgres://${SUPERUSER}@localhost:${port}/${database}?${socket}`
}

/** The owner of the data: that of the cluster if it exists, else of its parent directory. */
export async function dataOwner(
  paths: Pick<PostgresPaths, 'dataDir' | 'pgdata'>,
): Promise<{ uid: number; gid: number }> {
  return stat(paths.pgdata).catch(() => stat(paths.dataDir))
}

async function prepareSocketDirectory(dataDir: string, pgdata: string): Promise<string> {
  const inside = join(dataDir, 'run')
  if (fits(inside)) {
    await mkdir(inside, { recursive: true, mode: 0o700 })
    // Fix the mode, which a restore or a volume driver may have changed. Fails only if the directory belongs
    // to another user.
    await chmod(inside, 0o700)
    return inside
  }
  const name = `plinth-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  const outside = [tmpdir(), '/tmp'].map((parent) => join(parent, name)).find(fits)
  if (!outside)
    throw new Error(`No directory for the socket of ${dataDir} is short enough. Choose a shorter one.`)
  await mkdir(outside, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await checkPrivate(outside, (await dataOwner({ dataDir, pgdata })).uid)
  return outside
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${SOCKET_PORT}`)) <= SOCKET_PATH_BYTES
}

/**
 * Checks owner and mode: another user who can write here, or who created it first, could impersonate the
 * server.
 */
async function checkPrivate(directory: string, ownerUid: number): Promise<void> {
  const found = await lstat(directory)
  const ours = found.uid === process.geteuid?.() || found.uid === ownerUid
  if (found.isDirectory() && ours && (found.mode & 0o077) === 0) return
  throw new Error(
    `${directory} is the directory of the server's socket, but other users can write to it. Remove it and start again.`,
  )
}
