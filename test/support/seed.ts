/**
 * The seed of all generated tests: the same in each ordinary run, so that a red build is about its change;
 * new in each long run, where what nobody thought of is looked for. `PLINTH_TEST_SEED` repeats a run.
 */
import fc from 'fast-check'
import { inject } from 'vitest'

export const SEED: number = inject('seed')

fc.configureGlobal({ seed: SEED })
