/** Reads the rows of any kind in steps, so that large bases fit in memory. */
import type { Kind, Stored } from '../configuration/lifecycle/kind.ts'
import type { Scope } from '../core/scope.ts'

/** Rows of one kind that are read at a time. */
const STEP = 100

/** Reads all rows of a kind, in steps. */
export async function* stepsOf(
  kind: Kind,
  { db }: Pick<Scope, 'db'>,
  baseId: string,
): AsyncGenerator<Stored[]> {
  for (let last: string | undefined; ; ) {
    const where = { baseId, ...(last !== undefined && { id: { lt: last } }) }
    const rows = await kind.table(db).findMany({ where, orderBy: [{ id: 'desc' }], take: STEP })
    if (rows.length > 0) yield rows
    last = rows.at(-1)?.id
    if (rows.length < STEP) return
  }
}
