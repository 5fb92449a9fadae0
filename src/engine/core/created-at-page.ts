import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { cursorsOf, openCursor, type Position } from './cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from './page.ts'
import type { Scope } from './scope.ts'

/** A page of a list that shows the newest first, with the condition that makes it start where its cursor says. */
export type NewestPage = ReturnType<typeof readPage> & {
  before: object
  /** The last item of the page before, for a list that is no table of the ORM. */
  start: Position | null
  /**
   * Rows of the ORM from there, in steps: one more than the page takes, or as many as the bytes of a page hold. One type may
   * be as large as many pages of others.
   */
  rows<Row extends Dated>(find: (step: Step) => Promise<Row[]>): Promise<Row[]>
  /** The page of what was read from there: its rows and one more. */
  of<T extends { id: string; createdAt: string }>(rows: T[], total: number | null): Page<T>
}

type Dated = { readonly id: string; readonly createdAt: Date }
/** What one query of a list reads. */
export type Step = { readonly before: object; readonly take: number; readonly skip: number }

const STEP_ROWS = 64

/** The page asked for of a list, which `list` names. @throws VALIDATION_ERROR */
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

/** The condition of what comes behind such an item. */
export const createdBefore = (createdAt: Date, id: string) => ({
  OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }],
})

/** Characters of a row as JSON, about what it takes in an answer. */
const sizeOf = (row: object): number =>
  JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).length
