/** Delivers the changes that triggers follow: one process of those on a database at a time. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import type { Scope } from '../../core/scope.ts'
import { type Candidate, compete } from '../../storage/database/leader.ts'
import { dispatch } from './dispatcher.ts'
import { basesWithTriggers } from './enabled-triggers.ts'
import { openReceiverLimits } from './receiver-limits.ts'
import { followBases } from './relay.ts'
import { openDeliveryRunner } from './run-delivery.ts'

export type TriggerRunner = {
  /** Starts to deliver, as soon as there is a trigger. */
  start(): void
  /** Whether this process, of those on the database, delivers. */
  leads(): boolean
  /** Ends the deliveries in flight, or gives them up after a while. They are sent again later. */
  close(): Promise<void>
}

type Options = { readonly scheduleMs: readonly number[]; readonly log: Log }

export function openTriggers(
  scope: Scope,
  connectionString: string,
  { scheduleMs, log }: Options,
): TriggerRunner {
  const { db, vault, egress, caches } = scope
  const stop = new AbortController()
  const cut = new AbortController()
  let candidate: Candidate | undefined
  let unlisten = () => {}
  const leading = new Set<Promise<unknown>>()

  const lead = (until: AbortSignal): void => {
    const limits = openReceiverLimits()
    const untilEither = AbortSignal.any([until, stop.signal])
    const services = { db, vault, egress, scheduleMs, log, run: openDeliveryRunner(scope) }
    const dispatcher = dispatch(services, limits, untilEither, AbortSignal.any([until, cut.signal]))
    const changed = async (base: string): Promise<void> => {
      const found = await db.orm.trigger.findMany({ where: { baseId: base }, select: { id: true } })
      limits.setTriggers(
        base,
        found.map(({ id }) => id),
      )
      dispatcher.wake()
    }
    const work = Promise.all([followBases(scope, log, untilEither, changed), dispatcher.ended])
    const done = work.finally(() => leading.delete(done))
    leading.add(done)
  }
  const enter = (): void => {
    if (stop.signal.aborted) return
    unlisten()
    candidate ??= compete(connectionString, 'triggers', log, lead)
  }
  const look = (): void => {
    basesWithTriggers(db, null).then(
      (bases) => bases.length > 0 && enter(),
      (err) => log.warn({ err }, 'the triggers were not read; this process delivers once one changes'),
    )
  }
  return {
    start: () => {
      // Without the master key of the database, nothing can be signed. Another process may have it.
      if (!vault.isUsable || stop.signal.aborted) return
      unlisten = caches.onAnnounced((topic) => {
        if (topic === null) look()
        else if (topic.startsWith('trigger:')) enter()
      })
      look()
    },
    leads: () => candidate?.leads() === true,
    close: async () => {
      unlisten()
      stop.abort()
      const late = setTimeout(() => cut.abort(), LIMITS.deliveryFinishMs)
      await Promise.all(leading)
      clearTimeout(late)
      await candidate?.close()
    },
  }
}
