import { z } from 'zod'

/**
 * The shape of a JSON Merge Patch (RFC 7396) of an object. Its members are known. Their values are parts, so
 * only the result can be validated.
 */
export const mergeShape = (body: z.ZodObject) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(body.shape).map(([name, shape]) => {
        const description = (shape as z.ZodType).meta()?.description
        return [
          name,
          z
            .unknown()
            .optional()
            .meta({ ...(description !== undefined && { description }) }),
        ]
      }),
    ),
  )
