import type { Node } from '@pgsql/types'
import type { Source } from './source.ts'

/** How many grouping sets a statement may ask for: each is an aggregation of its own. */
const MOST_SETS = 64

/** @throws VALIDATION_ERROR when CUBE, ROLLUP and GROUPING SETS multiply to too many */
export function checkGrouping(clause: readonly Node[] | undefined, source: Source): void {
  const sets = (clause ?? []).reduce((product, node) => product * setsOf(node), 1)
  if (sets <= MOST_SETS) return
  const message = `A statement has at most ${MOST_SETS} grouping sets: this one has ${sets}. Use fewer columns in CUBE.`
  throw source.fault('too_many', message, undefined, { expected: MOST_SETS, received: sets })
}

function setsOf(node: Node): number {
  if (!('GroupingSet' in node)) return 1
  const { kind, content = [] } = node.GroupingSet
  if (kind === 'GROUPING_SET_CUBE') return 2 ** content.length
  if (kind === 'GROUPING_SET_ROLLUP') return content.length + 1
  if (kind === 'GROUPING_SET_EMPTY') return 1
  return content.reduce((sum, each) => sum + setsOf(each), 0)
}
