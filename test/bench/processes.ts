/** What Linux tells of processes in /proc. Elsewhere there is nothing to read: figures are then NaN. */
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks of /proc/stat and /proc/<pid>/stat are hundredths of a second. */
const TICK_MS = 10

/** Processor time of the living threads of a process. In nanoseconds there, as ticks are too coarse for a short run. */
export function threadsMs(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    return tasks.reduce((sum, task) => sum + onCpuMs(`/proc/${pid}/task/${task}/schedstat`), 0)
  } catch {
    return Number.NaN
  }
}

/** Of a thread that ends meanwhile: nothing. */
function onCpuMs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    return 0
  }
}

/** A process and its children, those that have ended included: parallel workers and autovacuum end in the middle of a run. */
export function familyMs(parent: number | undefined): number {
  if (parent === undefined) return Number.NaN
  const living = childrenOf(parent).map(threadsMs)
  return living.reduce((sum, ms) => sum + (Number.isNaN(ms) ? 0 : ms), threadsMs(parent)) + endedMs(parent)
}

/** cutime and cstime: fields 16 and 17 of proc(5), stat. */
function endedMs(parent: number): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${parent}/stat`, 'utf8').split(') ')
    const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number)
    return (user + system) * TICK_MS
  } catch {
    return Number.NaN
  }
}

/** What all processes of the machine have used: user, nice, system, irq and softirq. */
export function machineMs(): number {
  try {
    const [, user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
      .split(/\s+/, 8)
      .map(Number)
    return [user, nice, system, irq, softirq].reduce<number>((sum, ticks) => sum + (ticks ?? 0) * TICK_MS, 0)
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
