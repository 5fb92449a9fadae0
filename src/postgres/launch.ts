/** Starts the server's process, so that it outlives ours and its reasons can be read. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import type { Binaries } from './binaries.ts'
import { handOver, type Identity } from './identity.ts'
import { memoryPrefix } from './memory.ts'
import type { Place } from './place.ts'
import { SOCKET_PORT, serverEnvironment, settingArguments } from './settings.ts'
import { freePort } from './windows.ts'

type Command = { command: string; args: string[] }

const WINDOWS = process.platform === 'win32'
const LOG_BYTES = 4 * 1024 * 1024

export type Launch = {
  pid: number | undefined
  /** undefined while it runs; then what it wrote to the log. */
  failure(): string | undefined
}

/** Ends at once with a failure when another server holds the data directory. */
export async function launch(place: Place, binaries: Binaries, identity: Identity): Promise<Launch> {
  const log = openLog(place.logFile)
  try {
    const logStart = fstatSync(log).size
    await handOver(identity, place)
    const { command, args } = WINDOWS ? await viaPgCtl(place, binaries) : directly(place, binaries, identity)
    // A group of its own keeps Ctrl-C from the server until we have drained; without our pipes it outlives us.
    const stdio: StdioOptions = ['ignore', log, log]
    const options = { detached: true, stdio, env: serverEnvironment(), cwd: '/', windowsHide: true }
    return watch(spawn(command, args, options), () => readFileSync(place.logFile).subarray(logStart))
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
    // pg_ctl is done once it has started the server.
    const isRunning = WINDOWS && child.exitCode === 0
    if (isRunning || (child.exitCode === null && child.signalCode === null)) return undefined
    return readLog().toString('utf8')
  }
  return { pid: child.pid, failure }
}

function directly(place: Place, { postgres }: Binaries, { prefix }: Identity): Command {
  const settings = settingArguments({
    listen_addresses: '',
    port: String(SOCKET_PORT),
    // A list of names, so one name is quoted whatever it holds.
    unix_socket_directories: `"${place.run.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
  })
  const [command = postgres, ...args] = [
    ...memoryPrefix(),
    ...prefix,
    postgres,
    '-D',
    place.pgdata,
    ...settings,
  ]
  return { command, args }
}

/** postgres.exe refuses to run as an administrator, which pg_ctl knows to undo. */
async function viaPgCtl(place: Place, { pgCtl }: Binaries): Promise<Command> {
  const settings = settingArguments({ listen_addresses: '127.0.0.1', port: String(await freePort()) })
  const args = ['start', '-W', '-D', place.pgdata, '-l', place.logFile, '-o', settings.join(' ')]
  return { command: pgCtl, args }
}

/** The log and its predecessor are all that is kept. */
function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

/** The same while the server runs: it goes on appending to the file that it has open. */
export function boundLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LOG_BYTES) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
}
