/**
 * JSONPath (RFC 9535) over JSON of any size. The library parses paths and evaluates conditions. The walk is here,
 * because it has a budget, and yields to the event loop.
 */
import { JSONPathEnvironment, JSONPathNode, type JSONPathQuery, jsonpath } from 'json-p3'
import { LRUCache } from 'lru-cache'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { attempt, stepsUsed } from '../json-schema/evaluation-cost.ts'
import { compilePattern } from '../json-schema/pattern.ts'
import { checkFilters, PathFault } from './filters.ts'

type Json = JSONPathNode['value']

/** Values that paths may still visit. */
export type PathBudget = { left: number }

export const openPathBudget = (): PathBudget => ({ left: LIMITS.jsonPathNodes })

/** A compiled path. */
export type JsonPath = {
  /** Finds one value at most: it has names and indexes only. */
  readonly isSingular: boolean
  /** Its names, if it has nothing else. */
  readonly names: readonly string[] | null
  /**
   * The values at the path, in document order. Takes those that it visits from the budget.
   * @throws VALIDATION_ERROR if it visits too many
   */
  find(root: unknown, budget: PathBudget): Promise<unknown[]>
}

const { NameSelector, IndexSelector, WildcardSelector, FilterSelector } = jsonpath.selectors

/** Steps of a condition, which are about 10 ns each, that count as one visited value. */
const STEPS_OF_VISIT = 20

const environment = openEnvironment()

function openEnvironment(): JSONPathEnvironment {
  const made = new JSONPathEnvironment({ maxRecursionDepth: LIMITS.jsonDepth })
  for (const [name, wrap] of [
    ['match', (pattern: string) => `^(?:${pattern})$`],
    ['search', (pattern: string) => pattern],
  ] as const) {
    const plain = made.functionRegister.get(name)
    if (!plain) throw new Error(`The library has no function ${name}`)
    const call = (text: unknown, pattern: unknown) =>
      typeof text === 'string' &&
      typeof pattern === 'string' &&
      compilePattern(wrap(pattern))?.test(text) === true
    made.functionRegister.set(name, { argTypes: plain.argTypes, returnType: plain.returnType, call })
  }
  return made
}

const known = new LRUCache<string, JsonPath>({ max: 2000 })

/**
 * Compiles a path.
 * @throws PathFault
 */
export function compileJsonPath(text: string): JsonPath {
  const before = known.get(text)
  if (before) return before
  const query = parse(text)
  checkFilters(query)
  const path: JsonPath = {
    isSingular: query.singularQuery(),
    names: namesOf(query),
    find: (root, budget) => walk(query, root as Json, budget),
  }
  known.set(text, path)
  return path
}

function parse(text: string): JSONPathQuery {
  if (text.length > LIMITS.jsonPathChars)
    throw new PathFault(`A JSONPath can have at most ${LIMITS.jsonPathChars} characters.`)
  try {
    return environment.compile(text)
  } catch (thrown) {
    throw new PathFault(
      `It is no JSONPath (RFC 9535): ${thrown instanceof Error ? thrown.message : ''}. Write it as "$.order.id".`,
    )
  }
}

/** The fault of a path, if it has one. */
export function pathFault(text: string, path: string): Detail[] {
  try {
    compileJsonPath(text)
    return []
  } catch (thrown) {
    if (!(thrown instanceof PathFault)) throw thrown
    return [{ path, code: 'invalid_json_path', message: thrown.message, received: text.slice(0, 200) }]
  }
}

function namesOf({ segments }: JSONPathQuery): string[] | null {
  if (segments.length === 0 || segments.some((segment) => segment.toString().startsWith('..'))) return null
  const selectors = segments.flatMap((segment) => segment.selectors)
  const names = selectors.flatMap((selector) => (selector instanceof NameSelector ? selector.name : []))
  return names.length === selectors.length && selectors.length === segments.length ? names : null
}

async function walk(query: JSONPathQuery, root: Json, budget: PathBudget): Promise<unknown[]> {
  let values: Json[] = [root]
  for (const segment of query.segments) {
    const next: Json[] = []
    const isDescendant = segment.toString().startsWith('..')
    for (const value of values)
      for (const each of isDescendant ? descendants(value) : [value])
        for (const selector of segment.selectors)
          for (const found of selected(selector, each, root, budget)) {
            if (found !== NONE) next.push(found)
            if (--budget.left < 0) throw tooComplex(query)
            if (turnIsOver()) await nextTurn()
          }
    values = next
  }
  return values
}

/** In place of a value that a condition leaves out. */
const NONE = Symbol('none')

function* selected(
  selector: jsonpath.JSONPathSelector,
  value: Json,
  root: Json,
  budget: PathBudget,
): Generator<Json | typeof NONE> {
  if (typeof value !== 'object' || value === null) return yield NONE
  if (selector instanceof WildcardSelector) return yield* childrenOf(value)
  if (selector instanceof FilterSelector) {
    for (const child of childrenOf(value)) yield meets(selector, child, root, budget) ? child : NONE
    return
  }
  if (selector instanceof NameSelector) {
    const isThere = !Array.isArray(value) && Object.hasOwn(value, selector.name)
    return yield isThere ? ((value as Record<string, Json>)[selector.name] as Json) : NONE
  }
  if (selector instanceof IndexSelector) {
    const at = Array.isArray(value) ? value.at(selector.index) : undefined
    return yield at === undefined ? NONE : at
  }
  for (const { value: found } of selector.resolve(new JSONPathNode(value, [], root))) yield found
}

function meets(
  { expression }: InstanceType<typeof FilterSelector>,
  currentValue: Json,
  rootValue: Json,
  budget: PathBudget,
): boolean {
  const isMet = attempt(() => expression.evaluate({ environment, currentValue, rootValue }))
  budget.left -= isMet === undefined ? budget.left : Math.floor(stepsUsed() / STEPS_OF_VISIT)
  return isMet === true
}

function* childrenOf(value: Json): Generator<Json> {
  if (Array.isArray(value)) yield* value
  else if (typeof value === 'object' && value !== null)
    for (const name of Object.keys(value)) yield (value as Record<string, Json>)[name] as Json
}

/** The value and all below it, each before those below it. */
function* descendants(value: Json): Generator<Json> {
  yield value
  for (const child of childrenOf(value)) yield* descendants(child)
}

const tooComplex = (query: JSONPathQuery) =>
  invalid({
    path: '',
    code: 'too_complex',
    message: `The path ${query.toString().slice(0, 200)} visits too many values of this payload. Paths visit at most ${LIMITS.jsonPathNodes} together: name places more closely.`,
  })
