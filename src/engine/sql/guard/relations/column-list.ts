/** Column names of a FROM item. Joins are composed lazily, without copying wide column lists. */
export type Columns = {
  readonly count: number
  has(name: string): boolean
  list(): readonly string[]
}

export function columnsOfNames(names: readonly string[]): Columns {
  let known: ReadonlySet<string> | undefined
  return {
    count: names.length,
    list: () => names,
    has: (name) => {
      if (names.length < FEW) return names.includes(name)
      known ??= new Set(names)
      return known.has(name)
    },
  }
}

/** Below this size, a linear search is as fast as building a set. */
const FEW = 8

/** The columns of a join: merged columns first, then the remaining ones of either side. */
export function joinedColumns(shared: readonly string[], left: Columns, right: Columns): Columns {
  const merged = new Set(shared)
  let known: readonly string[] | undefined
  return {
    count: left.count + right.count - shared.length,
    has: (name) => left.has(name) || right.has(name),
    list: () => {
      known ??= [
        ...shared,
        ...[left, right].flatMap((side) => side.list().filter((name) => !merged.has(name))),
      ]
      return known
    },
  }
}
