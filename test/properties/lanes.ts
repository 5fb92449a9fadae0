/** How generated properties are run: several at a time, as many as asked for, and so that a failure can be repeated. */
import fc from 'fast-check'
import { LONG, times } from '../support/answers.ts'
import { SEED } from '../support/seed.ts'

const LANES = 4
/** The long runs ask ten times as much. */
export const runs = (count: number) => (LONG ? count * 10 : count)
export const TIMEOUT = LONG ? 900_000 : 120_000

/** Holds `check` for that many generated values; throws the smallest one found that fails, with its seed. */
export async function forAll<T>(
  arbitrary: fc.Arbitrary<T>,
  count: number,
  check: (value: T) => Promise<void>,
): Promise<void> {
  // A failure is told even when making it small takes long.
  const bounds = { interruptAfterTimeLimit: TIMEOUT * 0.8, markInterruptAsFailure: true }
  const lane = (index: number) =>
    fc.assert(fc.asyncProperty(arbitrary, check), {
      seed: SEED + index,
      numRuns: Math.ceil(runs(count) / LANES),
      ...bounds,
    })
  // All lanes end before the first failure is told: none asks a server that is closed already.
  const ended = await Promise.allSettled(times(LANES, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}
