/**
 * Limits the runs that send requests. Such a run has a connection of the database while a receiver answers, so that
 * slow receivers could take all of them.
 */
import { LRUCache } from 'lru-cache'
import type { Egress } from '../../foundation/egress/dispatcher.ts'
import { busy } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { FairGate, type Share } from '../database/fair-gate.ts'

type Gate = { readonly gate: FairGate; readonly shares: LRUCache<string, Share> }
const gates = new WeakMap<Egress, Gate>()

const tooMany = () =>
  busy(
    'Too many actions that send requests run at the same time.',
    'Send fewer runs at a time, or let the receiver answer faster.',
  )

function gateOf({ egress }: Scope): Gate {
  const known = gates.get(egress)
  if (known) return known
  const gate = new FairGate({
    caps: [{ inAll: LIMITS.sendingRuns, ofShare: LIMITS.sendingRunsOfToken }],
    waitMs: LIMITS.sendingRunWaitMs,
    mostWaiting: LIMITS.queuedOfToken,
    full: tooMany,
    late: tooMany,
  })
  const made = { gate, shares: new LRUCache<string, Share>({ max: 10_000 }) }
  gates.set(egress, made)
  return made
}

/**
 * Does work with a place among the runs that send.
 * @throws RATE_LIMITED
 */
export async function withSendingPlace<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
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
