/**
 * How many cases tests tagged `sampled` run: `npm test` one in seven, `npm run test:full` all, `npm run test:long`
 * twenty times as many.
 */
const SIZE = process.env['PLINTH_TEST'] ?? 'sample'
const FACTORS: Readonly<Record<string, number>> = { sample: 1 / 7, full: 1, long: 20 }
const FACTOR = FACTORS[SIZE]
if (FACTOR === undefined)
  throw new Error(`PLINTH_TEST is "${SIZE}"; set it to one of ${Object.keys(FACTORS)}`)

/** Number of generated cases to run, of `all` in a full run. */
export const cases = (all: number): number => Math.ceil(all * FACTOR)

/** The entries of a list to run: all of them, or each seventh (a prime, so that it varies in nested products). */
export const sampleOf = <T>(list: readonly T[]): T[] =>
  list.filter((_, index) => index % Math.max(1, Math.round(1 / FACTOR)) === 0)

/** Timeout of a test with generated cases. */
export const CASES_TIMEOUT = SIZE === 'long' ? 1_800_000 : 120_000
