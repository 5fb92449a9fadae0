import type { Columns } from './column-list.ts'
import type { Read } from './relations.ts'

/** Columns behind an alias, and the relations whose columns these are. */
export type Named = {
  columns: Columns
  /** Empty for subqueries, WITH queries and functions, which name their columns themselves. */
  reads: readonly Read[]
}

/** What one item of a FROM clause brings in. */
export type Item = Named & {
  /** Columns by the alias that qualifies them. `columns` is what `*` and unqualified names mean. */
  aliases: ReadonlyMap<string, Named>
}

/** A WITH query by its name; its columns are worked out when first asked for. */
export type Cte = { columns(): Columns }

/** What names mean at one place of a statement: this level first, then the ones around it. */
export type NameScope = {
  items: readonly Item[]
  ctes?: ReadonlyMap<string, Cte>
  around?: NameScope | undefined
}

export const OUTERMOST: NameScope = { items: [] }

export function hasColumn(scope: NameScope | undefined, name: string): boolean {
  for (let level = scope; level; level = level.around)
    for (const { columns } of level.items) if (columns.has(name)) return true
  return false
}

/** What an alias stands for at the innermost level that has it. */
export function findAlias(scope: NameScope | undefined, alias: string): Named | undefined {
  for (let level = scope; level; level = level.around)
    for (const { aliases } of level.items) {
      const found = aliases.get(alias)
      if (found) return found
    }
  return undefined
}

export function findCte(scope: NameScope | undefined, name: string): Cte | undefined {
  for (let level = scope; level; level = level.around) {
    const cte = level.ctes?.get(name)
    if (cte) return cte
  }
  return undefined
}

/** More names than this are not looked through for a hint. */
const MOST_HINTED = 5000

/** The column names in sight, for a hint. */
export function columnsInSight(scope: NameScope): string[] {
  const names = new Set<string>()
  for (const { items } of levels(scope))
    for (const { columns } of items)
      for (const name of columns.list()) {
        if (names.size === MOST_HINTED) return [...names]
        names.add(name)
      }
  return [...names]
}

/** Every alias in sight, for a hint. */
export const aliasesInSight = (scope: NameScope): string[] =>
  levels(scope).flatMap(({ items }) => items.flatMap(({ aliases }) => [...aliases.keys()]))

export const ctesInSight = (scope: NameScope): string[] =>
  levels(scope).flatMap(({ ctes }) => [...(ctes?.keys() ?? [])])

function levels(scope: NameScope | undefined): NameScope[] {
  const all: NameScope[] = []
  for (let level = scope; level; level = level.around) all.push(level)
  return all
}
