import { LIMITS } from '../../../foundation/limits.ts'
import type { NamedTool } from './named-tools.ts'

/** Alias of a renamed tool: its former name, and its name `now`. */
export type FormerName = { name: string; now: string }

/**
 * Updates the aliases after a change of the tools from `before` to `after`. A tool counts as renamed if
 * exactly one tool of the same type and operation has a new name. Drops an alias whose tool is gone or whose
 * name is in use again.
 */
export function formerNames(
  current: readonly FormerName[],
  before: readonly NamedTool[],
  after: readonly NamedTool[],
): FormerName[] {
  const live = new Set(after.map(({ name }) => name))
  const had = new Set(before.map(({ name }) => name))
  const fresh = Map.groupBy(
    after.filter(({ name }) => !had.has(name)),
    keyOf,
  )
  const gone = Map.groupBy(
    before.filter(({ name }) => !live.has(name)),
    keyOf,
  )
  const renamed = new Map<string, string>()
  for (const [key, [was, ...others]] of gone) {
    const [is, ...more] = fresh.get(key) ?? []
    if (was && is && others.length === 0 && more.length === 0) renamed.set(was.name, is.name)
  }
  return [
    ...current.map(({ name, now }) => ({ name, now: renamed.get(now) ?? now })),
    ...[...renamed].map(([name, now]) => ({ name, now })),
  ]
    .filter(({ name, now }) => live.has(now) && !live.has(name))
    .slice(-LIMITS.formerNames)
}

const keyOf = ({ recordType, operation }: NamedTool) => `${operation} ${recordType}`

/**
 * Resolves an alias to the current tool. A tool may have been renamed both in a toolset and in the endpoint.
 */
export function followName(
  name: string,
  former: ReadonlyMap<string, string>,
  live: (name: string) => boolean,
) {
  let at: string | undefined = name
  for (let steps = 0; at !== undefined && steps <= former.size; steps++) {
    if (live(at)) return at
    at = former.get(at)
  }
  return undefined
}
