/** Joins the server of a place, or starts it: whichever of several processes is first. */
import { readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import { ensureData } from './data.ts'
import { chooseIdentity } from './identity.ts'
import { type Launch, launch } from './launch.ts'
import type { Place } from './place.ts'
import { type Answer, probe } from './probe.ts'
import { serverProcesses } from './processes.ts'
import { SOCKET_PORT } from './settings.ts'

const START_TIMEOUT_MS = 60_000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200
/** What a server says that met another one, or what a dead one left. */
const HELD_BY_ANOTHER = /lock file ".*" already exists|is still in use|lock file ".*" is empty/

export type Started = { server: Extract<Answer, { state: 'ready' }>; adopted: boolean }

/** Asks again and again until a server answers, and launches one when nobody holds the data. */
export async function joinOrStart(place: Place): Promise<Started> {
  const deadline = Date.now() + START_TIMEOUT_MS
  let launched: Launch | undefined
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE_MS)) {
    const answer = await probe(place)
    if (answer.state === 'ready') return { server: answer, adopted: !isOurs(launched, answer.pid) }
    if (Date.now() > deadline) throw timeoutError(place)
    if (answer.state === 'absent' && !isRunning(launched)) launched = await tryLaunch(place, launched)
    await sleep(pause)
  }
}

async function tryLaunch(place: Place, last: Launch | undefined): Promise<Launch | undefined> {
  const failure = last?.failure()
  if (failure !== undefined && !HELD_BY_ANOTHER.test(failure)) throw failedError(place, failure)
  if (failure !== undefined) removeStaleLocks(place)
  // Another process' server before it listens, or the last of one whose postmaster was killed.
  if (serverProcesses(place.pgdata).length > 0) return undefined
  const binaries = findBinaries()
  const identity = await chooseIdentity(place, binaries.postgres)
  await ensureData(place, binaries, identity)
  return launch(place, binaries, identity)
}

/**
 * PostgreSQL trusts a lock file whose pid is alive, yet after a crash or in a new container that pid may be
 * any program's. Nobody answered; a file that was there before we found no server at work is a dead one's.
 */
function removeStaleLocks(place: Place): void {
  // Windows asks such a process itself, and so is not fooled.
  if (process.platform === 'win32') return
  const files = [join(place.pgdata, 'postmaster.pid'), join(place.run, `.s.PGSQL.${SOCKET_PORT}.lock`)]
  const before = files.map(readIfThere)
  if (serverProcesses(place.pgdata).length > 0) return
  files.forEach((file, i) => {
    // Another process may have done the same and started its server meanwhile: that lock is alive.
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

/** pg_ctl, which launches on Windows, has another pid than the server. */
function isOurs(launched: Launch | undefined, pid: number): boolean {
  return process.platform === 'win32' ? launched !== undefined : launched?.pid === pid
}

function failedError({ logFile }: Place, output: string): Error {
  const lines = output.trim().split('\n')
  const reason = lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? 'no reason given'
  return new Error(`PostgreSQL did not start: ${reason}. See ${logFile}`)
}

/** A server that recovers is left alone: killed each time, a long recovery would never end. */
function timeoutError({ logFile }: Place): Error {
  const seconds = START_TIMEOUT_MS / 1_000
  return new Error(
    `PostgreSQL did not accept connections within ${seconds} s. ` +
      `If ${logFile} shows it recovering, start again to go on waiting.`,
  )
}
