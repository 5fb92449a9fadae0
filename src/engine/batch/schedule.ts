/**
 * What an operation touches. Two that touch one key stand in different waves, in their order, unless both are on the
 * same side of it.
 */
export type Touch = { readonly key: string; readonly side?: string }

/** Keys that are one thing, such as the id and the pair of a record. */
export type Same = readonly (readonly [string, string])[]

/**
 * Sorts operations into waves: within one no operation depends on another, so that a statement may do many of them.
 * @returns the indexes of each wave, ascending
 */
export function planWaves(touches: readonly (readonly Touch[])[], same: Same): number[][] {
  if (areApart(touches, same)) return [[...touches.keys()]]
  const { find, join } = joinable()
  for (const [a, b] of same) join(a, b)
  for (const each of touches) {
    // What one operation touches alone is one thing for all of them: it may turn out to be one record.
    const [first, ...rest] = each.filter(({ side }) => side === undefined)
    for (const { key } of rest) join(first?.key ?? key, key)
  }
  const waves: number[][] = []
  /** By key, the last wave of each side. */
  const last = new Map<string, Map<string, number>>()
  for (const [index, each] of touches.entries()) {
    let wave = 0
    for (const { key, side } of each)
      for (const [other, at] of last.get(find(key)) ?? [])
        if (side === undefined || other !== side) wave = Math.max(wave, at + 1)
    for (const { key, side = '' } of each) {
      const root = find(key)
      const sides = last.get(root) ?? new Map<string, number>()
      last.set(root, sides.set(side, Math.max(wave, sides.get(side) ?? 0)))
    }
    const others = waves[wave]
    if (others) others.push(index)
    else waves[wave] = [index]
  }
  return waves
}

/** Does nothing that an operation touches belong to another one too, but on the same side? Most batches are so. */
function areApart(touches: readonly (readonly Touch[])[], same: Same): boolean {
  const sides = new Map<string, string | undefined>()
  for (const each of touches)
    for (const { key, side } of each) {
      if (sides.has(key) && (side === undefined || sides.get(key) !== side)) return false
      sides.set(key, side)
    }
  for (const [, other] of same) {
    if (sides.has(other)) return false
    sides.set(other, undefined)
  }
  return true
}

/** Sets that grow together (union-find). */
function joinable() {
  const parents = new Map<string, string>()
  const find = (key: string): string => {
    const parent = parents.get(key)
    if (parent === undefined) return key
    const root = find(parent)
    parents.set(key, root)
    return root
  }
  const join = (a: string, b: string): void => {
    const [rootA, rootB] = [find(a), find(b)]
    if (rootA !== rootB) parents.set(rootA, rootB)
  }
  return { find, join }
}
