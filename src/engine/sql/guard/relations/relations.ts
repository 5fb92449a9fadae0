/** The relations that a statement can read, and their columns. */
import type { Node, RangeVar } from '@pgsql/types'
import { nameOf, quoteText } from '../syntax/names.ts'
import type { Catalog } from './catalog.ts'
import { type Columns, columnsOfNames } from './column-list.ts'
import { columnsOf, type SqlColumn } from './columns.ts'
import { FIXED } from './fixed-relations.ts'

/** A relation that a statement may read. */
export type Relation = {
  /** The built-in name, or the record type id. */
  name: string
  columns: Columns
  /** Column expressions over the view. */
  expressions: readonly SqlColumn[]
  /** The view it reads, and the name of that in the database: a change-set has its own. */
  view: string
  source: string
  /** The filters for the base and the grants. */
  condition: string
  /** The FROM clause of the view, with the filters. */
  from: string
}

/** A relation reference in FROM, to be replaced with a subquery. */
export type Read = { node: Node; range: RangeVar; relation: Relation; everyColumn: boolean }

/** The relations of a catalog, by name as PostgreSQL truncates it. */
export type Relations = {
  names: readonly string[]
  /** Finds a relation; undefined without one, `ambiguous` when several types share the truncated name. */
  find(name: string): Relation | 'ambiguous' | undefined
}

const knownRelations = new WeakMap<Catalog, Relations>()

/** The relations of a catalog; memoized per catalog object. */
export function relationsOf(catalog: Catalog): Relations {
  const relations = knownRelations.get(catalog) ?? listRelations(catalog)
  knownRelations.set(catalog, relations)
  return relations
}

/** Lists the relations; built-in names shadow record types. */
function listRelations(catalog: Catalog): Relations {
  const types = Map.groupBy(catalog.types, ({ id }) => nameOf(id))
  const names = [...FIXED.keys(), ...types.keys()]
  const found = new Map<string, Relation>()
  const make = (name: string): Relation | 'ambiguous' | undefined => {
    const fixed = FIXED.get(name)
    if (fixed) {
      const condition = [`base_id = ${quoteText(catalog.baseId)}`, fixed.filter(catalog)]
      return relation(
        catalog,
        name,
        fixed.columns(catalog),
        fixed.view,
        condition.filter(Boolean).join(' AND '),
      )
    }
    const [type, another] = types.get(name) ?? []
    if (!type) return undefined
    if (another) return 'ambiguous'
    const condition = `base_id = ${quoteText(catalog.baseId)} AND record_type = ${quoteText(type.id)}`
    return relation(catalog, type.id, typeColumns(type), 'record', condition)
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

const DRAFTED = new Set(['record', 'relationship'])

function relation(
  { readsDrafts }: Catalog,
  name: string,
  expressions: readonly SqlColumn[],
  view: string,
  condition: string,
): Relation {
  const source = `plinth_sql.${readsDrafts && DRAFTED.has(view) ? 'draft_' : ''}${view}`
  const columns = columnsOfNames(expressions.map((column) => column.name))
  return { name, columns, expressions, view, source, condition, from: `FROM ${source} WHERE ${condition}` }
}

type RecordType = Catalog['types'][number]
const knownColumns = new WeakMap<RecordType, readonly SqlColumn[]>()

/** The columns of a record type; memoized per type object. */
function typeColumns(type: RecordType): readonly SqlColumn[] {
  const columns = knownColumns.get(type) ?? columnsOf(type)
  knownColumns.set(type, columns)
  return columns
}
