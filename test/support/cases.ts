/**
 * How many cases tests tagged `sampled` run: `npm test` one in thirteen, `npm run test:full` one in two,
 * `npm run test:long` twenty times as many.
 */
const SIZE = process.env['PLINTH_TEST'] ?? 'sample'
const FACTORS: Readonly<Record<string, number>> = { sample: 1 / 13, full: 1 / 2, long: 20 }
const FACTOR = FACTORS[SIZE]
if (FACTOR === undefined)
  throw new Error(`PLINTH_TEST is "${SIZE}"; set it to one of ${Object.keys(FACTORS)}`)

/** Number of cases to run, of `all`, and at least `least`. */
export const cases = (all: number, least = 1): number => Math.max(least, Math.ceil(all * FACTOR))

/**
 * The entries of a list to run: all of them, or in `npm test` each thirteenth (a prime, so that it varies in nested
 * products).
 * @param weight for dear entries: that many times fewer, but for `npm run test:long`
 */
export const sampleOf = <T>(list: readonly T[], weight = 1): T[] => {
  const step = SIZE === 'long' ? 1 : SIZE === 'full' ? weight : 13 * weight
  return list.filter((_, index) => index % step === 0)
}

/** Timeout of a test with generated cases. It ends what hangs, on a slow machine too. */
export const CASES_TIMEOUT = SIZE === 'long' ? 1_800_000 : 600_000
