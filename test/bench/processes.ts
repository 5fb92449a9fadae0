/** What Linux tells of processes in /proc. Elsewhere there is nothing to read: figures are then NaN. */
import { readdirSync, readFileSync } from 'node:fs'

/** Processor time that processes have used, all their threads. Source: proc(5), stat, fields 14 and 15 in ticks of 10 ms. */
export function cpuMs(pids: readonly number[]): number {
  if (pids.length === 0) return Number.NaN
  return pids.reduce((sum, pid) => sum + ticks(pid) * 10, 0)
}

function ticks(pid: number): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
    return user + system
  } catch {
    return Number.NaN
  }
}

export function childrenOf(parent: number): number[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map(Number).filter((pid) => parentOf(pid) === parent)
  } catch {
    return []
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
