/** Finds the live PostgreSQL processes of a data directory. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

type PidFile = {
  pid: number
  port: number
  socketDirectory: string
  /** Pid, directory and start time: identifies one run of a server. */
  run: string
}

/** Reads the pid file of a data directory, if it is complete. */
export function readPidFile(pgdata: string): PidFile | undefined {
  try {
    return parsePidFile(readFileSync(join(pgdata, 'postmaster.pid'), 'utf8'))
  } catch {
    return undefined
  }
}

/** Lines: pid, directory, start time, port, socket directory; the rest is not needed. */
export function parsePidFile(text: string): PidFile | undefined {
  const [pid, directory, started, port, socketDirectory] = text.split('\n')
  if (!pid || !directory || !started || !port || socketDirectory === undefined) return undefined
  return { pid: Number(pid), port: Number(port), socketDirectory, run: [pid, directory, started].join('\n') }
}

/**
 * Checks the working directory of each process, because a pid file may name a reused pid. Server processes
 * change to the data directory before they write the file.
 */
export function serverProcesses(pgdata: string): number[] {
  if (process.platform === 'linux') return numbersIn('/proc').filter((pid) => worksIn(pid, pgdata))
  const pid = readPidFile(pgdata)?.pid
  return pid !== undefined && isPostgres(pid) ? [pid] : []
}

function numbersIn(directory: string): number[] {
  return readdirSync(directory).map(Number).filter(Number.isInteger)
}

function worksIn(pid: number, pgdata: string): boolean {
  try {
    // Ignore shells and editors in that directory.
    if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) return false
    return (
      workingDirectory(pid) === pgdata ||
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${pgdata}\0`)
    )
  } catch {
    return false
  }
}

/**
 * Working directory of a process; undefined without permission, for example as root in a container without
 * CAP_SYS_PTRACE.
 */
function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function isPostgres(pid: number): boolean {
  try {
    return /postgres\s*$/.test(execFileSync('ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' }))
  } catch {
    return false
  }
}
