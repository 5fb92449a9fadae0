/** Values of PostgreSQL, as the text it sends, to JSON. */
import { survivesDouble } from '../../json/decimal.ts'

type Read = (text: string) => unknown
type Kind = { name: string; read: Read }

const asText: Read = (text) => text
/** A number where JSON in JavaScript keeps its value, else its digits; NaN and the infinities are words. */
const asNumber: Read = (text) => (survivesDouble(text) ? Number(text) : text)
const asInstant: Read = (text) =>
  withMilliseconds(text, /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/, 'Z')
const asLocalTime: Read = (text) =>
  withMilliseconds(text, /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?$/, '')

/** Infinity and years that RFC 3339 cannot spell stay as PostgreSQL writes them. */
function withMilliseconds(text: string, form: RegExp, zone: string): string {
  const [, date, time, fraction = ''] = form.exec(text) ?? []
  return date ? `${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}` : text
}

// Fifteen digits always survive a double; longer numbers and exponents may not.
const SUSPECT = /[\d.]{16}|\d[eE]/
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const exactly: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined && !survivesDouble(source) ? source : value

/** JSON is the caller's own, or made by the statement: its numbers are held to the same rule as columns. */
const asJson: Read = (text) =>
  SUSPECT.test(text)
    ? JSON.parse(text, exactly as (key: string, value: unknown) => unknown)
    : JSON.parse(text)

/** By the id of the type and of its array, which are the same in every PostgreSQL. */
const TYPES: readonly (readonly [id: number, array: number, name: string, read: Read])[] = [
  [16, 1000, 'boolean', (text) => text === 't'],
  [17, 1001, 'bytea', asText],
  [18, 1002, 'char', asText],
  [19, 1003, 'name', asText],
  [20, 1016, 'bigint', asNumber],
  [21, 1005, 'smallint', asNumber],
  [23, 1007, 'integer', asNumber],
  [25, 1009, 'text', asText],
  [114, 199, 'json', asJson],
  [700, 1021, 'real', asNumber],
  [701, 1022, 'double precision', asNumber],
  [1042, 1014, 'character', asText],
  [1043, 1015, 'varchar', asText],
  [1082, 1182, 'date', asText],
  [1083, 1183, 'time', asText],
  [1114, 1115, 'timestamp', asLocalTime],
  [1184, 1185, 'timestamptz', asInstant],
  [1186, 1187, 'interval', asText],
  [1266, 1270, 'timetz', asText],
  [1700, 1231, 'numeric', asNumber],
  [2249, 2287, 'record', asText],
  [2950, 2951, 'uuid', asText],
  [3802, 3807, 'jsonb', asJson],
  [4072, 4073, 'jsonpath', asText],
]

const KINDS = new Map<number, Kind>(
  TYPES.flatMap(([id, array, name, read]): [number, Kind][] => [
    [id, { name, read }],
    [array, { name: `${name}[]`, read: (text) => readArray(text, read) }],
  ]),
)

/** How a column of the type is named and read; one of a type that is not known here is text. */
export const kindOf = (typeId: number): Kind => KINDS.get(typeId) ?? { name: 'other', read: asText }

/** `{a,"b\"c",NULL,{…}}`, with or without the bounds that stand before an array not counted from 1. */
function readArray(text: string, read: Read): unknown[] {
  let at = text.indexOf('{')
  const list = (): unknown[] => {
    const items: unknown[] = []
    for (at++; text[at] !== '}'; ) {
      items.push(item())
      if (text[at] === ',') at++
    }
    at++
    return items
  }
  const item = (): unknown => {
    if (text[at] === '{') return list()
    if (text[at] === '"') return read(quoted())
    const start = at
    while (text[at] !== ',' && text[at] !== '}') at++
    const bare = text.slice(start, at)
    return bare === 'NULL' ? null : read(bare)
  }
  const quoted = (): string => {
    let value = ''
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === '\\') at++
      value += text[at]
    }
    at++
    return value
  }
  return list()
}
