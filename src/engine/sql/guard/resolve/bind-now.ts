import type { Node } from '@pgsql/types'
import { replaceNode, wordsOf } from '../relations/context.ts'

const NOW = /^(now|(transaction|statement)_timestamp)$/

/**
 * Replaces the present time in a checked tree by a parameter, so that all statements of a request agree.
 * Returns whether the tree reads it.
 */
export function bindNow(tree: object, number: number): boolean {
  let isUsed = false
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const time = timeOf(part as Node)
    if (time) {
      isUsed = true
      const now = cast({ ParamRef: { number } }, ['pg_catalog', 'timestamptz'])
      replaceNode(part as Node, time === 'day' ? cast(now, ['date']) : now)
    } else for (const child of Object.values(part)) visit(child)
  }
  visit(tree)
  return isUsed
}

function timeOf(node: Node): 'instant' | 'day' | undefined {
  if ('FuncCall' in node)
    return NOW.test(wordsOf(node.FuncCall?.funcname).at(-1) ?? '') ? 'instant' : undefined
  if (!('SQLValueFunction' in node)) return undefined
  const { op } = node.SQLValueFunction
  return op === 'SVFOP_CURRENT_TIMESTAMP' ? 'instant' : op === 'SVFOP_CURRENT_DATE' ? 'day' : undefined
}

const cast = (arg: Node, words: readonly string[]): Node => ({
  TypeCast: { arg, typeName: { names: words.map((sval) => ({ String: { sval } })), typemod: -1 } },
})
