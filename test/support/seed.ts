/**
 * Seed of generated tests. Constant in ordinary runs, so that a failure is caused by the change under test;
 * random in long runs, to find new cases. `PLINTH_TEST_SEED` reproduces a run.
 */
import fc from 'fast-check'
import { inject } from 'vitest'

export const SEED: number = inject('seed')

fc.configureGlobal({ seed: SEED })
