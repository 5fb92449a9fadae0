import type { Node } from '@pgsql/types'
import { wordsOf } from '../../guard/relations/context.ts'
import { call, column, combined, isNull, NULL, operation, text } from './nodes.ts'
import { walk } from './walk.ts'
import type { WrittenRelation } from './written-relation.ts'

/** The properties of the target that expressions read by their typed columns. */
export function typedReads({ columns, alias }: WrittenRelation, values: readonly Node[]): string[] {
  const found = new Set<string>()
  walk(values, {
    columnRef({ fields }, _node, isNested) {
      const words = wordsOf(fields)
      const name = words.at(-1) ?? ''
      const isOwn = words.length === 2 ? words[0] === alias : words.length === 1 && !isNested
      const kind = columns.get(name)?.property?.kind
      if (isOwn && kind && kind !== 'json') found.add(name)
    },
  })
  return [...found]
}

/**
 * Whether one of these properties holds a value of another kind than its column. The column is then NULL,
 * and what is computed from it would remove the property.
 */
export function holdsOther({ columns, alias }: WrittenRelation, names: readonly string[]): Node {
  const tests = names.map((name) => {
    const value = operation('->', column(alias, 'data'), text(columns.get(name)?.property?.name ?? name))
    const isThere = operation('<>', call('jsonb_typeof', value), text('null'))
    return combined('AND_EXPR', [isThere, isNull(column(alias, name))])
  })
  return tests.length === 0 ? NULL() : combined('OR_EXPR', tests)
}
