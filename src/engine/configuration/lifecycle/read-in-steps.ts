/** Reads the rows of any kind in steps: the ORM decodes the rows of a query in one turn, and they may be large. */
import { LIMITS } from '../../../foundation/limits.ts'
import { sizeOf } from '../../core/created-at-page.ts'
import type { Scope } from '../../core/scope.ts'
import type { Db } from '../../storage/database/client.ts'
import type { Kind, Stored } from './kind.ts'

/** The size of the next step. As many rows as fit, judged by the step before. */
function nextSize(size: number, rows: readonly Stored[]): number {
  const largest = Math.max(1, ...rows.map(sizeOf))
  return Math.max(
    1,
    Math.min(
      LIMITS.definitionsAtOnce,
      LIMITS.definitionsFirst * size,
      Math.floor(LIMITS.definitionsStepBytes / largest),
    ),
  )
}

/** Reads all rows of a kind, the last id first. */
export async function* stepsOf(
  kind: Kind,
  { db }: Pick<Scope, 'db'>,
  baseId: string,
): AsyncGenerator<Stored[]> {
  let take: number = LIMITS.definitionsFirst
  for (let last: string | undefined; ; ) {
    const where = { baseId, ...(last !== undefined && { id: { lt: last } }) }
    const rows = await kind.table(db).findMany({ where, orderBy: [{ id: 'desc' }], take })
    if (rows.length > 0) yield rows
    last = rows.at(-1)?.id
    if (rows.length < take) return
    take = nextSize(take, rows)
  }
}

/** Reads rows by their ids. */
export async function* stepsOfIds<R extends Stored>(
  kind: Pick<Kind<object, R>, 'table'>,
  db: Db,
  baseId: string,
  ids: readonly string[],
): AsyncGenerator<R[]> {
  for (let from = 0, size: number = LIMITS.definitionsFirst; from < ids.length; ) {
    const rows = await kind
      .table(db)
      .findMany({ where: { baseId, id: { in: ids.slice(from, from + size) } } })
    yield rows
    from += size
    size = nextSize(size, rows)
  }
}
