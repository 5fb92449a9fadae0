/** Parses postmaster.pid. It is only a hint that a server runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type PidFile = {
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
