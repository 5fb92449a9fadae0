import { nearest } from '../../contract/suggest.ts'
import { DomainError } from '../../foundation/errors.ts'
import { InvalidParams } from '../protocol/provider.ts'

/** FORBIDDEN for a tool that the grants do not allow. */
export const beyondGrants = (name: string) =>
  new DomainError('FORBIDDEN', `The token may not use "${name.slice(0, 128)}".`, {
    details: [
      { path: '', code: 'missing_permission', message: 'tools/list names the tools this token may use.' },
    ],
  })

/** Error for an unknown tool, with the nearest known name as a hint. */
export function unknownTool(name: string, known: readonly string[]): InvalidParams {
  const close = nearestTool(name, known)
  return new InvalidParams(
    `There is no tool "${name.slice(0, 128)}" here.${close ? ` Did you mean "${close}"?` : ''} tools/list names those there are.`,
  )
}

/**
 * Verbs with distinct meanings. A name that begins with one is never taken for a misspelling of another verb.
 */
const VERBS =
  /^(create|add|insert|get|read|fetch|find|search|list|query|count|aggregate|update|patch|set|upsert|put|delete|remove|cancel|link|unlink|related)$/

/** Names that other systems give to changes of a schema. Here one tool does them all. */
const DEFINES =
  /^(define|put|upsert|create|make|update|patch|set|change|alter|modify|add|drop)_?(record_?|relationship_?|rel_?)?(type|schema|table|collection|field|column|property|index)(s|es)?$/i

/** Finds the nearest tool name, but only with the same verb: a hint must not turn a delete into a create. */
function nearestTool(name: string, known: readonly string[]): string | undefined {
  if (DEFINES.test(name) && known.includes('define')) return 'define'
  const [word = '', ...rest] = name.split('_')
  const verbs = new Set(known.map(verbOf))
  const verb = verbs.has(word) || VERBS.test(word) ? word : nearest(word, verbs)
  if (verb === undefined) return nearest(name, known)
  const alike = new Map(
    known.filter((each) => verbOf(each) === verb).map((each) => [each.slice(verb.length + 1), each]),
  )
  const close = nearest(rest.join('_'), alike.keys())
  return close === undefined ? alike.get('record') : alike.get(close)
}

const verbOf = (name: string): string => name.split('_')[0] ?? ''
