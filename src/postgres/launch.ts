/** Launches the server as a detached process that outlives this one, with its output in a log file. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { LIMITS } from '../foundation/limits.ts'
import { memoryOfMachine } from '../foundation/machine-memory.ts'
import { MEBIBYTE } from '../foundation/units.ts'
import type { Binaries } from './binaries.ts'
import { guard } from './guard.ts'
import type { PostgresPaths } from './paths.ts'
import { handOver, type Identity } from './run-as-user.ts'
import { SOCKET_PORT, serverEnvironment, settingArguments } from './settings.ts'
import { freePort } from './windows.ts'

type Command = { command: string; args: string[] }

const WINDOWS = process.platform === 'win32'

export type Launch = {
  pid: number | undefined
  /** The log output if the process failed; undefined while it runs. */
  failure(): string | undefined
}

/** Starts the server, with settings of its own. Fails at once if another server holds the data directory. */
export async function launch(
  paths: PostgresPaths,
  binaries: Binaries,
  identity: Identity,
  own: Readonly<Record<string, string>>,
): Promise<Launch> {
  const log = openLog(paths.logFile)
  try {
    const logStart = fstatSync(log).size
    await handOver(identity, paths)
    const { command, args } = WINDOWS
      ? await viaPgCtl(paths, binaries, own)
      : directly(paths, binaries, identity, own)
    // A separate process group shields the server from Ctrl-C during draining. Without pipes to this process,
    // it outlives it, until the guard ends it.
    const stdio: StdioOptions = ['ignore', log, log]
    const options = { detached: true, stdio, env: serverEnvironment(), cwd: '/', windowsHide: true }
    // First: the guard of the process before would end what it does not know.
    guard(paths)
    const child = spawn(command, args, options)
    return watch(child, () => readFileSync(paths.logFile).subarray(logStart))
  } finally {
    closeSync(log)
  }
}

function watch(child: ChildProcess, readLog: () => Buffer): Launch {
  let spawnError: Error | undefined
  child.on('error', (error) => {
    spawnError = error
  })
  child.unref()
  const failure = () => {
    if (spawnError) return spawnError.message
    // pg_ctl exits after it has started the server.
    const isRunning = WINDOWS && child.exitCode === 0
    if (isRunning || (child.exitCode === null && child.signalCode === null)) return undefined
    return readLog().toString('utf8')
  }
  return { pid: child.pid, failure }
}

function directly(
  paths: PostgresPaths,
  { postgres }: Binaries,
  { prefix }: Identity,
  own: Readonly<Record<string, string>>,
): Command {
  const settings = settingArguments({
    listen_addresses: '',
    port: String(SOCKET_PORT),
    // The setting is a list of names, so quote the path.
    unix_socket_directories: `"${paths.run.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    ...own,
  })
  const [command = postgres, ...args] = [
    ...memoryPrefix(),
    ...prefix,
    postgres,
    '-D',
    paths.pgdata,
    ...settings,
  ]
  return { command, args }
}

/** Starts through pg_ctl, which drops administrator rights that postgres.exe refuses to run with. */
async function viaPgCtl(
  paths: PostgresPaths,
  { pgCtl }: Binaries,
  own: Readonly<Record<string, string>>,
): Promise<Command> {
  const settings = settingArguments({
    listen_addresses: '127.0.0.1',
    port: String(await freePort()),
    ...own,
  })
  const args = ['start', '-W', '-D', paths.pgdata, '-l', paths.logFile, '-o', settings.join(' ')]
  return { command: pgCtl, args }
}

/** Opens the log and rotates it. One previous log is kept. */
function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LIMITS.clusterLogBytes) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

/** Rotates by copy and truncate, because the running server appends to its open file. */
export function truncateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LIMITS.clusterLogBytes) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
}

/** Enough for the largest batch and for sorts and index builds under these settings, times two. */
const LEAST = 192 * MEBIBYTE
/** The virtual size with all shared buffers is then 512 MiB. */
const MOST = 384 * MEBIBYTE
const SHELL = '/bin/sh'

/** A quarter of the memory of the machine or container, within limits. */
export function memoryOfProcess(machine: number = memoryOfMachine()): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(machine / 4)))
}

/**
 * Command prefix that sets the memory limit with `ulimit`; child processes inherit it. A statement that
 * exceeds it fails with "out of memory". Without the limit, the kernel's OOM killer would end a process and
 * the server would restart all of them. Linux only: elsewhere the limit does not cover `malloc`.
 */
function memoryPrefix(): string[] {
  if (process.platform !== 'linux' || !existsSync(SHELL)) return []
  const kibibytes = String(Math.floor(memoryOfProcess() / 1024))
  return [SHELL, '-c', 'ulimit -d "$0" 2>/dev/null; exec "$@"', kibibytes]
}
