import type { Child } from './children.ts'
import { askOnce, type Draw, type Lap, load } from './load.ts'
import { familyMs, machineMs, threadsMs } from './processes.ts'
import type { Counter, Counts } from './statements.ts'
import type { Work } from './works.ts'

/** What one server did in one turn. Times of the processor are microseconds a request, counts are those of a request. */
export type Turn = Counts & {
  serverUs: number
  databaseUs: number
  perSecond: number
  p50: number
  p99: number
}
/** Processor time of a turn that was not the run's own, and all that there was. */
type Foreign = { foreignMs: number; allMs: number }
export type Servers = { floor: Child; plinth: Child; postmaster: number | undefined; counter: Counter }
export type Measured = {
  work: Work
  floor: Turn
  plinth: Turn
  /** Processor time of server and database, Plinth's over the floor's. */
  ratio: number
  spread: [number, number]
  foreign: Foreign
}
type Plan = { turns: number; scale: number; connections: number; cores: number }

/** Warms both servers, then lets them take turns, so that what else the machine does falls on both. */
export async function measure(work: Work, servers: Servers, plan: Plan): Promise<Measured> {
  await prove(work, servers.plinth.url)
  const warm = { requests: Math.ceil(work.warm * plan.scale) }
  await load(servers.floor.url, work.floor, plan.connections, warm)
  await load(servers.plinth.url, work.plinth, plan.connections, warm)
  const pairs: { floor: Turn; plinth: Turn }[] = []
  const foreign: Foreign = { foreignMs: 0, allMs: 0 }
  const turn = (child: Child, draw: Draw) => takeTurn(child, draw, work, servers, plan, foreign)
  for (let n = 0; n < plan.turns; n++) {
    // The second of a pair finds what the first has left, so each is the second in turn.
    if (n % 2 === 0) {
      const floor = await turn(servers.floor, work.floor)
      pairs.push({ floor, plinth: await turn(servers.plinth, work.plinth) })
    } else {
      const plinth = await turn(servers.plinth, work.plinth)
      pairs.push({ floor: await turn(servers.floor, work.floor), plinth })
    }
  }
  const ratios = pairs.map(({ floor, plinth }) => cpuUs(plinth) / cpuUs(floor))
  return {
    work,
    floor: middle(pairs.map((pair) => pair.floor)),
    plinth: middle(pairs.map((pair) => pair.plinth)),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    foreign,
  }
}

export const cpuUs = ({ serverUs, databaseUs }: Turn): number => serverUs + databaseUs

/** The part of the machine that other processes took during the turns. */
export const foreignShare = (results: readonly Measured[]): number =>
  results.reduce((sum, { foreign }) => sum + foreign.foreignMs, 0) /
  results.reduce((sum, { foreign }) => sum + foreign.allMs, 0)

/** A fast answer to another question is worth nothing: the first one is read. */
async function prove({ name, plinth, proof }: Work, url: string): Promise<void> {
  const { status, body } = await askOnce(url, plinth())
  if (!proof.test(body)) throw new Error(`"${name}" was not done: ${status} ${body.slice(0, 400)}`)
}

async function takeTurn(
  child: Child,
  draw: Draw,
  work: Work,
  { floor, plinth, postmaster, counter }: Servers,
  { connections, scale, cores }: Plan,
  foreign: Foreign,
): Promise<Turn> {
  const requests = Math.ceil(work.requests * scale)
  const used = () => ({
    server: threadsMs(child.pid),
    database: familyMs(postmaster),
    ours: threadsMs(process.pid) + threadsMs(floor.pid) + threadsMs(plinth.pid),
    machine: machineMs(),
    at: performance.now(),
  })
  await counter.begin()
  const before = used()
  const lap = await load(child.url, draw, connections, { requests })
  const after = used()
  const counts = await counter.read()
  const databaseMs = after.database - before.database
  foreign.foreignMs += Math.max(after.machine - before.machine - (after.ours - before.ours) - databaseMs, 0)
  foreign.allMs += (after.at - before.at) * cores
  return {
    ...perRequest(counts, lap.requests),
    ...speedOf(lap),
    serverUs: ((after.server - before.server) * 1000) / lap.requests,
    databaseUs: (databaseMs * 1000) / lap.requests,
  }
}

const perRequest = ({ statements, rows, walRecords, walBytes }: Counts, requests: number): Counts => ({
  statements: statements / requests,
  rows: rows / requests,
  walRecords: walRecords / requests,
  walBytes: walBytes / requests,
})

function speedOf({ requests, seconds, latenciesMs }: Lap) {
  const sorted = latenciesMs.sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { perSecond: requests / seconds, p50: at(0.5), p99: at(0.99) }
}

const middle = (turns: readonly Turn[]): Turn => {
  const of = (figure: keyof Turn) => median(turns.map((turn) => turn[figure]))
  return {
    serverUs: of('serverUs'),
    databaseUs: of('databaseUs'),
    perSecond: of('perSecond'),
    p50: of('p50'),
    p99: of('p99'),
    statements: of('statements'),
    rows: of('rows'),
    walRecords: of('walRecords'),
    walBytes: of('walBytes'),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}
