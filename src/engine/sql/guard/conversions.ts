/** Finds the parts of a caller's statement that convert a value, for the error of a value that does not fit. */
import type { Node } from '@pgsql/types'
import { typeNameOf } from './allow/types.ts'
import { wordsOf } from './relations/context.ts'
import type { Parser } from './syntax/parse-statement.ts'
import type { Source } from './syntax/source-map.ts'

/** What PostgreSQL could not do: read a text as a type, or divide. */
export type Unfit =
  | { readonly by: 'type'; readonly type: string; readonly literal: string | undefined }
  | { readonly by: 'division' }

export type Conversion = {
  /** The column that is converted, where it is one. */
  readonly column: string | undefined
  /** Its place in the caller's text, in words. */
  readonly place: string
}

/** Finds the parts of the caller's text that may have failed. */
export type FindConversions = (unfit: Unfit) => readonly Conversion[]

/** PostgreSQL's names of the types in its errors, by those of the parser. */
const NAMES: Readonly<Record<string, string>> = {
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  bool: 'boolean',
  timestamptz: 'timestamp with time zone',
  timetz: 'time with time zone',
  jsonb: 'json',
}

/** The places of a statement of the text that may have failed, in its order. `index` is the statement. */
export function conversionsOf(parser: Parser, source: Source, index: number, unfit: Unfit): Conversion[] {
  const statement = parser.parse(source.parsed)[index]
  const found: { column: string | undefined; location: number }[] = []
  const add = (node: unknown, column: string | undefined) => {
    const location = firstLocation(node)
    if (location !== undefined) found.push({ column, location })
  }
  eachNode(statement, (kind, node, whole) => {
    if (unfit.by === 'division') {
      const { name, rexpr } = node as { name?: Node[]; rexpr?: Node }
      if (kind === 'A_Expr' && /^[/%]$/.test(wordsOf(name).join('.'))) add(whole, columnOf(rexpr))
      return
    }
    const { literal, type } = unfit
    if (literal !== undefined) {
      const { sval } = node as { sval?: { sval?: string } }
      if (kind === 'A_Const' && sval?.sval === literal) add(whole, undefined)
      return
    }
    if (kind !== 'TypeCast' && kind !== 'ColumnDef') return
    const { typeName, arg, colname } = node as {
      typeName?: Parameters<typeof typeNameOf>[0]
      arg?: Node
      colname?: string
    }
    const name = typeNameOf(typeName)
    if ((NAMES[name] ?? name) === type) add(whole, colname ?? columnOf(arg))
  })
  // Of many places, an error names the first ones, and each look-up reads the text again.
  return found.map(({ column, location }) => ({
    column,
    get place() {
      return source.describe(location)
    },
  }))
}

const columnOf = (node: Node | undefined): string | undefined =>
  node && 'ColumnRef' in node ? wordsOf(node.ColumnRef.fields).at(-1)?.slice(0, 64) : undefined

type Visit = (kind: string, fields: Readonly<Record<string, unknown>>, whole: unknown) => void

/** Visits the nodes of a tree whose structure is checked, and so its depth. */
function eachNode(part: unknown, visit: Visit): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, child] of Object.entries(part)) {
    if (/^[A-Z]/.test(key) && typeof child === 'object' && child !== null) visit(key, child, part)
    eachNode(child, visit)
  }
}

/** The first byte of a part: a cast has the place of its `::`. */
function firstLocation(part: unknown): number | undefined {
  if (typeof part !== 'object' || part === null) return undefined
  let first: number | undefined
  for (const [key, child] of Object.entries(part)) {
    if (key === 'typeName') continue
    const at = key === 'location' && typeof child === 'number' ? child : firstLocation(child)
    if (at !== undefined && at >= 0 && (first === undefined || at < first)) first = at
  }
  return first
}
