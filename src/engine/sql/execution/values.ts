import { BACKSLASH, MINUS, QUOTE } from '../../../foundation/ascii.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { survivesDouble } from '../../../json/decimal.ts'
import { parseSound } from '../../../json/parse.ts'
import { readArray, readArrayInTurns } from './arrays.ts'

/** Converts PostgreSQL text values to JSON. */

type Read = (text: string) => unknown
/** `readLong` is the asynchronous variant for large text, which yields to the event loop. */
type Kind = { name: string; read: Read; readLong: (text: string) => Promise<unknown> }

const asText: Read = (text) => text
/** A JSON number if a double preserves it, else a string of its digits; NaN and infinities are strings. */
const asNumber: Read = (text) => (survivesDouble(text) ? Number(text) : text)
const asInstant: Read = (text) =>
  withMilliseconds(text, /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/, 'Z')
const asLocalTime: Read = (text) =>
  withMilliseconds(text, /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?$/, '')

/** Infinity and years outside RFC 3339 keep PostgreSQL's format. */
function withMilliseconds(text: string, form: RegExp, zone: string): string {
  const [, date, time, fraction = ''] = form.exec(text) ?? []
  return date ? `${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}` : text
}

// A double preserves fifteen digits; longer numbers and exponents may lose precision.
const SUSPECT = /[\d.]{16}|\d[eE]/
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const exactly: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined && !survivesDouble(source) ? source : value

/** Stored or generated JSON: its numbers follow the same precision rule as columns. */
const asJson: Read = (text) =>
  SUSPECT.test(text)
    ? JSON.parse(text, exactly as (key: string, value: unknown) => unknown)
    : JSON.parse(text)

const asLongJson = async (text: string): Promise<unknown> =>
  parseSound(SUSPECT.test(text) ? await quoteInexact(text) : text)

/** Types by their OID and array OID, which are the same in every PostgreSQL version. */
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
    [id, { name, read, readLong: read === asJson ? asLongJson : async (text) => read(text) }],
    [
      array,
      {
        name: `${name}[]`,
        read: (text) => readArray(text, read),
        readLong: (text) => readArrayInTurns(text, read),
      },
    ],
  ]),
)

const OTHER: Kind = { name: 'other', read: asText, readLong: async (text) => text }

/** Type name and reader of a column; an unknown type is read as text. */
export const kindOf = (typeId: number): Kind => KINDS.get(typeId) ?? OTHER

/** Replaces numbers that a double does not preserve with strings, in large JSON. */
async function quoteInexact(json: string): Promise<string> {
  const parts: string[] = []
  let from = 0
  let pause = LIMITS.sqlTextStretch
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i)
    if (c === QUOTE) i = endOfString(json, i)
    else if (c === MINUS || isDigit(c)) {
      const end = endOfNumber(json, i)
      const number = json.slice(i, end)
      if ((number.length > EXACT_CHARS || /[eE]/.test(number)) && !survivesDouble(number)) {
        parts.push(json.slice(from, i), `"${number}"`)
        from = end
      }
      i = end - 1
    }
    if (i < pause) continue
    pause = i + LIMITS.sqlTextStretch
    if (turnIsOver()) await nextTurn()
  }
  return parts.length === 0 ? json : [...parts, json.slice(from)].join('')
}

function endOfString(json: string, start: number): number {
  let i = start + 1
  for (; i < json.length && json.charCodeAt(i) !== QUOTE; i++) if (json.charCodeAt(i) === BACKSLASH) i++
  return i
}

function endOfNumber(json: string, start: number): number {
  let i = start + 1
  while (i < json.length && isInNumber(json.charCodeAt(i))) i++
  return i
}

const isDigit = (c: number): boolean => c >= 48 && c <= 57
/** Whether the character code is a digit or one of `.eE+-`. */
const isInNumber = (c: number): boolean =>
  isDigit(c) || c === 46 || c === 69 || c === 101 || c === 43 || c === MINUS

/** A number of at most this many characters is exact without an exponent. */
const EXACT_CHARS = 15
