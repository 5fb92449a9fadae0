import type { Node, RangeVar } from '@pgsql/types'
import { nameOf, quoteText } from '../syntax/names.ts'
import type { Catalog } from './catalog.ts'
import { type Columns, columnsOfNames } from './column-list.ts'
import { columnsOf, type SqlColumn } from './columns.ts'
import { FIXED } from './fixed-relations.ts'

/** Something a statement may read by name. */
export type Relation = {
  /** The built-in name, or the id of the record type. */
  name: string
  columns: Columns
  /** What yields each column, over the view. */
  expressions: readonly SqlColumn[]
  /** The view, held to the base and the grants: what follows the list of a SELECT. */
  from: string
}

/** A place in FROM where a relation stands, to be replaced by the SELECT that reads it. */
export type Read = { node: Node; range: RangeVar; relation: Relation; everyColumn: boolean }

/** The relations of one catalog, by the names that PostgreSQL keeps. */
export type Relations = {
  names: readonly string[]
  /** The relation of the name, undefined when there is none, or `ambiguous` when several types share what is kept. */
  find(name: string): Relation | 'ambiguous' | undefined
}

const knownRelations = new WeakMap<Catalog, Relations>()

/** What a statement over the catalog may read; worked out once for each object the caller keeps. */
export function relationsOf(catalog: Catalog): Relations {
  const relations = knownRelations.get(catalog) ?? listRelations(catalog)
  knownRelations.set(catalog, relations)
  return relations
}

/** Built-in names hide types of the same name. */
function listRelations(catalog: Catalog): Relations {
  const types = Map.groupBy(catalog.types, ({ id }) => nameOf(id))
  const names = [...FIXED.keys(), ...types.keys()]
  const found = new Map<string, Relation>()
  const make = (name: string): Relation | 'ambiguous' | undefined => {
    const fixed = FIXED.get(name)
    if (fixed) {
      const condition = [`base_id = ${quoteText(catalog.baseId)}`, fixed.filter(catalog)]
      return relation(name, fixed.columns(catalog), fixed.view, condition.filter(Boolean).join(' AND '))
    }
    const [type, another] = types.get(name) ?? []
    if (!type) return undefined
    if (another) return 'ambiguous'
    const condition = `base_id = ${quoteText(catalog.baseId)} AND record_type = ${quoteText(type.id)}`
    return relation(type.id, typeColumns(type), 'record', condition)
  }
  return {
    names,
    find(name) {
      const known = found.get(name) ?? make(name)
      if (typeof known === 'object') found.set(name, known)
      return known
    },
  }
}

const relation = (
  name: string,
  expressions: readonly SqlColumn[],
  view: string,
  condition: string,
): Relation => ({
  name,
  columns: columnsOfNames(expressions.map((column) => column.name)),
  expressions,
  from: `FROM plinth_sql.${view} WHERE ${condition}`,
})

type RecordType = Catalog['types'][number]
const knownColumns = new WeakMap<RecordType, readonly SqlColumn[]>()

/** The columns of a type, worked out once for each object the caller keeps. */
function typeColumns(type: RecordType): readonly SqlColumn[] {
  const columns = knownColumns.get(type) ?? columnsOf(type)
  knownColumns.set(type, columns)
  return columns
}
