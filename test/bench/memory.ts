import { readFileSync } from 'node:fs'
import type { Moment } from './moments.ts'
import { childrenOf } from './processes.ts'

type Memory = { serverMb: number; treeMb: number; unit: 'PSS' | 'RSS' }

/** The memory of the server and of all that runs for it. Undefined where there is no /proc. */
export function memoryOf(serverPid: number, postmasterPid: number | undefined): Memory | undefined {
  const tree = [serverPid, ...(postmasterPid ? [postmasterPid, ...childrenOf(postmasterPid)] : [])]
  // A process of PostgreSQL may end meanwhile.
  const sizes = tree
    .map((pid) => ({ pss: proportional(pid), rss: resident(pid) }))
    .filter(({ rss }) => rss !== undefined)
  const known = sizes.every(({ pss }) => pss !== undefined)
  const mbs = sizes.map(({ pss, rss }) => (known ? pss : rss) ?? 0)
  const [serverMb] = mbs
  if (serverMb === undefined) return undefined
  return { serverMb, treeMb: mbs.reduce((sum, mb) => sum + mb, 0), unit: known ? 'PSS' : 'RSS' }
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

function resident(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}

type Most = { serverMb?: number; treeMb?: number }

/** The memory at a moment of the run, for the report. */
export function memoryMoments(
  at: string,
  serverPid: number,
  postmasterPid: number | undefined,
  most: Most,
): Moment[] {
  const memory = memoryOf(serverPid, postmasterPid)
  if (!memory) return []
  const line = (what: string, mb: number, limit: number | undefined): Moment => ({
    name: `memory of ${what}, ${at}`,
    value: `${Math.round(mb)} MB`,
    note: memory.unit,
    ...(limit !== undefined && { must: { is: mb, most: limit } }),
  })
  return [
    line('the server process', memory.serverMb, most.serverMb),
    line('server and PostgreSQL', memory.treeMb, most.treeMb),
  ]
}
