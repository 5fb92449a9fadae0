import type { SelectStmt } from '@pgsql/types'
import { LRUCache } from 'lru-cache'
import { type Context, replaceNode } from './context.ts'
import type { Parser } from './parser.ts'

/** Trees of relations by their text: most statements read what the last ones read. */
const bodies = new LRUCache<string, SelectStmt>({ max: 200 })

/** Puts in the place of each relation, under the same alias, the SELECT that yields what the token may read of it. */
export function replaceRelations(context: Context, parser: Parser): void {
  const wanted = (column: string) => context.everyColumn || context.mentioned.has(column)
  for (const { node, range, relation } of context.reads) {
    const SelectStmt = treeOf(parser, relation.body(wanted))
    const alias = range.alias ?? { aliasname: range.relname ?? relation.name }
    replaceNode(node, { RangeSubselect: { subquery: { SelectStmt }, alias } })
  }
}

function treeOf(parser: Parser, text: string): SelectStmt {
  const known = bodies.get(text)
  if (known) return known
  const [statement] = parser.parse(text)
  if (!statement || !('SelectStmt' in statement)) throw new Error('A relation is not a SELECT.')
  bodies.set(text, statement.SelectStmt)
  return statement.SelectStmt
}
