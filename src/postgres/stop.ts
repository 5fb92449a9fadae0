/** Stops the server, even if another process started it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../foundation/limits.ts'
import { findBinaries } from './binaries.ts'
import type { PostgresPaths } from './paths.ts'
import { probe, query } from './probe.ts'
import { readPidFile, serverProcesses } from './processes.ts'
import { stopByPgCtl } from './windows.ts'

/**
 * Shutdown modes in order: fast (disconnects sessions, flushes data), immediate (crash recovery at the next
 * start), SIGKILL.
 */
const STEPS = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

type Server = { pid: number; run: string }

/** Stops `server` only. A server that replaced it in the meantime keeps running. */
export async function stopServer(paths: PostgresPaths, server: Server): Promise<void> {
  if (process.platform === 'win32') {
    if (isServing(paths, server)) await stopByPgCtl(findBinaries().pgCtl, paths.pgdata)
    return
  }
  for (const { signal, waitMs } of STEPS) {
    if (isServing(paths, server)) await signalServer(paths, signal)
    if (await isGoneWithin(waitMs, paths, server)) return
  }
  throw new Error(`The PostgreSQL of ${paths.dataDir} does not stop.`)
}

async function signalServer(paths: PostgresPaths, signal: NodeJS.Signals): Promise<void> {
  const pid = readPidFile(paths.pgdata)?.pid
  if (pid === undefined) return
  if (serverProcesses(paths.pgdata).includes(pid) && sendSignal(pid, signal)) return
  // The process belongs to another user or pid namespace. Let the server signal its own postmaster.
  const answer = await probe(paths)
  if (answer.state !== 'ready' || answer.pid !== pid) return
  await query(answer.url, `COPY (SELECT) TO PROGRAM 'kill -s ${signal.slice(3)} ${pid}'`).catch(() => {})
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}

async function isGoneWithin(waitMs: number, paths: PostgresPaths, server: Server): Promise<boolean> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(LIMITS.clusterStopPollMs)) {
    if (await isGone(paths, server)) return true
  }
  return false
}

/** A postmaster removes its pid file last. A killed one leaves it, and its children live on for a moment. */
async function isGone(paths: PostgresPaths, server: Server): Promise<boolean> {
  const alive = serverProcesses(paths.pgdata)
  if (!isServing(paths, server)) return !alive.includes(server.pid)
  return alive.length === 0 && (await probe(paths)).state === 'absent'
}

function isServing(paths: PostgresPaths, server: Server): boolean {
  return readPidFile(paths.pgdata)?.run === server.run
}
