/** Limits how much of a class of work runs at the same time: of the process, and of each token. */
import { LRUCache } from 'lru-cache'
import type { Egress } from '../../foundation/egress/dispatcher.ts'
import { busy, NotBegun } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { FairGate, type Share } from '../storage/database/fair-gate.ts'
import type { Scope } from './scope.ts'

type Options = {
  readonly inAll: number
  readonly ofToken: number
  readonly waitMs: number
  readonly tooMany: () => Error
}
type Gate = { readonly gate: FairGate; readonly shares: LRUCache<string, Share> }

/**
 * Makes a function that runs work in one of a limited number of slots.
 * @throws in it, `tooMany` if none gets free in time
 */
export function workSlots({ inAll, ofToken, waitMs, tooMany }: Options) {
  const gates = new WeakMap<Egress, Gate>()
  const gateOf = ({ egress }: Scope): Gate => {
    const known = gates.get(egress)
    if (known) return known
    const gate = new FairGate({
      caps: [{ inAll, ofShare: ofToken }],
      ...{ waitMs, mostWaiting: LIMITS.queuedOfToken, full: tooMany, late: tooMany },
    })
    const made = { gate, shares: new LRUCache<string, Share>({ max: 10_000 }) }
    gates.set(egress, made)
    return made
  }
  return async <T>(scope: Scope, work: () => Promise<T>): Promise<T> => {
    const { gate, shares } = gateOf(scope)
    const token = scope.actor.tokenId ?? ''
    const share = shares.get(token) ?? gate.open()
    shares.set(token, share)
    await gate.enter(share, 0)
    try {
      return await work()
    } finally {
      gate.leave(share, 0)
    }
  }
}

// A write that sends requests can have a connection of the database meanwhile: slow receivers could take all of them.

/**
 * Runs a write that sends requests, in one of a limited number of slots.
 * @throws RATE_LIMITED
 */
export const withSendingSlot = workSlots({
  ...{ inAll: LIMITS.sendingRuns, ofToken: LIMITS.sendingRunsOfToken, waitMs: LIMITS.sendingRunWaitMs },
  tooMany: () =>
    busy(
      'Too many writes that send requests run at the same time.',
      'Send fewer at a time, or let the receiver answer faster.',
      NotBegun,
    ),
})
