import type { ErrorObject } from 'ajv'
import type { Detail } from '../../errors.ts'
import { isObject } from './checks.ts'
import { detail } from './messages.ts'
import type { Clean } from './reader.ts'
import type { Definitions } from './references.ts'

const MOST_DETAILS = 20
// Enough to explain; nested alternatives make errors by the thousand.
const MOST_ERRORS = 500

/** Turns the validator's errors into what the caller should mend: of alternatives, only the one that was meant. */
export function explain(errors: ErrorObject[], at: string, definitions: Definitions): Detail[] {
  const reach = reachable(definitions)
  const told = reduce(errors.slice(0, MOST_ERRORS), reach)
  const details = new Map<string, Detail>()
  for (const error of told.length > 0 ? told : errors.slice(0, 1)) {
    const { path, code, ...rest } = detail(error, at)
    if (details.size < MOST_DETAILS) details.set(`${code} ${path}`, { path, code, ...rest })
  }
  return [...details.values()]
}

type Reach = (schema: unknown) => Set<unknown>

/** Leaves out what another error in the list already stands for. */
function reduce(errors: ErrorObject[], reach: Reach): ErrorObject[] {
  const choices = errors.filter((error) => error.keyword in BRANCHES)
  const parts = new Map(
    choices.map((choice) => [choice, errors.filter((error) => isPart(error, choice, reach))]),
  )
  const covered = new Set([...parts.values()].flat())
  const told = errors
    .filter((error) => !covered.has(error))
    .flatMap((error) => pick(error, parts.get(error), reach))
  const causes = told.filter(({ keyword }) => keyword !== 'if' && !keyword.startsWith('unevaluated'))
  // `if` only says that `then` failed, and a failed branch leaves its members unevaluated: both say it twice.
  return causes.length > 0 ? causes : told
}

/** Keywords that hold other schemas' errors, and where those schemas are. */
const BRANCHES: Record<string, (parent: Clean) => unknown[]> = {
  anyOf: (parent) => parent['anyOf'] as unknown[],
  oneOf: (parent) => parent['oneOf'] as unknown[],
  contains: (parent) => [parent['contains']],
  propertyNames: (parent) => [parent['propertyNames']],
}

function branches({ keyword, parentSchema }: ErrorObject): unknown[] {
  return (parentSchema && BRANCHES[keyword]?.(parentSchema)) ?? []
}

function isPart(error: ErrorObject, choice: ErrorObject, reach: Reach): boolean {
  if (error === choice || !error.instancePath.startsWith(choice.instancePath)) return false
  return branches(choice).some((branch) => reach(branch).has(error.parentSchema))
}

/** The errors to tell for a choice: those of the branch that was most likely meant, if one stands out. */
function pick(choice: ErrorObject, parts: ErrorObject[] | undefined, reach: Reach): ErrorObject[] {
  const isChoice = choice.keyword === 'anyOf' || choice.keyword === 'oneOf'
  if (!isChoice || !parts || choice.params['passingSchemas']) return [choice]
  const failed = branches(choice).map((branch) => {
    const own = reach(branch)
    return reduce(
      parts.filter((part) => own.has(part.parentSchema)),
      reach,
    )
  })
  const merged = merge(choice, failed)
  if (merged) return [merged]
  const meant = failed.filter(
    (errors) => errors.length > 0 && !errors.some((error) => rulesOut(error, choice)),
  )
  const fewest = Math.min(...meant.map((errors) => errors.length))
  const best = meant.filter((errors) => errors.length === fewest)
  return best.length === 1 ? (best[0] ?? []) : [choice]
}

/** Whether an error says that this branch was not the one in mind: another type, or another value of a tag. */
function rulesOut({ keyword, instancePath }: ErrorObject, choice: ErrorObject): boolean {
  const below = instancePath.slice(choice.instancePath.length)
  if (below === '') return ['type', 'const', 'enum', 'false schema'].includes(keyword)
  return ['const', 'enum'].includes(keyword) && !below.slice(1).includes('/')
}

/** One error for alternatives that differ in type only, or in value only. */
function merge(choice: ErrorObject, failed: ErrorObject[][]): ErrorObject | undefined {
  const errors = failed.flatMap((errors) => (errors.length === 1 ? errors : []))
  if (errors.length < failed.length) return undefined
  if (errors.some(({ instancePath }) => instancePath !== choice.instancePath)) return undefined
  if (errors.every(({ keyword }) => keyword === 'type')) {
    const types = [...new Set(errors.flatMap(({ schema }) => schema as string | string[]))]
    return { ...choice, keyword: 'type', schema: types }
  }
  if (errors.every(({ keyword }) => keyword === 'const' || keyword === 'enum')) {
    const values = errors.flatMap(({ keyword, schema }) =>
      keyword === 'enum' ? (schema as unknown[]) : [schema],
    )
    return { ...choice, keyword: 'enum', schema: values }
  }
  return undefined
}

/** All schemas that a schema is made of, references followed. */
function reachable(definitions: Definitions): Reach {
  const known = new Map<unknown, Set<unknown>>()
  return (schema) => {
    const seen = known.get(schema) ?? new Set()
    if (known.has(schema)) return seen
    known.set(schema, seen)
    const open = [schema]
    while (open.length > 0) {
      const next = open.pop()
      if (typeof next !== 'object' || next === null || seen.has(next)) continue
      seen.add(next)
      open.push(...Object.values(next).filter((value) => typeof value === 'object'))
      if (isObject(next)) open.push(definitions.target(next))
    }
    return seen
  }
}
