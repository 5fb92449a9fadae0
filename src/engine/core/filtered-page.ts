/** Lists of which the caller sees a part that a query cannot select. */
import { LIMITS } from '../../foundation/limits.ts'
import { createdBefore, readNewest, type Step } from './created-at-page.ts'
import type { Page, PageArgs } from './page.ts'
import type { Scope } from './scope.ts'

type Order = { createdAt?: 'desc'; id?: 'desc' }
type Shown<Row, T> = {
  find(query: { where: object; orderBy: Order[]; take: number }): PromiseLike<Row[]>
  shows(row: Row): Promise<boolean>
  view(row: Row): T
  /** Counts all rows, if the caller sees them all. */
  count?(): PromiseLike<number>
}

/**
 * Lists the rows that the caller sees, newest first, with few of the others in memory.
 * @throws VALIDATION_ERROR
 */
export async function listFiltered<
  Row extends { id: string; createdAt: Date },
  T extends { id: string; createdAt: string },
>(scope: Scope, list: string, args: PageArgs, { find, shows, view, count }: Shown<Row, T>): Promise<Page<T>> {
  const page = readNewest(scope, list, args)
  const rows = await page.rows((step) => shownRows(step))
  const total = async () => {
    if (count) return count()
    let found = 0
    for await (const _ of walk({})) found++
    return found
  }
  return page.of(rows.map(view), page.includeTotal ? await total() : null)

  async function shownRows({ before, take, skip }: Step): Promise<Row[]> {
    const found: Row[] = []
    let left = skip
    for await (const row of walk(before)) {
      if (left-- > 0) continue
      found.push(row)
      if (found.length === take) break
    }
    return found
  }

  async function* walk(before: object): AsyncGenerator<Row> {
    for (let from: object | null = before; from; ) {
      const read: Row[] = await find({
        where: from,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: LIMITS.filteredStepRows,
      })
      for (const row of read) if (await shows(row)) yield row
      const last = read.at(-1)
      from = last && read.length === LIMITS.filteredStepRows ? createdBefore(last.createdAt, last.id) : null
    }
  }
}
