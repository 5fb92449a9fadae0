import type { CommonTableExpr, SelectStmt, WithClause } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import { type Columns, columnsOfNames } from '../relations/column-list.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import type { Cte, NameScope } from '../relations/name-scope.ts'
import { hintForNode } from '../syntax/hints.ts'

/**
 * Resolves the queries of a WITH clause; returns the scope with their names. A query can reference earlier
 * ones; with RECURSIVE, all of them and itself.
 */
export function resolveWith(context: GuardContext, clause: WithClause, around: NameScope): NameScope {
  const ctes = new Map<string, Cte>()
  const all: Cte[] = []
  if ((clause.ctes?.length ?? 0) > LIMITS.sqlWithQueries)
    throw context.source.fault(
      'too_many',
      `A WITH holds at most ${LIMITS.sqlWithQueries} queries.`,
      clause.location,
    )
  for (const node of clause.ctes ?? []) {
    if (!('CommonTableExpr' in node)) continue
    const query = node.CommonTableExpr
    const seen = clause.recursive ? ctes : new Map(ctes)
    const cte = lazily(context, query, { items: [], ctes: seen, around })
    const name = query.ctename ?? ''
    if (ctes.has(name)) throw context.source.fault('duplicate', `WITH names "${name}" twice.`, query.location)
    ctes.set(name, cte)
    all.push(cte)
  }
  for (const cte of all) cte.columns()
  return { items: [], ctes, around }
}

function lazily(context: GuardContext, query: CommonTableExpr, scope: NameScope): Cte {
  let state: 'new' | 'open' | 'left known' | 'done' = 'new'
  let columns = columnsOfNames([])
  const names = wordsOf(query.aliascolnames)
  const rename = (own: Columns) => (names.length > 0 ? columnsOfNames(renamed(own.list(), names)) : own)
  const resolve = () => {
    state = 'open'
    const statement = bodyOf(context, query)
    columns = rename(
      context.select(statement, scope, (left) => {
        // From here the query may reference itself: its first arm has defined its columns.
        columns = rename(left)
        state = 'left known'
      }),
    )
    state = 'done'
  }
  return {
    columns: () => {
      if (state === 'open')
        throw context.source.fault(
          'unsupported',
          `"${query.ctename}" reads itself where that has no start: write WITH RECURSIVE ${query.ctename} AS (start UNION ALL step).`,
          query.location,
        )
      if (state === 'new') resolve()
      return columns
    },
  }
}

function bodyOf(context: GuardContext, { ctequery, location }: CommonTableExpr): SelectStmt {
  if (ctequery && 'SelectStmt' in ctequery) return ctequery.SelectStmt
  throw context.source.fault('not_a_read', hintForNode(Object.keys(ctequery ?? {})[0] ?? ''), location)
}

/** Replaces the leading names of a list. */
export const renamed = (own: readonly string[], by: readonly string[]): string[] => [
  ...by,
  ...own.slice(by.length),
]
