/** Errors in terms of the arguments of a query. */
import { DomainError, invalid, restated } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

/** Arguments whose names differ from those of the engine. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  '/limit': '/first',
  '/cursor': '/after',
  '/relationships': '/links',
  '/as_of': '/asOf',
  '/external_id': '/externalId',
  '/external_source': '/externalSource',
  '/expected_version': '/expectedVersion',
  '/claim_id': '/claimId',
  '/idempotency_key': '/idempotencyKey',
  '/dry_run': '/dryRun',
}

/**
 * The error with the paths of arguments. `key` is that of a field within the answer, which comes first: two
 * lists of a query may have arguments of the same name.
 */
export function inArguments(thrown: unknown, key?: string): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const details = thrown.details.map((detail) => ({
    ...detail,
    path: `${key === undefined ? '' : `/${key}`}${ARGUMENTS[detail.path] ?? detail.path}`,
  }))
  return restated(thrown, { details })
}

/** Does the work of a root field, and names the arguments of the field in its errors. */
export const namingArguments = <T>(work: Promise<T>): Promise<T> =>
  work.catch((thrown) => {
    throw inArguments(thrown)
  })

/**
 * The size of a page. `next` is the argument that reads on.
 * @throws VALIDATION_ERROR
 */
export function readFirst(
  first: number | null | undefined,
  otherwise: number = LIMITS.pageDefault,
  next: 'after' | 'before' | 'offset' = 'after',
): number {
  const wanted = first ?? otherwise
  if (wanted >= 1 && wanted <= LIMITS.pageMax) return wanted
  throw invalid({
    path: '/first',
    code: 'out_of_range',
    message: `first must be a whole number from 1 to ${LIMITS.pageMax}. Read more with ${next}.`,
    received: wanted,
  })
}
