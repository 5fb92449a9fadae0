/** The bodies of a PATCH of configuration, by media type. */
import { z } from 'zod'
import { mergeShape } from '../../contract/merge-shape.ts'
import { LIMITS } from '../../foundation/limits.ts'

const OPERATIONS_TYPE = 'application/json-patch+json'

const Operations = z
  .array(z.unknown())
  .max(LIMITS.patchOperations)
  .meta({ description: 'RFC 6902 operations on the definition, with paths such as `/description`.' })

type Body = z.ZodType<Record<string, unknown> | unknown[]>

/** Shapes of a merge patch and of a JSON Patch, for a route. */
export function patchForms(body: z.ZodObject, fields: z.ZodObject) {
  const merge = body.extend(mergeShape(fields).shape)
  const forms: Readonly<Record<string, Body>> = {
    'application/json': merge,
    'application/merge-patch+json': merge,
    [OPERATIONS_TYPE]: Operations,
  }
  return {
    body: z.union([merge, Operations]) as Body,
    bodyOf: (mediaType: string): Body => forms[mediaType] ?? merge,
    accepts: Object.keys(forms),
  }
}
