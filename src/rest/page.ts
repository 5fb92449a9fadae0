import { z } from 'zod'

const Meta = z
  .object({
    has_more: z.boolean(),
    limit: z.int(),
    offset: z.int(),
    total: z.int().optional().meta({ description: 'The exact match count; only with `include_total=true`.' }),
  })
  .meta({ id: 'ListMeta' })

/** The list response of a noun. */
export const listOf = (item: z.ZodType) => z.object({ data: z.array(item), meta: Meta })

type Page<T> = { data: T[]; hasMore: boolean; limit: number; offset: number; total: number | null }

/** The body of a list. */
export const pageBody = <T extends object>({ data, hasMore, limit, offset, total }: Page<T>) => ({
  data: data.map(trim),
  meta: { has_more: hasMore, limit, offset, ...(total !== null && { total }) },
})

/** Fields that are there only when they say something. */
const OCCASIONAL = new Set(['valid', 'operation', 'dry_run', 'token', 'counts'])

/** The resource without the occasional fields that are null. Built up, not cut down: deleting makes objects slow. */
export function trim<T extends object>(resource: T): T {
  const body: Record<string, unknown> = {}
  for (const field in resource)
    if (resource[field] !== null || !OCCASIONAL.has(field)) body[field] = resource[field]
  return body as T
}

/** The resource without what only says how to answer. */
export function without<T extends object, K extends keyof T>(resource: T, ...keys: K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(resource).filter(([key]) => !keys.includes(key as K))) as Omit<
    T,
    K
  >
}
