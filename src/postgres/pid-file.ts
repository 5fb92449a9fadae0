/** postmaster.pid: a hint where a server may run, never the proof that one does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type PidFile = {
  pid: number
  port: number
  socketDirectory: string
  /** Pid, directory and start time: one run of one server. */
  run: string
}

/** The pid file of a data directory, if it has a complete one. */
export function readPidFile(pgdata: string): PidFile | undefined {
  try {
    return parsePidFile(readFileSync(join(pgdata, 'postmaster.pid'), 'utf8'))
  } catch {
    return undefined
  }
}

/** The lines are pid, directory, start time, port, socket directory, then things of no use here. */
export function parsePidFile(text: string): PidFile | undefined {
  const [pid, directory, started, port, socketDirectory] = text.split('\n')
  if (!pid || !directory || !started || !port || socketDirectory === undefined) return undefined
  return { pid: Number(pid), port: Number(port), socketDirectory, run: [pid, directory, started].join('\n') }
}
