import { COLUMNS, type Column } from '../../../contract/record-columns.ts'
import { meantValue } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { parseJson } from '../../../json/parse.ts'

/** Path into data. A segment is a property, an array index, or null for any array element. */
export type FieldPath = readonly (string | number | null)[]
/**
 * A column `C` or a path into data: of the row, or of the row that it was before a change. The default columns are
 * those of a record.
 */
export type Field<C extends string = Column> =
  | { kind: 'column'; column: C }
  | { kind: 'data'; path: FieldPath; of?: 'previous' }

// One segment after `data`: .name, [0], [] or ["any key"].
const SEGMENT = /\.([^.[\]"]+)|\[(\d{1,9})\]|\[(\])|\[("(?:[^"\\]|\\.)*")\]/y

/** Reads `status`, `data.a.b`, `data.items[0].sku`, `data.items[].sku` or `data["odd.key"]`. @throws VALIDATION_ERROR at `at` */
export const parseField = (text: unknown, at: string): Field => readField(text, at, COLUMNS)

/**
 * Parses a field of a resource with other columns.
 * @throws VALIDATION_ERROR at `at`
 */
export function readField<C extends string>(text: unknown, at: string, columns: readonly C[]): Field<C> {
  if (typeof text !== 'string' || text.length > LIMITS.fieldChars)
    throw badField(at, 'Write a field as "status" or "data.amount".')
  if (columns.includes(text as C)) return { kind: 'column', column: text as C }
  if (text !== 'data' && !/^data[.[]/.test(text)) throw unknownField(text, at, columns)
  const path: (string | number | null)[] = []
  for (let from = 'data'.length; from < text.length; from = SEGMENT.lastIndex) {
    SEGMENT.lastIndex = from
    const found = SEGMENT.exec(text)
    if (!found)
      throw badField(
        at,
        `The field is not well formed after "${text.slice(0, from)}". Write data.a.b, data.list[0], data.list[] or data["odd.key"].`,
      )
    path.push(readSegment(found, at))
  }
  if (path.length > LIMITS.fieldSegments)
    throw badField(at, `A field can have at most ${LIMITS.fieldSegments} segments.`)
  return { kind: 'data', path }
}

function readSegment([, name, index, any, quoted]: RegExpExecArray, at: string): string | number | null {
  if (name !== undefined) return name
  if (index !== undefined) return Number(index)
  if (any !== undefined) return null
  try {
    return parseJson(quoted ?? '') as string
  } catch {
    throw badField(at, 'A quoted key must be a JSON string.')
  }
}

function unknownField(text: string, at: string, columns: readonly string[]) {
  const close = meantValue(text, columns)
  return invalid({
    path: at,
    code: 'unknown_field',
    message: `There is no field "${text.slice(0, 64)}". A property of its data is written "data.<name>".`,
    received: text.slice(0, 64),
    allowed: [...columns, 'data.<name>'],
    hint: close && close !== text && text.length > 2 ? close : `data.${text}`,
  })
}

const badField = (path: string, message: string) => invalid({ path, code: 'invalid_field', message })

/** The path in filter syntax: `data.a.b`, `data.list[].c`, `data["odd.key"]`. */
export const fieldName = (path: FieldPath): string =>
  `data${path.map((segment) => (segment === null ? '[]' : typeof segment === 'number' ? `[${segment}]` : nameSegment(segment))).join('')}`

const nameSegment = (name: string): string =>
  /^[^.[\]"\s,]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
