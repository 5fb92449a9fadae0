import { busy } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { FairGate, type GateCap, type Share } from './fair-gate.ts'

/**
 * Classes of work, by how long it holds a connection. `short` is a statement of a text of our own, `transaction` several
 * statements, `long` a statement that a request has written: a filter, an aggregate, a search.
 */
const SHORT = 0
const TRANSACTION = 1
const LONG = 2
export type Weight = typeof SHORT | typeof TRANSACTION | typeof LONG

/** One part of the connections: no other part's queue stands before its own. */
export type Part = {
  /** Undefined when there is a connection at once. @throws RATE_LIMITED, INTERNAL_ERROR */
  enter(weight: Weight): Promise<void> | undefined
  leave(weight: Weight): void
}
export const WEIGHTS = { short: SHORT, transaction: TRANSACTION, long: LONG } as const

/** A quarter of the connections is kept for short work, and a quarter for others than the busiest. */
function capsOf(connections: number): GateCap[] {
  const part = (of: number) => Math.max(1, Math.floor(connections * of))
  return [
    { inAll: connections, ofShare: part(3 / 4) },
    { inAll: part(3 / 4), ofShare: part(1 / 2) },
    { inAll: part(2 / 3), ofShare: part(1 / 3) },
  ]
}

/** The one way to the pool's connections. `late` says why somebody waited in vain. */
export function openShares(connections: number, waitMs: number, late: () => Promise<Error>) {
  const gate = new FairGate({
    caps: capsOf(connections),
    waitMs,
    full: tooMuchAtOnce,
    late,
  })
  return {
    load: () => gate.load(),
    /** The server's own work is for many tokens: what bounds its queue is the number of requests. */
    part: (isOwn: boolean): Part => {
      const share: Share = gate.open(isOwn ? Number.POSITIVE_INFINITY : LIMITS.queuedOfToken)
      return {
        enter: (weight) => gate.enter(share, weight),
        leave: (weight) => gate.leave(share, weight),
      }
    },
  }
}

/** The refusal of work that found no place among what its token, and all others, have under way. */
export const tooMuchAtOnce = () =>
  busy(
    'Too many concurrent database requests of this token.',
    'Send fewer requests at a time, or lighter ones: a narrower filter, fewer patterns, a declared index.',
  )
