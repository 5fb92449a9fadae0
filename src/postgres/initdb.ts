/**
 * Initializes the data directory of a new cluster atomically: in a draft directory that is renamed when
 * complete.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import type { PostgresPaths } from './paths.ts'
import type { Identity } from './run-as-user.ts'
import { SUPERUSER, serverEnvironment } from './settings.ts'
import { passwordFile } from './windows.ts'

const run = promisify(execFile)
const MAJOR_VERSION = '18'
const DRAFT = /^postgres\.draft-(\d+)-/

// Sort strings by code point, independent of the machine and its C library.
const LOCALE = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Initializes only an empty location. Never overwrites data. */
export async function ensureData(
  paths: PostgresPaths,
  binaries: Binaries,
  identity: Identity,
): Promise<void> {
  if (await hasData(paths)) return
  await removeAbandonedDrafts(paths)
  const draft = `${paths.pgdata}.draft-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    await initialize(draft, paths, binaries, identity)
    await rename(draft, paths.pgdata)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was faster. Use its data.
    if (await hasData(paths)) return
    throw error
  }
  await syncDirectory(paths.dataDir)
}

async function hasData({ pgdata }: PostgresPaths): Promise<boolean> {
  const version = await readFile(join(pgdata, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version !== undefined && version.trim() !== MAJOR_VERSION) {
    throw new Error(
      `${pgdata} was written by PostgreSQL ${version.trim()}; this is ${MAJOR_VERSION}. ` +
        'Dump it with the old version and restore it into a new data directory.',
    )
  }
  if (version !== undefined) return true
  const found = await readdir(pgdata).catch(() => [])
  if (found.length === 0) return false
  throw new Error(
    `${pgdata} has files, but no PostgreSQL data. Move them away, or choose another data directory.`,
  )
}

/** Runs initdb, which syncs its files (about 0.1 s): the files must be durable before the rename. */
async function initialize(
  draft: string,
  paths: PostgresPaths,
  { initdb }: Binaries,
  identity: Identity,
): Promise<void> {
  // On a unix socket, the directory mode controls access. Windows only has TCP, so it needs a password.
  const secret = await passwordFile(paths.dataDir)
  const access = secret
    ? ['--auth=scram-sha-256', `--pwfile=${secret}`]
    : ['--auth-local=trust', '--auth-host=reject']
  const options = [`--username=${SUPERUSER}`, ...access, '--data-checksums', ...LOCALE, '--no-instructions']
  const [command = initdb, ...rest] = [...identity.prefix, initdb, `--pgdata=${draft}`, ...options]
  await run(command, rest, { env: serverEnvironment(), cwd: '/' }).catch((cause: { stderr?: string }) => {
    const reason = cause.stderr?.trim() || String(cause)
    throw new Error(`PostgreSQL could not initialize its data in ${paths.dataDir}: ${reason}`, { cause })
  })
}

/** Removes drafts of killed processes. */
async function removeAbandonedDrafts({ dataDir }: PostgresPaths): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const pid = DRAFT.exec(name)?.[1]
    if (pid === undefined) continue
    const { mtimeMs } = await stat(join(dataDir, name))
    // In a container the killed process may have had our pid.
    const isOlder = Number(pid) === process.pid && mtimeMs < performance.timeOrigin
    if (isAlive(Number(pid)) && !isOlder) continue
    // An orphaned initdb may still write. A later start removes the rest.
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory, and does not need to.
  if (process.platform === 'win32') return
  await using directory = await open(path, 'r')
  await directory.sync()
}
