/** Joins a running server, or starts one. Safe with several processes at once. */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, unlinkSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { LIMITS } from '../foundation/limits.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { type Launch, launch } from './launch.ts'
import type { PostgresPaths } from './paths.ts'
import { type Answer, probe } from './probe.ts'
import { serverProcesses } from './processes.ts'
import { chooseIdentity, type Identity } from './run-as-user.ts'
import { SOCKET_PORT, SUPERUSER, serverEnvironment } from './settings.ts'
import { passwordFile } from './windows.ts'

/** Log messages of a server that found another one, or the lock files of a dead one. */
const HELD_BY_ANOTHER = /lock file ".*" already exists|is still in use|lock file ".*" is empty/

export type Started = { server: Extract<Answer, { state: 'ready' }>; adopted: boolean }

/** Probes until a server answers. Launches one if no process holds the data directory. */
export async function joinOrStart(
  paths: PostgresPaths,
  settings: Readonly<Record<string, string>>,
  startMs: number = LIMITS.clusterStartMs,
): Promise<Started> {
  const deadline = Date.now() + startMs
  let launched: Launch | undefined
  for (
    let pause: number = LIMITS.clusterFirstPauseMs;
    ;
    pause = Math.min(pause * 1.2, LIMITS.clusterLongestPauseMs)
  ) {
    const answer = await probe(paths)
    if (answer.state === 'ready') return { server: answer, adopted: !isOurs(launched, answer.pid) }
    if (Date.now() > deadline) throw timeoutError(paths, startMs)
    if (answer.state === 'absent' && !isRunning(launched))
      launched = await tryLaunch(paths, settings, launched)
    await sleep(pause)
  }
}

async function tryLaunch(
  paths: PostgresPaths,
  settings: Readonly<Record<string, string>>,
  last: Launch | undefined,
): Promise<Launch | undefined> {
  const failure = last?.failure()
  if (failure !== undefined && !HELD_BY_ANOTHER.test(failure)) throw failedError(paths, failure)
  if (failure !== undefined) removeStaleLocks(paths)
  // Another process' server that does not listen yet, or child processes of a killed postmaster.
  if (serverProcesses(paths.pgdata).length > 0) return undefined
  const binaries = findBinaries()
  const identity = await chooseIdentity(paths, binaries.postgres)
  await ensureData(paths, binaries, identity)
  return launch(paths, binaries, identity, settings)
}

/**
 * Removes stale lock files. PostgreSQL trusts a lock file if its pid is alive, but after a crash or in a new
 * container another program may have that pid. No server answered and no server process exists, so a file
 * that was there before is stale.
 */
function removeStaleLocks(paths: PostgresPaths): void {
  // On Windows PostgreSQL verifies the process itself.
  if (process.platform === 'win32') return
  const files = [join(paths.pgdata, 'postmaster.pid'), join(paths.run, `.s.PGSQL.${SOCKET_PORT}.lock`)]
  const before = files.map(readIfThere)
  if (serverProcesses(paths.pgdata).length > 0) return
  files.forEach((file, i) => {
    // Another process may have started its server in the meantime. Do not remove its lock.
    if (before[i] !== undefined && readIfThere(file) === before[i]) unlinkSync(file)
  })
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isRunning(launched: Launch | undefined): boolean {
  return launched !== undefined && launched.failure() === undefined
}

/**
 * Whether we launched the server with this pid. On Windows the launched process is pg_ctl, with a pid of its
 * own.
 */
function isOurs(launched: Launch | undefined, pid: number): boolean {
  return process.platform === 'win32' ? launched !== undefined : launched?.pid === pid
}

function failedError({ logFile }: PostgresPaths, output: string): Error {
  const lines = output.trim().split('\n')
  // Clients that connect during a start or stop cause lines with "the database system is …". They are not the reason.
  const isReason = (line: string) => line.includes('FATAL:') && !line.includes('the database system is')
  const reason = lines.findLast(isReason) ?? lines.at(-1) ?? 'no reason given'
  return new Error(`PostgreSQL did not start: ${reason}. See ${logFile}`)
}

/**
 * Error for a start that takes too long. The server keeps running: killing it would restart a long recovery
 * each time.
 */
function timeoutError({ logFile }: PostgresPaths, startMs: number): Error {
  const seconds = startMs / 1_000
  return new Error(
    `PostgreSQL did not accept connections within ${seconds} s. ` +
      `If ${logFile} shows a recovery, start again to continue waiting.`,
  )
}

// Initializes the data directory of a new cluster atomically: in a draft directory that is renamed when
// complete.

const run = promisify(execFile)
const MAJOR_VERSION = '18'
const DRAFT = /^postgres\.draft-(\d+)-/

// Sort strings by code point, independent of the machine and its C library.
const LOCALE = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Initializes only an empty location. Never overwrites data. */
async function ensureData(paths: PostgresPaths, binaries: Binaries, identity: Identity): Promise<void> {
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

/** Which database it is: its identifier begins the control file. Undefined if there is none. */
export const systemIn = (dataDir: string): Promise<string | undefined> =>
  readFile(join(dataDir, 'postgres', 'global', 'pg_control')).then(
    (bytes) => bytes.toString('hex', 0, 8),
    () => undefined,
  )

/** Fails unless the data are those of the server that ran a moment ago. Makes no directory, so that one can be moved there. */
export async function requireSystem(dataDir: string, system: string | undefined): Promise<void> {
  const found = await systemIn(dataDir)
  if (found === system) return
  throw new Error(
    found === undefined
      ? `The data in ${dataDir} is gone. Put the directory back, and the server goes on with it; or stop the server and restore a backup.`
      : `The data in ${dataDir} is another database than the one this server began with. Stop the server, or put that one back.`,
  )
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
