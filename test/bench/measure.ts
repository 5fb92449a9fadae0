import type { Child } from './children.ts'
import { askOnce, type Draw, load } from './load.ts'
import { childrenOf, cpuMs } from './processes.ts'
import type { Work } from './works.ts'

/** What one server did in one round. */
export type Round = { perSecond: number; p50: number; p99: number; serverMs: number; databaseMs: number }
export type Servers = { floor: Child; plinth: Child; postmaster: number | undefined }
export type Measured = { name: string; floor: Round; plinth: Round; ratio: number; spread: [number, number] }
type Plan = { rounds: number; seconds: number; connections: number }

/** Runs a work in pairs of rounds, floor then Plinth, so that what else the machine does falls on both. */
export async function measure(
  work: Work,
  servers: Servers,
  { rounds, seconds, connections }: Plan,
): Promise<Measured> {
  await prove(work, servers.plinth.url)
  const run = (child: Child, draw: Draw, length: number) =>
    round(child, servers.postmaster, draw, connections, length)
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

async function round(
  child: Child,
  postmaster: number | undefined,
  draw: Draw,
  connections: number,
  seconds: number,
): Promise<Round> {
  const database = () => (postmaster === undefined ? [] : childrenOf(postmaster))
  const before = { server: cpuMs([child.pid]), database: cpuMs(database()) }
  const lap = await load(child.url, draw, connections, seconds)
  const after = { server: cpuMs([child.pid]), database: cpuMs(database()) }
  const sorted = lap.latenciesMs.sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    perSecond: lap.requests / lap.seconds,
    p50: at(0.5),
    p99: at(0.99),
    serverMs: (after.server - before.server) / lap.requests,
    databaseMs: (after.database - before.database) / lap.requests,
  }
}

const middle = (rounds: readonly Round[]): Round => {
  const of = (figure: keyof Round) => median(rounds.map((round) => round[figure]))
  return {
    perSecond: of('perSecond'),
    p50: of('p50'),
    p99: of('p99'),
    serverMs: of('serverMs'),
    databaseMs: of('databaseMs'),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}
