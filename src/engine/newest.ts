import { cursorsOf, openCursor, type Position } from './cursor.ts'
import { type Page, type PageArgs, readPage, toPage } from './page.ts'
import type { Scope } from './scope.ts'

/** A page of a list that shows the newest first, with the condition that makes it start where its cursor says. */
export type NewestPage = ReturnType<typeof readPage> & {
  before: object
  /** The last item of the page before, for a list that is no table of the ORM. */
  start: Position | null
  /** The page of what was read from there: its rows and one more. */
  of<T extends { id: string; createdAt: string }>(rows: T[], total: number | null): Page<T>
}

/** The page asked for of a list, which `list` names. @throws VALIDATION_ERROR */
export function readNewest(scope: Scope, list: string, args: PageArgs): NewestPage {
  const page = readPage(args)
  const boundTo = [list, scope.access.grants]
  const start = args.cursor ? openCursor(scope.keys.cursor, boundTo, args.cursor) : null
  return {
    ...page,
    start,
    before: start ? createdBefore(new Date(String(start.values[0])), start.id) : {},
    of: (rows, total) => {
      const found = toPage(rows, page, total)
      const positionOf = ({ id, createdAt }: (typeof rows)[number]) => ({ id, values: [createdAt] })
      return { ...found, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
    },
  }
}

const createdBefore = (createdAt: Date, id: string) => ({
  OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }],
})
