import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
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
   * type may exceed the size of many pages of other items.
   */
  rows<Row extends Dated>(find: (step: Step) => Promise<Row[]>): Promise<Row[]>
  /** Builds the page from the rows that were read: the page plus one. */
  of<T extends { id: string; createdAt: string }>(rows: T[], total: number | null): Page<T>
}

type Dated = { readonly id: string; readonly createdAt: Date }
/** Parameters of one query of the list. */
export type Step = { readonly before: object; readonly take: number; readonly skip: number }

const STEP_ROWS = 64

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
  return {
    ...page,
    start,
    before,
    rows: async (find) => {
      const cap = scope.answer.page()
      const rows: Awaited<ReturnType<typeof find>> = []
      const wanted = page.limit + 1
      for (let step: Step | null = { before, take: wanted, skip: page.offset }; step && !isCut; ) {
        const take: number = Math.min(STEP_ROWS, wanted - rows.length)
        const found = await find({ ...step, take })
        for (const row of found) {
          if (turnIsOver()) await nextTurn()
          isCut = !cap.take(sizeOf(row))
          if (isCut) break
          rows.push(row)
        }
        const last = rows.at(-1)
        const goesOn = last && found.length === take && rows.length < wanted
        step = goesOn ? { before: createdBefore(last.createdAt, last.id), take, skip: 0 } : null
      }
      return rows
    },
    of: (rows, total) => {
      const found = toPage(rows, page, total, isCut)
      const positionOf = ({ id, createdAt }: (typeof rows)[number]) => ({ id, values: [createdAt] })
      return { ...found, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
    },
  }
}

/** Keyset condition: items after the given one in descending creation order. */
export const createdBefore = (createdAt: Date, id: string) => ({
  OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }],
})

/** Length of a row as JSON, an estimate of its size in the response. */
const sizeOf = (row: object): number =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).length
