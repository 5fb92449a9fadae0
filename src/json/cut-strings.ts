/** Cuts the long strings of an answer, and lists them. */
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { pointer } from './parse.ts'
import { JsonRows } from './rows.ts'

/** A string that was cut: where it is in the answer, and how many bytes of UTF-8 it has. */
type Cut = { path: string; size: number }
type Cutting = { readonly most: number; readonly cuts: Cut[] }

/**
 * A copy of the answer whose strings have at most `most` characters, with `truncated` if one had more: in the items of a list, else
 * in all of it. Names of properties stay, and so does what a list says of itself, such as its cursor.
 */
export async function cutStrings(body: object, most: number): Promise<object> {
  const into: Cutting = { most, cuts: [] }
  const { data, ...rest } = body as { data?: unknown; meta?: unknown }
  const isList = 'meta' in rest && (data instanceof JsonRows || Array.isArray(data))
  const cut = isList ? { data: await cutRows(data, into), ...rest } : cutValue(body, '', into)
  return into.cuts.length > 0 ? { ...(cut as object), truncated: into.cuts } : (cut as object)
}

async function cutRows(rows: JsonRows | readonly unknown[], into: Cutting): Promise<unknown> {
  const cut: unknown[] = []
  for (const [n, row] of (rows instanceof JsonRows ? rows.texts : rows).entries()) {
    if (turnIsOver()) await nextTurn()
    cut.push(cutValue(rows instanceof JsonRows ? JSON.parse(row as string) : row, `/data/${n}`, into))
  }
  return cut
}

function cutValue(value: unknown, path: string, into: Cutting): unknown {
  if (typeof value === 'string') return value.length > into.most ? cutText(value, path, into) : value
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  if (Array.isArray(value)) return value.map((item, n) => cutValue(item, `${path}/${n}`, into))
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, member]) => [name, cutValue(member, path + pointer(name), into)]),
  )
}

/** Characters are code points, of which none is torn. */
function cutText(text: string, path: string, { most, cuts }: Cutting): string {
  let end = 0
  for (let n = 0; n < most && end < text.length; n++)
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  if (end >= text.length) return text
  if (cuts.length < LIMITS.cutStringsListed) cuts.push({ path, size: Buffer.byteLength(text) })
  return text.slice(0, end)
}
