import fc from 'fast-check'
import { times } from './answers.ts'
import { CASES_TIMEOUT, cases } from './cases.ts'
import { SEED } from './seed.ts'

const LANES = 4

/**
 * Runs a check for generated values, some concurrently. Throws the smallest value found that fails, with its seed.
 * @param count number of values that `cases` takes a part of
 */
export async function forAll<T>(
  arbitrary: fc.Arbitrary<T>,
  count: number,
  check: (value: T) => Promise<void>,
): Promise<void> {
  // Report a failure also when shrinking takes long.
  const bounds = { interruptAfterTimeLimit: CASES_TIMEOUT * 0.8, markInterruptAsFailure: true }
  const runs = cases(count)
  const lanes = Math.min(LANES, runs)
  const lane = (index: number) =>
    fc.assert(fc.asyncProperty(arbitrary, check), {
      seed: SEED + index,
      numRuns: Math.ceil(runs / lanes),
      ...bounds,
    })
  // Wait for all lanes, so that none sends to a server that is closed.
  const ended = await Promise.allSettled(times(lanes, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}
