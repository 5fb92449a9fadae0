/**
 * A conflict key of an operation. Two operations with the same key run in different dependency levels, in
 * batch order, unless they have the same side of it.
 */
export type Touch = { readonly key: string; readonly side?: string }

/** Equivalent keys, such as the id and the external id pair of a record. */
export type Same = readonly (readonly [string, string])[]

/**
 * Assigns operations to dependency levels: operations of one level are independent, so that one statement may
 * execute several. @returns the indexes of each level, ascending
 */
export function planWaves(touches: readonly (readonly Touch[])[], same: Same): number[][] {
  if (areApart(touches, same)) return [[...touches.keys()]]
  const { find, join } = joinable()
  for (const [a, b] of same) join(a, b)
  for (const each of touches) {
    // Keys of one operation are equivalent, since they may resolve to the same record.
    const [first, ...rest] = each.filter(({ side }) => side === undefined)
    for (const { key } of rest) join(first?.key ?? key, key)
  }
  const waves: number[][] = []
  /** The last level per key and side. */
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

/** Whether no two operations conflict, which is the common case. */
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

/** Disjoint sets (union-find). */
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
