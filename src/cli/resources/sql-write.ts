import { commandOf } from '../command/operations.ts'
import { readText } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'
import { param } from './sql.ts'

type Result = { statement: number; operation: string; count: number; rows: Record<string, unknown>[] }
type Done = { data: Result[]; meta: { count: number } } | { plan: { what: string }; plan_token: string }

/** Command `plinth sql-write "UPDATE …; SELECT …"`. */
export const sqlWrite = commandOf('sql.execute', 'sql-write', {
  summary: 'Run INSERT, UPDATE, DELETE and SELECT statements (text, @file, or -) in one transaction',
  argument: 'statements',
  readArgument: readText,
  says: { params: 'a list of values for $1 …, or an object for :name …' },
  also: [param],
  show: ({ body }) => {
    const done = body as Done
    if ('plan' in done) {
      note(
        `${done.plan.what} Nothing is deleted yet. Repeat the command with --plan-token ${done.plan_token}\n`,
      )
      return
    }
    for (const { operation, count, rows } of done.data) {
      if (rows.length > 0) showRows(rows, Object.keys(rows[0] ?? {}))
      note(`${operation}: ${count} ${count === 1 ? 'row' : 'rows'}\n`)
    }
  },
})
