/** How many deliveries may be in flight: fairly between receivers, so that a slow one holds up itself only. */
import { LIMITS } from '../../foundation/limits.ts'

type Flight = { readonly startedAt: number; readonly bytes: number }
type Lane = {
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

export type Lanes = ReturnType<typeof openLanes>

const keyOf = (base: string, trigger: string): string => `${base}/${trigger}`

export function openLanes(now: () => number = () => performance.now()) {
  const lanes = new Map<string, Lane>()
  let bytes = 0

  const isSlow = ({ flights, failures }: Lane): boolean => {
    if (failures > 0) return true
    const [oldest] = flights.values()
    return oldest !== undefined && now() - oldest.startedAt > LIMITS.slowReceiverMs
  }
  /** Deliveries that count against the limit of the process. Those of slow receivers have a limit of their own. */
  const quickOnes = (): number =>
    [...lanes.values()].reduce((sum, lane) => sum + (isSlow(lane) ? 0 : lane.flights.size), 0)

  return {
    /** Adds the lanes of a base, and removes those that it no longer has and that are empty. */
    setTriggers(base: string, triggers: readonly string[]): void {
      for (const [key, lane] of lanes)
        if (lane.base === base && lane.flights.size === 0 && !triggers.includes(lane.trigger))
          lanes.delete(key)
      for (const trigger of triggers)
        if (!lanes.has(keyOf(base, trigger)))
          lanes.set(keyOf(base, trigger), {
            ...{ base, trigger, flights: new Map(), bytes: 0, failures: 0, pausedUntil: 0 },
          })
    },
    /** The lanes that may send now: how many due deliveries each looks at, with those in flight. */
    rooms(): { base: string; trigger: string; room: number }[] {
      if (bytes >= LIMITS.deliveryBytes) return []
      const left = LIMITS.deliveries - quickOnes()
      return [...lanes.values()].flatMap((lane) => {
        const { base, trigger, flights, pausedUntil } = lane
        if (pausedUntil > now() || lane.bytes >= LIMITS.deliveryBytesOfTrigger) return []
        const most = isSlow(lane)
          ? LIMITS.deliveriesOfSlow
          : Math.min(LIMITS.deliveriesOfTrigger, left + flights.size)
        if (flights.size >= most) return []
        return [{ base, trigger, room: most }]
      })
    },
    /** Whether one more may start: of the process, and of the lane. */
    hasRoom(base: string, trigger: string): boolean {
      const lane = lanes.get(keyOf(base, trigger))
      if (!lane || bytes >= LIMITS.deliveryBytes) return false
      return isSlow(lane) || quickOnes() < LIMITS.deliveries
    },
    isInFlight: (base: string, trigger: string, id: string): boolean =>
      lanes.get(keyOf(base, trigger))?.flights.has(id) ?? false,
    start(base: string, trigger: string, id: string, size: number): void {
      const lane = lanes.get(keyOf(base, trigger))
      if (!lane) return
      lane.flights.set(id, { startedAt: now(), bytes: size })
      lane.bytes += size
      bytes += size
    },
    /** The receiver answered: it is known to be well, or to fail. */
    answered(base: string, trigger: string, isSuccess: boolean): void {
      const lane = lanes.get(keyOf(base, trigger))
      if (!lane) return
      lane.failures = isSuccess ? 0 : lane.failures + 1
      lane.pausedUntil = isSuccess ? 0 : now() + Math.min(LIMITS.failingPauseMs, 10 * lane.failures)
    },
    /** The outcome is stored, so that the delivery is no longer due. */
    end(base: string, trigger: string, id: string): void {
      const lane = lanes.get(keyOf(base, trigger))
      const flight = lane?.flights.get(id)
      if (!lane || !flight) return
      lane.flights.delete(id)
      lane.bytes -= flight.bytes
      bytes -= flight.bytes
    },
    isEmpty: (): boolean => lanes.size === 0,
  }
}
