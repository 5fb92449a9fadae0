import type { ColumnRef, Node } from '@pgsql/types'
import { wordsOf } from '../../guard/relations/context.ts'
import type { Source } from '../../guard/syntax/source-map.ts'

type Visit = {
  columnRef?(ref: ColumnRef, node: Node, isNested: boolean): void
  call?(name: string, isWindow: boolean, location: number | undefined): void
  /** A subquery; false does not enter it. */
  subquery?(location: number | undefined): void
}

/** Walks an expression whose structure is checked, and so its depth. */
export function walk(part: unknown, visit: Visit, isNested = false): void {
  if (typeof part !== 'object' || part === null) return
  if (Array.isArray(part)) {
    for (const each of part) walk(each, visit, isNested)
    return
  }
  const node = part as Node
  if ('ColumnRef' in node && node.ColumnRef && typeof node.ColumnRef === 'object') {
    visit.columnRef?.(node.ColumnRef, node, isNested)
    return
  }
  if ('FuncCall' in node && node.FuncCall && !isNested) {
    const { funcname, over, location } = node.FuncCall
    visit.call?.(wordsOf(funcname).at(-1) ?? '', over !== undefined, location)
  }
  const isQuery = 'SelectStmt' in node
  if ('SubLink' in node && !isNested) visit.subquery?.(node.SubLink?.location)
  for (const child of Object.values(node)) walk(child, visit, isNested || isQuery)
}

const set = (names: string) => new Set(names.trim().split(/\s+/))

const AGGREGATES = set(`count sum avg min max bool_and bool_or every string_agg array_agg json_agg jsonb_agg
  json_object_agg jsonb_object_agg stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp
  regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy mode percentile_cont
  percentile_disc bit_and bit_or bit_xor any_value`)
const SETS =
  set(`unnest generate_series generate_subscripts string_to_table regexp_matches regexp_split_to_table
  jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys jsonb_path_query
  jsonb_path_query_tz jsonb_to_recordset json_array_elements json_array_elements_text json_each json_each_text
  json_object_keys json_to_recordset`)

/**
 * Refuses what gives another number of rows than one for each row: in a SELECT it would change the rows that
 * the statement writes.
 * @throws VALIDATION_ERROR
 */
export function refuseSets(source: Source, nodes: readonly (Node | undefined)[], where: string): void {
  const fault = (name: string, what: string, location: number | undefined) =>
    source.fault(
      'unsupported',
      `${name} ${what} is not allowed in ${where}: use it in a subquery.`,
      location,
      {
        hint: `(SELECT ${name}(…) FROM …)`,
      },
    )
  walk(nodes, {
    call(name, isWindow, location) {
      if (AGGREGATES.has(name) && !isWindow) throw fault(name, 'is an aggregate, and', location)
      if (SETS.has(name)) throw fault(name, 'returns a set, and', location)
    },
  })
}
