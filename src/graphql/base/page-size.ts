import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'

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
