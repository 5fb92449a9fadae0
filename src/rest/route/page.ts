import { z } from 'zod'

const Meta = z
  .object({
    has_more: z
      .boolean()
      .optional()
      .meta({ description: 'Absent if an external source does not say whether it has more.' }),
    truncated: z.literal(true).optional().meta({
      description:
        'The page reached the byte limit (16 MiB) before its item limit. Continue at `next_cursor`, or at `offset` + `limit` of this response.',
    }),
    limit: z
      .int()
      .meta({ description: 'Maximum number of items of the page; the actual number if it is truncated.' }),
    offset: z.int(),
    total: z.int().optional().meta({ description: 'The exact match count; only with `include_total=true`.' }),
    next_cursor: z
      .string()
      .optional()
      .meta({ description: 'Where the next page starts. Present if has_more is true.' }),
    hint: z
      .string()
      .optional()
      .meta({ description: 'Present if the list was slow: what would make it faster.' }),
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
