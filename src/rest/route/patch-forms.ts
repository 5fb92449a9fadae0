/** The bodies of a PATCH, by media type: a merge patch (RFC 7396) or a JSON Patch (RFC 6902). */
import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'

const MERGE_TYPES = ['application/json', 'application/merge-patch+json']
const OPERATIONS_TYPE = 'application/json-patch+json'

/** Both forms, for a route. `about` says what operations can change. */
export function patchForms<B>(merge: z.ZodType<B>, about: string) {
  const operations = z.array(z.unknown()).max(LIMITS.patchOperations).meta({ description: about })
  return {
    body: z.union([merge, operations]),
    bodyOf: (mediaType: string): z.ZodType<B | unknown[]> =>
      mediaType === OPERATIONS_TYPE ? operations : merge,
    accepts: [...MERGE_TYPES, OPERATIONS_TYPE],
  }
}
