/** Finds the live PostgreSQL processes of a data directory. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readPidFile } from './pid-file.ts'

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
