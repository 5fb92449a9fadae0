import type { Catalog } from './catalog.ts'
import { columnsOf, type SqlColumn } from './columns.ts'
import { FIXED } from './fixed-relations.ts'
import { nameOf, quoteName, quoteText } from './names.ts'

/** Something a statement may read by name. */
export type Relation = {
  /** The built-in name, or the id of the record type. */
  name: string
  columns: readonly string[]
  /** The SELECT that yields the columns of these names, held to the base and the grants by its own WHERE. */
  body(wanted: (column: string) => boolean): string
}

/** The relations of one catalog, by the names that PostgreSQL keeps. */
export type Relations = {
  names: readonly string[]
  /** The relation of the name, undefined when there is none, or `ambiguous` when several types share what is kept. */
  find(name: string): Relation | 'ambiguous' | undefined
}

/** What a statement over the catalog may read. Built-in names hide types of the same name. */
export function relationsOf(catalog: Catalog): Relations {
  const types = Map.groupBy(catalog.types, ({ id }) => nameOf(id))
  const names = [...FIXED.keys(), ...types.keys()]
  const find: Relations['find'] = (name) => {
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
  return { names, find }
}

function relation(name: string, columns: readonly SqlColumn[], view: string, condition: string): Relation {
  const from = `FROM plinth_sql.${view} WHERE ${condition}`
  return {
    name,
    columns: columns.map((column) => column.name),
    body: (wanted) => {
      const chosen = columns.filter((column) => wanted(column.name))
      const list = chosen.map(({ name, expression }) => `${expression} AS ${quoteName(name)}`)
      // Rows without a column are rows all the same, but only a list with one is easily read.
      return `SELECT ${list.length > 0 ? list.join(', ') : 'NULL'} ${from}`
    },
  }
}

type RecordType = Catalog['types'][number]
const known = new WeakMap<RecordType, readonly SqlColumn[]>()

/** The columns of a type, worked out once for each object the caller keeps. */
function typeColumns(type: RecordType): readonly SqlColumn[] {
  const columns = known.get(type) ?? columnsOf(type)
  known.set(type, columns)
  return columns
}
