/** What one item of a FROM clause brings in. */
export type Item = {
  /** Columns by the alias that qualifies them. */
  aliases: ReadonlyMap<string, readonly string[]>
  /** What `*` and unqualified names mean here. */
  columns: readonly string[]
}

/** A WITH query by its name; its columns are worked out when first asked for. */
export type Cte = { columns(): readonly string[] }

/** What names mean at one place of a statement: this level first, then the ones around it. */
export type Scope = {
  items: readonly Item[]
  ctes?: ReadonlyMap<string, Cte>
  around?: Scope | undefined
}

export const OUTERMOST: Scope = { items: [] }

export const hasColumn = (scope: Scope | undefined, name: string): boolean =>
  levels(scope).some(({ items }) => items.some(({ columns }) => columns.includes(name)))

/** The columns behind an alias, of the innermost level that has it. */
export function findAlias(scope: Scope | undefined, alias: string): readonly string[] | undefined {
  for (const { items } of levels(scope))
    for (const { aliases } of items) {
      const columns = aliases.get(alias)
      if (columns) return columns
    }
  return undefined
}

export function findCte(scope: Scope | undefined, name: string): Cte | undefined {
  for (const { ctes } of levels(scope)) {
    const cte = ctes?.get(name)
    if (cte) return cte
  }
  return undefined
}

/** Every column name in sight, for a hint. */
export const columnsInSight = (scope: Scope): string[] =>
  levels(scope).flatMap(({ items }) => items.flatMap(({ columns }) => columns))

/** Every alias in sight, for a hint. */
export const aliasesInSight = (scope: Scope): string[] =>
  levels(scope).flatMap(({ items }) => items.flatMap(({ aliases }) => [...aliases.keys()]))

export const ctesInSight = (scope: Scope): string[] =>
  levels(scope).flatMap(({ ctes }) => [...(ctes?.keys() ?? [])])

function levels(scope: Scope | undefined): Scope[] {
  const all: Scope[] = []
  for (let level = scope; level; level = level.around) all.push(level)
  return all
}
