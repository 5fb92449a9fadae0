import { invalid } from '../../foundation/errors.ts'
import { RowCursors } from '../../json/rows.ts'
import { type SealKey, seal, unseal } from './sealed-token.ts'

/** Where a page ended: the last item's id, and what each term of the sort was there; null is a missing value. */
export type Position = { id: string; values: readonly (string | number | null)[] }

/** Seals where a page ended. Opaque, and of use only with what it is bound to: the query and the rights it was made with. */
const sealCursor = (key: SealKey, boundTo: unknown, { id, values }: Position): string =>
  seal(key, boundTo, JSON.stringify([id, ...values]))

/** What a page says of going on: after its last row when there is more, and after any row when it is asked. */
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

/** Where the page before ended. @throws VALIDATION_ERROR for a cursor that this server did not make for this query */
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
