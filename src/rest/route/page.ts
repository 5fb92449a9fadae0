import { z } from 'zod'

const Meta = z
  .object({
    has_more: z.boolean(),
    truncated: z.literal(true).optional().meta({
      description:
        'The page ended at the bytes that a page may have (16 MiB), before its limit: go on at `next_cursor`, or at `offset` + `limit` of this answer.',
    }),
    limit: z
      .int()
      .meta({ description: 'The items that the page may have; of a truncated page those that it has.' }),
    offset: z.int(),
    total: z.int().optional().meta({ description: 'The exact match count; only with `include_total=true`.' }),
    next_cursor: z
      .string()
      .optional()
      .meta({ description: 'Where the next page starts; there whenever has_more is true.' }),
    hint: z
      .string()
      .optional()
      .meta({ description: 'What would make such a list faster, when it was slow.' }),
  })
  .meta({ id: 'ListMeta' })

/** The shape of a list response. */
export const listOf = (item: z.ZodType) => z.object({ data: z.array(item), meta: Meta })

/** Copies an object without some members. */
export function without<T extends object, K extends keyof T>(resource: T, ...keys: K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(resource).filter(([key]) => !keys.includes(key as K))) as Omit<
    T,
    K
  >
}
