/** The names of the columns of one item of FROM. Wide joins are looked into without being written out. */
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

/** Below this a list is searched as fast as a set is made. */
const FEW = 8

/** What a join yields: the columns that both sides share once, then the rest of either. */
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
