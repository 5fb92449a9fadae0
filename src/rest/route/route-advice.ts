/** Says which route a request may mean that matches none. It knows routes only, and no base or type. */

import { isBaseId } from '../../contract/ids.ts'
import { meantValue } from '../../contract/suggest.ts'
import type { Detail } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { own } from '../../foundation/own.ts'
import { spellings } from './aliases.ts'

type Pattern = { readonly method: string; readonly segments: readonly string[] }

/** What other systems call a segment of a path. */
const SYNONYMS: Readonly<Record<string, string>> = {
  types: 'record-types',
  schemas: 'record-types',
  tables: 'record-types',
  rows: 'records',
  items: 'records',
  entries: 'records',
  objects: 'records',
  links: 'relationships',
  edges: 'relationships',
  audit: 'changes',
  log: 'changes',
  undo: 'revert',
  me: 'self',
  whoami: 'self',
}
/** What is one route in other systems, and takes a record type here. */
const SEARCHES = ['search', 'query', 'find', 'aggregate']

function toSearch([base = '', word = '']: readonly string[]): Pick<Detail, 'hint' | 'message'> {
  const hint = `POST ${START}/${base}/records/{record_type}/${word === 'aggregate' ? word : 'query'}`
  const body = word === 'search' ? ' with {"filter":{"field":"data","op":"search","value":"words"}}' : ''
  const files = word === 'search' ? ` Files are searched by GET ${START}/${base}/files?search=words.` : ''
  return { message: `Name the record type: ${hint}${body}.${files}`, hint }
}

const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE']
const START = '/v1'

const RECORDS = spellings('/records').map((path) => path.slice(1))

/** Makes the advice for the routes of /v1: a detail for the method and path of a request. */
export function adviser(routes: readonly { method: string; path: string }[]) {
  const patterns = routes.flatMap(({ method, path }) =>
    spellings(path).map((spelling): Pattern => ({ method, segments: spelling.split('/').slice(1) })),
  )
  return (method: string, path: string): Pick<Detail, 'hint' | 'allowed' | 'message'> | undefined => {
    if (path.length > LIMITS.advisedRouteChars || !path.startsWith(START)) return undefined
    const given = path.slice(START.length + 1).split('/')
    if (given.length === 2 && isBaseId(given[0] ?? '') && SEARCHES.includes(given[1] ?? ''))
      return toSearch(given)
    const meant = meantPath(patterns, method, given)
    if (!meant) return undefined
    const fits = fitting(patterns, meant)
    const methods = METHODS.filter((each) => fits.some((pattern) => pattern.method === each))
    if (meant === given) return { message: `This path takes ${methods.join(', ')}.`, allowed: methods }
    const hint = `${methods.includes(method) ? method : methods[0]} ${START}/${meant.join('/')}`
    return { message: `Did you mean ${hint}?`, hint }
  }
}

/** The path that is meant: `given` itself if it has routes of other methods. */
function meantPath(
  patterns: readonly Pattern[],
  method: string,
  given: readonly string[],
): readonly string[] | undefined {
  const isPath = (path: readonly string[]) => fitting(patterns, path).length > 0
  const takes = (path: readonly string[]) => fitting(patterns, path).some((each) => each.method === method)
  const [first = '', ...rest] = given
  const tries: (readonly string[] | undefined)[] = [
    given.at(-1) === '' ? given.slice(0, -1) : undefined,
    SYNONYMS[first] === 'self' ? ['tokens', 'self'] : undefined,
    renamed(given, takes),
    corrected(
      patterns.filter((pattern) => pattern.method === method),
      given,
    ),
    isPath(given) ? given : undefined,
    corrected(patterns, given),
    first === '' ? ['bases'] : undefined,
    isBaseId(first) && rest.length === 0 ? ['bases', first] : undefined,
    elsewhere(patterns, given),
    isBaseId(first) && !RECORDS.includes(rest[0] ?? '') ? [first, 'records', ...rest] : undefined,
  ]
  return tries.find((path) => path !== undefined && isPath(path))
}

/** The path with the word of another system in the words of this one. */
function renamed(
  given: readonly string[],
  isPath: (path: readonly string[]) => boolean,
): readonly string[] | undefined {
  for (const [at, segment] of given.entries()) {
    const word = own(SYNONYMS, segment)
    const path = word === undefined ? given : given.with(at, word)
    if (path !== given && isPath(path)) return path
  }
  return undefined
}

/** The path of the base itself that ends in the same word. */
function elsewhere(
  patterns: readonly Pattern[],
  [base = '', ...rest]: readonly string[],
): readonly string[] | undefined {
  const last = rest.at(-1) ?? ''
  const word = own(SYNONYMS, last) ?? last
  const found = patterns.find(
    ({ segments: [first, ...others] }) =>
      first === ':base_id' && others.at(-1) === word && others.every(isFixed),
  )
  return found && isBaseId(base) ? [base, ...found.segments.slice(1)] : undefined
}

/** The path with one misspelt word corrected. */
function corrected(patterns: readonly Pattern[], given: readonly string[]): readonly string[] | undefined {
  for (const [at, segment] of given.entries()) {
    const words = patterns.flatMap(({ segments }) => {
      const word = segments[at] ?? ':'
      return isFixed(word) && fits(segments, given.with(at, word)) ? [word] : []
    })
    const meant = meantValue(segment, [...new Set(words)])
    if (meant !== undefined) return given.with(at, meant)
  }
  return undefined
}

const fitting = (patterns: readonly Pattern[], path: readonly string[]): Pattern[] =>
  patterns.filter(({ segments }) => fits(segments, path))

const isFixed = (segment: string): boolean => !segment.startsWith(':') && segment !== '*'

function fits(segments: readonly string[], path: readonly string[]): boolean {
  const isOpen = segments.at(-1) === '*'
  if (isOpen ? path.length < segments.length : path.length !== segments.length) return false
  return segments.every((segment, at) => {
    const given = path[at] ?? ''
    if (segment === ':base_id') return isBaseId(given)
    return isFixed(segment) ? segment === given : given !== ''
  })
}
