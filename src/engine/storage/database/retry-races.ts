/** Retries writes that lost a race against another writer. */

import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { DEADLOCK, SERIALIZATION_FAILURE, sqlState, UNIQUE_VIOLATION, violatedConstraint } from './errors.ts'

/** Foreign keys on which creating a link races with deleting one of its ends. */
const LINK_ENDS = ['relationship_source', 'relationship_target']

/** Whether a retry of the same statement may succeed, because the error is a race between two writers. */
const isRace = (thrown: unknown): boolean =>
  ([UNIQUE_VIOLATION, DEADLOCK, SERIALIZATION_FAILURE].includes(sqlState(thrown) ?? '') &&
    // A violation of a user-declared unique index is not a race: a retry cannot succeed.
    violatedConstraint(thrown) !== 'record_index_unique') ||
  LINK_ENDS.includes(violatedConstraint(thrown) ?? '')

export const tooManyWriters = (cause?: unknown) =>
  new DomainError('CONFLICT', 'Too many concurrent writes to the same data. Send the request again.', {
    cause,
  })

/** Begins the transaction again, which is retried as any that lost a race. */
export const lostRace = (why: string): Error => Object.assign(new Error(why), { code: SERIALIZATION_FAILURE })

/**
 * Retries a write that lost a race, with growing random delays.
 * @throws CONFLICT after 12 attempts
 */
export async function retryRaces<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (thrown) {
      if (!isRace(thrown)) throw thrown
      if (tries === LIMITS.raceRetries) throw tooManyWriters(thrown)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4 * tries))
    }
  }
}
