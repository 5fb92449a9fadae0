import { LIMITS } from '../../../foundation/limits.ts'
import type { NamedTool } from './named-tools.ts'

/** A name that a tool had before, and the one it has `now`. */
export type FormerName = { name: string; now: string }

/**
 * The former names after a change from the tools `before` to those `after`: a tool of the same type and operation under
 * another name was renamed, unless more than one could be meant. One that is gone, or whose name is given anew, is dropped.
 */
export function formerNames(
  held: readonly FormerName[],
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
    ...held.map(({ name, now }) => ({ name, now: renamed.get(now) ?? now })),
    ...[...renamed].map(([name, now]) => ({ name, now })),
  ]
    .filter(({ name, now }) => live.has(now) && !live.has(name))
    .slice(-LIMITS.formerNames)
}

const keyOf = ({ recordType, operation }: NamedTool) => `${operation} ${recordType}`

/** The tool that a former name means now; a tool may have been renamed in a toolset and in the endpoint. */
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
