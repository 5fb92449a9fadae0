import { nearest } from '../../contract/suggest.ts'
import { DomainError } from '../../foundation/errors.ts'
import { InvalidParams } from '../protocol/provider.ts'

/** The refusal of a tool that is more than the token may. */
export const beyondGrants = (name: string) =>
  new DomainError('FORBIDDEN', `The token may not use "${name.slice(0, 128)}".`, {
    details: [
      { path: '', code: 'missing_permission', message: 'tools/list names the tools this token may use.' },
    ],
  })

/** The refusal of a tool that there is not, with the nearest of those there are. */
export function unknownTool(name: string, known: readonly string[]): InvalidParams {
  const close = nearestTool(name, known)
  return new InvalidParams(
    `There is no tool "${name.slice(0, 128)}" here.${close ? ` Did you mean "${close}"?` : ''} tools/list names those there are.`,
  )
}

/** First words of names that mean something themselves: none of them is another one misspelt. */
const VERBS =
  /^(create|add|insert|get|read|fetch|find|search|list|query|count|aggregate|update|patch|set|upsert|put|delete|remove|cancel|link|unlink|related)$/

/**
 * The tool that a name most likely means. Its first word says what is done, and a tool that does another thing is never
 * meant: who would delete must not be led to create.
 */
function nearestTool(name: string, known: readonly string[]): string | undefined {
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
