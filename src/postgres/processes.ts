/** Which live processes of PostgreSQL work in a data directory. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readPidFile } from './pid-file.ts'

/**
 * A pid file alone is no proof: its number may by now be another program's. Server processes make the data
 * directory their working directory, before they write the file.
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
    // A shell or an editor in that directory is no server.
    if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) return false
    return (
      workingDirectory(pid) === pgdata ||
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${pgdata}\0`)
    )
  } catch {
    return false
  }
}

/** Unreadable for a process of another user when we lack CAP_SYS_PTRACE, as root in a container may. */
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
