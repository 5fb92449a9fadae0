import { busy } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { FairGate, type GateCap, type Share } from './fair-gate.ts'

/**
 * Classes of work, by how long they hold a connection. `short` is a statement with a fixed text,
 * `transaction` is several statements, `long` is a statement derived from a request: a filter, an aggregate
 * or a search.
 */
const SHORT = 0
const TRANSACTION = 1
const LONG = 2
export type Weight = typeof SHORT | typeof TRANSACTION | typeof LONG

/** A share of the connection pool with its own queue. */
export type Part = {
  /**
   * Returns undefined when a connection is available at once.
   * @throws RATE_LIMITED, INTERNAL_ERROR
   */
  enter(weight: Weight): Promise<void> | undefined
  leave(weight: Weight): void
}
export const WEIGHTS = { short: SHORT, transaction: TRANSACTION, long: LONG } as const

/** Reserves a quarter of the connections for short work, and a quarter for shares other than the busiest. */
function capsOf(connections: number): GateCap[] {
  const part = (of: number) => Math.max(1, Math.floor(connections * of))
  return [
    { inAll: connections, ofShare: part(3 / 4) },
    { inAll: part(3 / 4), ofShare: part(1 / 2) },
    { inAll: part(2 / 3), ofShare: part(1 / 3) },
  ]
}

/** Admission control for the connection pool. `late` creates the error for a wait that timed out. */
export function openShares(connections: number, waitMs: number, late: () => Promise<Error>) {
  const gate = new FairGate({
    caps: capsOf(connections),
    waitMs,
    full: tooMuchAtOnce,
    late,
  })
  return {
    load: () => gate.load(),
    /** The server's own work serves many tokens. The number of requests bounds its queue. */
    part: (isOwn: boolean): Part => {
      const share: Share = gate.open(isOwn ? Number.POSITIVE_INFINITY : LIMITS.queuedOfToken)
      return {
        enter: (weight) => gate.enter(share, weight),
        leave: (weight) => gate.leave(share, weight),
      }
    },
  }
}

/** Error for work that exceeds the queue limit of its token or of the process. */
export const tooMuchAtOnce = () =>
  busy(
    'Too many concurrent database requests of this token.',
    'Send fewer requests at a time, or lighter ones: a narrower filter, fewer patterns, a declared index.',
  )
