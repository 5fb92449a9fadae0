import { readFileSync } from 'node:fs'
import type { Child } from './children.ts'
import { askOnce, type Draw, load } from './load.ts'
import type { Work } from './works.ts'

/** What one server did in one round. */
export type Round = { perSecond: number; p50: number; p99: number; cpuMs: number | null }
export type Measured = { name: string; floor: Round; plinth: Round; ratio: number; spread: [number, number] }
type Plan = { rounds: number; seconds: number; connections: number }

/** Runs a work in pairs of rounds, floor then Plinth, so that what else the machine does falls on both. */
export async function measure(
  work: Work,
  servers: { floor: Child; plinth: Child },
  { rounds, seconds, connections }: Plan,
): Promise<Measured> {
  await prove(work, servers.plinth.url)
  const run = (child: Child, draw: Draw, length: number) => round(child, draw, connections, length)
  await run(servers.floor, work.floor, Math.min(1, seconds))
  await run(servers.plinth, work.plinth, Math.min(1, seconds))
  const pairs: { floor: Round; plinth: Round }[] = []
  for (let n = 0; n < rounds; n++)
    pairs.push({
      floor: await run(servers.floor, work.floor, seconds),
      plinth: await run(servers.plinth, work.plinth, seconds),
    })
  const ratios = pairs.map(({ floor, plinth }) => plinth.perSecond / floor.perSecond)
  return {
    name: work.name,
    floor: middle(pairs.map((pair) => pair.floor)),
    plinth: middle(pairs.map((pair) => pair.plinth)),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  }
}

/** A fast answer to another question is worth nothing: the first one is read. */
async function prove({ name, plinth, proof }: Work, url: string): Promise<void> {
  const { status, body } = await askOnce(url, plinth())
  if (!proof.test(body)) throw new Error(`"${name}" was not done: ${status} ${body.slice(0, 400)}`)
}

async function round(child: Child, draw: Draw, connections: number, seconds: number): Promise<Round> {
  const before = cpuMs(child.pid)
  const lap = await load(child.url, draw, connections, seconds)
  const after = cpuMs(child.pid)
  const sorted = lap.latenciesMs.sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    perSecond: lap.requests / lap.seconds,
    p50: at(0.5),
    p99: at(0.99),
    cpuMs: before === null || after === null ? null : (after - before) / lap.requests,
  }
}

/** Processor time a process has used, all its threads; null where /proc has no word on it. Source: proc(5), fields 14, 15. */
function cpuMs(pid: number): number | null {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
    return (user + system) * 10
  } catch {
    return null
  }
}

const middle = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  p50: median(rounds.map((round) => round.p50)),
  p99: median(rounds.map((round) => round.p99)),
  cpuMs: rounds.some((round) => round.cpuMs === null)
    ? null
    : median(rounds.map((round) => round.cpuMs ?? 0)),
})

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}
