/** The bodies that REST answers and MCP repeats: one way to make them, so that they cannot differ. */

/** Fields that are there only when they say something; all others are there even when null. */
const OCCASIONAL = new Set(['valid', 'operation', 'dry_run', 'token', 'counts'])

/** The resource without the occasional fields that are null. Built up, not cut down: deleting makes objects slow. */
export function trim<T extends object>(resource: T): T {
  const body: Record<string, unknown> = {}
  for (const field in resource)
    if (resource[field] !== null || !OCCASIONAL.has(field)) body[field] = resource[field]
  return body as T
}

type Page<T> = {
  data: readonly T[]
  hasMore: boolean
  limit: number
  offset: number
  total?: number | null
  nextCursor?: string | null
  hint?: string | null
}

/** The body of a list. */
export const pageBody = <T extends object>(page: Page<T>) => ({
  data: page.data.map(trim),
  meta: metaOf(page),
})

/** The body of a list of records, whose rows are ready. */
export const rowsBody = ({ rows, ...page }: Omit<Page<object>, 'data'> & { rows: unknown }) => ({
  data: rows as object[],
  meta: metaOf(page),
})

const metaOf = ({ hasMore, limit, offset, total, nextCursor, hint }: Omit<Page<object>, 'data'>) => ({
  has_more: hasMore,
  limit,
  offset,
  ...(typeof total === 'number' && { total }),
  ...(nextCursor && { next_cursor: nextCursor }),
  ...(hint && { hint }),
})
