/** Prints records as a table: their properties are columns. */
import type { Answer } from './client.ts'
import type { Asked } from './command.ts'
import { Failure } from './failure.ts'
import { note, noteMore, showRows } from './print.ts'

type Found = { data?: unknown } & Record<string, unknown>
type Page = {
  data: Found[]
  meta: { has_more?: boolean; offset: number; next_cursor?: string; total?: number; hint?: string }
}

const PROPERTY = 'data.'
/** Record fields in a pipe, if they are set. `plinth record get` shows the others. */
const IN_PIPE = ['id', 'external_id', 'status', 'version', 'updated_at', '_search_score', '_snippets']
/** Those on a terminal, before and after the properties. */
const FIRST = ['id', 'external_id', 'status', '_search_score', '_snippets']
const LAST = ['updated_at']

/** Prints a page of records, and how to get the next one. */
export async function showRecordPage({ body }: Answer, asked: Asked): Promise<void> {
  const { data, meta } = body as Page
  await showRecords(data, asked)
  if (meta.hint) note(`${meta.hint}\n`)
  noteMore(data.length, meta)
}

/**
 * Prints records. In a pipe the columns are the fields that are set. On a terminal they are those that tell records
 * apart, with the properties in the order of the schema. `beside` names leading columns.
 */
export async function showRecords(
  data: readonly Found[],
  asked: Asked,
  beside: readonly string[] = [],
): Promise<void> {
  const rows = data.map(flat)
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const isSet = (name: string) => rows.some((row) => row[name] !== null && row[name] !== undefined)
  const leading = (fields: readonly string[]) => fields.filter((name) => names.includes(name) && isSet(name))
  const own = names.filter((name) => name.startsWith(PROPERTY))
  if (!process.stdout.isTTY) return showRows(rows, [...beside, ...leading(IN_PIPE), ...own])
  const ordered = rows.length === 0 ? [] : await propertiesOf(asked)
  const properties = [
    ...ordered.filter((name) => own.includes(name)),
    ...own.filter((name) => !ordered.includes(name)),
  ]
  const first = leading(FIRST).filter(
    (name) => name !== 'status' || rows.some(({ status }) => status !== 'active'),
  )
  const fixed = [...beside, ...first, ...leading(LAST)]
  const labelOf = (column: string) => {
    const name = column.startsWith(PROPERTY) ? column.slice(PROPERTY.length) : column
    return name !== column && fixed.includes(name) ? column : name
  }
  showRows(rows, [...beside, ...first, ...properties, ...leading(LAST)], labelOf)
}

/** The properties of the type of a request in the order of its schema; none if the token may not read the type. */
async function propertiesOf({ path, get }: Asked): Promise<string[]> {
  const [, base, , type] = path.split('/')
  if (!/^\/[^/]+\/(records|wait)\//.test(path)) return []
  try {
    const { json_schema: schema } = (await get(`/${base}/record-types/${type}`)) as { json_schema?: unknown }
    const { properties } = (schema ?? {}) as { properties?: object }
    return Object.keys(properties ?? {}).map((name) => `${PROPERTY}${name}`)
  } catch (error) {
    if (error instanceof Failure) return []
    throw error
  }
}

/** Flattens a record: its properties become columns. */
function flat({ data, ...fields }: Found): Record<string, unknown> {
  const properties = Object.entries((data ?? {}) as object).map(([name, value]) => [
    `${PROPERTY}${name}`,
    value,
  ])
  return { ...fields, ...Object.fromEntries(properties) }
}
