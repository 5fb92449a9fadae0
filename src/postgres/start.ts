/** Joins a running server, or starts one. Safe with several processes at once. */
import { readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import { ensureData } from './initdb.ts'
import { type Launch, launch } from './launch.ts'
import type { PostgresPaths } from './paths.ts'
import { type Answer, probe } from './probe.ts'
import { serverProcesses } from './processes.ts'
import { chooseIdentity } from './run-as-user.ts'
import { SOCKET_PORT } from './settings.ts'

const START_TIMEOUT_MS = 60_000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200
/** Log messages of a server that found another one, or the lock files of a dead one. */
const HELD_BY_ANOTHER = /lock file ".*" already exists|is still in use|lock file ".*" is empty/

export type Started = { server: Extract<Answer, { state: 'ready' }>; adopted: boolean }

/** Probes until a server answers. Launches one if no process holds the data directory. */
export async function joinOrStart(
  paths: PostgresPaths,
  settings: Readonly<Record<string, string>>,
): Promise<Started> {
  const deadline = Date.now() + START_TIMEOUT_MS
  let launched: Launch | undefined
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE_MS)) {
    const answer = await probe(paths)
    if (answer.state === 'ready') return { server: answer, adopted: !isOurs(launched, answer.pid) }
    if (Date.now() > deadline) throw timeoutError(paths)
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
  const reason = lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? 'no reason given'
  return new Error(`PostgreSQL did not start: ${reason}. See ${logFile}`)
}

/**
 * Error for a start that takes too long. The server keeps running: killing it would restart a long recovery
 * each time.
 */
function timeoutError({ logFile }: PostgresPaths): Error {
  const seconds = START_TIMEOUT_MS / 1_000
  return new Error(
    `PostgreSQL did not accept connections within ${seconds} s. ` +
      `If ${logFile} shows a recovery, start again to continue waiting.`,
  )
}
