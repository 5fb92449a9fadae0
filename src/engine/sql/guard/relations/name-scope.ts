import { LIMITS } from '../../../../foundation/limits.ts'
import type { Columns } from './column-list.ts'
import type { Read } from './relations.ts'

/** The columns of an alias, and the relations they come from. */
export type Named = {
  columns: Columns
  /** Empty for subqueries, WITH queries and functions, which define their own column names. */
  reads: readonly Read[]
}

/** A FROM item in scope. */
export type Item = Named & {
  /** Columns by qualifying alias. `columns` is the expansion of `*` and the target of unqualified names. */
  aliases: ReadonlyMap<string, Named>
}

/** A WITH query; its columns are resolved on first use. */
export type Cte = { columns(): Columns }

/** A lexical scope of names: this query level, then the enclosing ones. */
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

/** Finds an alias in the innermost scope that defines it. */
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

/** Visible column names, for a hint. */
export function visibleColumns(scope: NameScope): string[] {
  const names = new Set<string>()
  for (const { items } of levels(scope))
    for (const { columns } of items)
      for (const name of columns.list()) {
        if (names.size === LIMITS.sqlHintedColumns) return [...names]
        names.add(name)
      }
  return [...names]
}

/** Visible aliases, for a hint. */
export const visibleAliases = (scope: NameScope): string[] =>
  levels(scope).flatMap(({ items }) => items.flatMap(({ aliases }) => [...aliases.keys()]))

export const visibleCtes = (scope: NameScope): string[] =>
  levels(scope).flatMap(({ ctes }) => [...(ctes?.keys() ?? [])])

function levels(scope: NameScope | undefined): NameScope[] {
  const all: NameScope[] = []
  for (let level = scope; level; level = level.around) all.push(level)
  return all
}
