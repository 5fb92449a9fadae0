import { invalid } from '../../foundation/errors.ts'
import { RowCursors } from '../../json/rows.ts'
import { type SealKey, seal, unseal } from './sealed-token.ts'

/** Keyset position: the id of the last item and its value for each sort term; null is a missing value. */
export type Position = { id: string; values: readonly (string | number | null)[] }

/**
 * Seals a keyset position as an opaque cursor. It is valid only for the query and the rights that it is bound
 * to.
 */
export const sealCursor = (key: SealKey, boundTo: unknown, { id, values }: Position): string =>
  seal(key, boundTo, JSON.stringify([id, ...values]))

/** Creates the cursors of a page: after its last row if there is more, and after any row on demand. */
export function cursorsOf<T>(
  key: SealKey,
  boundTo: unknown,
  { data, hasMore }: { data: readonly T[]; hasMore: boolean },
  positionOf: (row: T) => Position,
): { nextCursor: string | null; cursors: RowCursors } {
  const after = (index: number) => sealCursor(key, boundTo, positionOf(data[index] as T))
  return {
    nextCursor: hasMore ? after(data.length - 1) : null,
    cursors: new RowCursors(data.length, after),
  }
}

/**
 * Opens a cursor.
 * @throws VALIDATION_ERROR unless this server created the cursor for this query
 */
export function openCursor(key: SealKey, boundTo: unknown, cursor: string): Position {
  const text = unseal(key, boundTo, cursor)
  if (text === undefined) throw badCursor()
  const [id, ...values] = JSON.parse(text) as [string, ...Position['values']]
  return { id, values }
}

const badCursor = () =>
  invalid({
    path: '/cursor',
    code: 'invalid_cursor',
    message:
      'The cursor belongs to another list: it is valid only with the filter, sort and permissions it was created with. Start again without a cursor.',
  })
