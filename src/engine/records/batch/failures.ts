import { DomainError } from '../../../foundation/errors.ts'
import type { Failure } from './operation.ts'
import { listFaults } from './repeated-faults.ts'

/** JSON Pointer of an operation. */
export const placeOf = (index: number): string => `/operations/${index}`

/** Runs work and attributes its error to the operation. */
export async function ofOperation<T>(index: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof DomainError ? combine([{ index, error: thrown }]) : thrown
  }
}

/** Combines failures: code and message of the first, details of all, repeated ones once. */
function combine(failures: readonly [Failure, ...Failure[]]): DomainError {
  const sorted = [...failures].sort((a, b) => a.index - b.index)
  const [{ index, error }] = sorted as [Failure]
  const count = new Set(sorted.map((failure) => failure.index)).size
  const others = count > 1 ? ` ${count} operations fail; nothing was written.` : ' Nothing was written.'
  const { details, total } = listFaults(sorted, placeOf)
  return new DomainError(error.code, `Operation ${index}: ${error.message}${others}`, {
    details,
    total,
    cause: error.cause,
  })
}

/**
 * Throws the combined failures, if any.
 * @throws DomainError
 */
export function refuse(failures: readonly Failure[]): void {
  const [first, ...rest] = failures
  if (first) throw combine([first, ...rest])
}

/** Runs the work and collects its error in `failures`; undefined then. */
export function collect<T>(failures: Failure[], index: number, work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    failures.push({ index, error: thrown })
    return undefined
  }
}

/** Index of the first failed operation; all before it have succeeded so far. */
export const firstOf = (failures: readonly Failure[]): number =>
  failures.reduce((first, { index }) => Math.min(first, index), Number.POSITIVE_INFINITY)
