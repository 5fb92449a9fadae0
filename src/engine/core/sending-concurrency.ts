/**
 * Limits the writes that send requests. Such a write can have a connection of the database while a receiver answers, so
 * that slow receivers could take all of them.
 */
import { busy } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { workSlots } from './work-slots.ts'

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
    ),
})
