import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { cursorsOf, openCursor, type Position } from './cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from './page.ts'
import type { Scope } from './scope.ts'

/** A page of a list in descending creation order, with its keyset condition. */
export type NewestPage = ReturnType<typeof readPage> & {
  before: object
  /** Position of the last item of the previous page, for lists outside the ORM. */
  start: Position | null
  /**
   * Reads ORM rows from the position in steps: the page plus one, or as many as fit its byte limit. A single
   * type may exceed the size of many pages of other items. `size` is that of a row as JSON, if it is more than the row.
   */
  rows<Row extends Dated>(find: (step: Step) => Promise<Row[]>, size?: (row: Row) => number): Promise<Row[]>
  /** Reads the rows of a table that meet a condition, and counts them if the page asks for a total. */
  find<Row extends Dated>(
    table: NewestTable<Row>,
    where: object,
    size?: (row: Row) => number,
  ): Promise<[Row[], number | null]>
  /** Builds the page from the rows that were read: the page plus one. */
  of<T extends { id: string; createdAt: string }>(rows: T[], total: number | null): Page<T>
}

export type Dated = { readonly id: string; readonly createdAt: Date }
/** Parameters of one query of the list. */
export type Step = { readonly before: object; readonly take: number; readonly skip: number }

/** A table in the ORM. */
export type NewestTable<Row> = {
  findMany(query: { where: object; orderBy: Order[]; take: number; skip: number }): PromiseLike<Row[]>
  count(query: { where: object }): PromiseLike<number>
}
type Order = { createdAt?: 'desc'; id?: 'desc' }

/**
 * Reads the page arguments of a list with keyset pagination by created_at. `list` names the list in the
 * cursor.
 * @throws VALIDATION_ERROR
 */
export function readNewest(scope: Scope, list: string, args: PageArgs): NewestPage {
  const page = readPage(args)
  const boundTo = [list, scope.access.grants]
  const start = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  const before = start ? createdBefore(new Date(String(start.values[0])), start.id) : {}
  let isCut = false
  const newest: NewestPage = {
    ...page,
    start,
    before,
    rows: async (find, size = sizeOf) => {
      const cap = scope.answer.page()
      const rows: Awaited<ReturnType<typeof find>> = []
      const wanted = page.limit + 1
      for (let step: Step | null = { before, take: wanted, skip: page.offset }; step && !isCut; ) {
        const take: number = Math.min(LIMITS.createdAtStepRows, wanted - rows.length)
        const found = await find({ ...step, take })
        for (const row of found) {
          if (turnIsOver()) await nextTurn()
          isCut = !cap.take(size(row))
          if (isCut) break
          rows.push(row)
        }
        const last = rows.at(-1)
        const goesOn = last && found.length === take && rows.length < wanted
        step = goesOn ? { before: createdBefore(last.createdAt, last.id), take, skip: 0 } : null
      }
      return rows
    },
    find: (table, where, size) =>
      Promise.all([
        newest.rows(
          async ({ before: from, take, skip }) =>
            table.findMany({
              where: { AND: [where, from] },
              orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
              take,
              skip,
            }),
          size,
        ),
        page.includeTotal ? table.count({ where }) : null,
      ]),
    of: (rows, total) => {
      const found = toPage(rows, page, total, isCut)
      const positionOf = ({ id, createdAt }: (typeof rows)[number]) => ({ id, values: [createdAt] })
      return { ...found, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
    },
  }
  return newest
}

/** Keyset condition: items after the given one in descending creation order. */
export const createdBefore = (createdAt: Date, id: string) => ({
  OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }],
})

/** Length of a row as JSON, an estimate of its size. */
export const sizeOf = (row: object): number =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).length
