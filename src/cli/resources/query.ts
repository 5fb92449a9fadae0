import type { Row } from '../command/command.ts'
import { cursor, includeTotal, query as parameter, queryJson, snippets } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'

type Found = { data?: unknown } & Record<string, unknown>
type Page = {
  data: Found[]
  meta: {
    has_more?: boolean
    limit: number
    offset: number
    next_cursor?: string
    total?: number
    hint?: string
  }
}

/** Record fields that a table shows if present. `plinth record get` shows the others. */
const LEADING = ['id', 'external_id', 'status', 'version', 'updated_at', '_search_score', '_snippets']

/** Command `plinth query <type>`. */
export const query: Row = {
  name: 'query',
  summary: 'Query the records of a type',
  method: 'GET',
  path: '/:base_id/records/:record_type',
  options: [
    queryJson('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    parameter('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    parameter('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    parameter('--expand <types>', 'expand', 'relationship types to expand, such as owner.company'),
    snippets,
    parameter('--as-of <time>', 'as_of', 'state at this time, such as 2026-01-31T09:30:00Z'),
    parameter('--external-source <name>', 'external_source', 'read from this external source of the type'),
    parameter('--limit <count>', 'limit', 'records per page, 1 to 1000'),
    parameter('--offset <count>', 'offset', 'records to skip'),
    cursor,
    includeTotal,
  ],
  show: ({ body }) => {
    const { data, meta } = body as Page
    showRecords(data)
    if (meta.total !== undefined) note(`${data.length} of ${meta.total}\n`)
    if (meta.hint) note(`${meta.hint}\n`)
    const next = meta.next_cursor ? `--cursor ${meta.next_cursor}` : `--offset ${meta.offset + meta.limit}`
    if (meta.has_more) note(`There are more: ${next}\n`)
  },
}

/** Prints records as a table. `beside` names leading columns. */
export function showRecords(data: readonly Found[], beside: readonly string[] = []): void {
  const rows = data.map(flat)
  showRows(rows, [...beside, ...columnsOf(rows)])
}

/** Flattens a record: its data properties become columns. */
function flat({ data, ...fields }: Found): Record<string, unknown> {
  const properties = Object.entries((data ?? {}) as object).map(([name, value]) => [`data.${name}`, value])
  return { ...fields, ...Object.fromEntries(properties) }
}

function columnsOf(rows: readonly Record<string, unknown>[]): string[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  const said = (name: string) => rows.some((row) => row[name] !== null && row[name] !== undefined)
  const data = [...names].filter((name) => name.startsWith('data.'))
  return [...LEADING.filter((name) => names.has(name) && said(name)), ...data]
}
