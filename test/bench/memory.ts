import { readFileSync } from 'node:fs'
import { childrenOf } from './processes.ts'

export type Memory = { serverMb: number; treeMb: number; unit: 'PSS' | 'RSS' }

/** The memory of the server and of all that runs for it. Undefined where there is no /proc. */
export function memoryOf(serverPid: number, postmasterPid: number | undefined): Memory | undefined {
  try {
    const tree = [serverPid, ...(postmasterPid ? [postmasterPid, ...childrenOf(postmasterPid)] : [])]
    const shared = tree.map(proportional)
    const known = shared.every((mb) => mb !== undefined)
    const sizes = known ? shared : tree.map(resident)
    return {
      serverMb: sizes[0] ?? 0,
      treeMb: sizes.reduce((sum, mb) => sum + mb, 0),
      unit: known ? 'PSS' : 'RSS',
    }
  } catch {
    return undefined
  }
}

/** Its own pages, and its share of those it has in common with others. The kernel may not tell us. */
function proportional(pid: number): number | undefined {
  try {
    const kb = /^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}

function resident(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb ?? 0) / 1024
}
