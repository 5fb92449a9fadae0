/** How many deliveries may be in flight: fairly between receivers, so that a slow one holds up itself only. */
import { LIMITS } from '../../../foundation/limits.ts'

type Flight = { readonly startedAt: number; readonly bytes: number }
type Receiver = {
  readonly base: string
  readonly trigger: string
  /** Deliveries in flight, by id. */
  readonly flights: Map<string, Flight>
  bytes: number
  /** Failures since the last success of this process. */
  failures: number
  /** No attempt before this time. */
  pausedUntil: number
}

export type ReceiverLimits = ReturnType<typeof openReceiverLimits>

const keyOf = (base: string, trigger: string): string => `${base}/${trigger}`

export function openReceiverLimits(now: () => number = () => performance.now()) {
  const receivers = new Map<string, Receiver>()
  let bytes = 0

  const isSlow = ({ flights, failures }: Receiver): boolean => {
    if (failures > 0) return true
    const [oldest] = flights.values()
    return oldest !== undefined && now() - oldest.startedAt > LIMITS.slowReceiverMs
  }
  /** Deliveries that count against the limit of the process. Those of slow receivers have a limit of their own. */
  const quickOnes = (): number =>
    [...receivers.values()].reduce((sum, receiver) => sum + (isSlow(receiver) ? 0 : receiver.flights.size), 0)

  return {
    /** Adds the receivers of a base, and removes those that it no longer has and that are empty. */
    setTriggers(base: string, triggers: readonly string[]): void {
      const present = new Set(triggers)
      for (const [key, receiver] of receivers)
        if (receiver.base === base && receiver.flights.size === 0 && !present.has(receiver.trigger))
          receivers.delete(key)
      for (const trigger of triggers)
        if (!receivers.has(keyOf(base, trigger)))
          receivers.set(keyOf(base, trigger), {
            ...{ base, trigger, flights: new Map(), bytes: 0, failures: 0, pausedUntil: 0 },
          })
    },
    /** The receivers that may send now: how many due deliveries each looks at, with those in flight. */
    capacities(): { base: string; trigger: string; capacity: number }[] {
      if (bytes >= LIMITS.deliveryBytes) return []
      const left = LIMITS.deliveries - quickOnes()
      return [...receivers.values()].flatMap((receiver) => {
        const { base, trigger, flights, pausedUntil } = receiver
        if (pausedUntil > now() || receiver.bytes >= LIMITS.deliveryBytesOfTrigger) return []
        const most = isSlow(receiver)
          ? LIMITS.deliveriesOfSlow
          : Math.min(LIMITS.deliveriesOfTrigger, left + flights.size)
        if (flights.size >= most) return []
        return [{ base, trigger, capacity: most }]
      })
    },
    /** Whether one more may start: of the process, and of the receiver. */
    hasCapacity(base: string, trigger: string): boolean {
      const receiver = receivers.get(keyOf(base, trigger))
      if (!receiver || bytes >= LIMITS.deliveryBytes) return false
      return isSlow(receiver) || quickOnes() < LIMITS.deliveries
    },
    /** The deliveries that are in flight now, by the key of their receiver and their id. */
    inFlight(): (base: string, trigger: string, id: string) => boolean {
      const ids = new Map([...receivers].map(([key, { flights }]) => [key, new Set(flights.keys())]))
      return (base, trigger, id) => ids.get(keyOf(base, trigger))?.has(id) ?? false
    },
    start(base: string, trigger: string, id: string, size: number): void {
      const receiver = receivers.get(keyOf(base, trigger))
      if (!receiver) return
      receiver.flights.set(id, { startedAt: now(), bytes: size })
      receiver.bytes += size
      bytes += size
    },
    /** The receiver answered: it is known to be well, or to fail. */
    answered(base: string, trigger: string, isSuccess: boolean): void {
      const receiver = receivers.get(keyOf(base, trigger))
      if (!receiver) return
      receiver.failures = isSuccess ? 0 : receiver.failures + 1
      receiver.pausedUntil = isSuccess ? 0 : now() + Math.min(LIMITS.failingPauseMs, 10 * receiver.failures)
    },
    /** The outcome is stored, so that the delivery is no longer due. */
    end(base: string, trigger: string, id: string): void {
      const receiver = receivers.get(keyOf(base, trigger))
      const flight = receiver?.flights.get(id)
      if (!receiver || !flight) return
      receiver.flights.delete(id)
      receiver.bytes -= flight.bytes
      bytes -= flight.bytes
    },
    isEmpty: (): boolean => receivers.size === 0,
  }
}
