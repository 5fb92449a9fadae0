import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

/**
 * Validates the seconds that a long poll may take.
 * @throws VALIDATION_ERROR
 */
export function readTimeout(seconds: number | null | undefined): number {
  const timeout = seconds ?? LIMITS.waitSeconds
  if (Number.isInteger(timeout) && timeout >= 0 && timeout <= LIMITS.waitSecondsMax) return timeout
  throw invalid({
    path: '/timeout',
    code: 'out_of_range',
    message: `timeout must be a whole number of seconds from 0 to ${LIMITS.waitSecondsMax}.`,
    received: timeout,
  })
}
