/** Converts the texts of PostgreSQL's values to what `data` stores. */
import { invalid } from '../../../foundation/errors.ts'
import { survivesDouble } from '../../../json/decimal.ts'
import { parseJson } from '../../../json/parse.ts'
import { readArray } from '../execution/arrays.ts'
import type { Reader } from '../execution/read-rows.ts'
import type { Kind } from '../guard/relations/columns.ts'

const NUMBER = /^(bigint|smallint|integer|real|double precision|numeric)$/
const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/
const LOCAL = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?$/

/**
 * The JSON value of a text, for a property of a kind.
 * @throws VALIDATION_ERROR at `path` for a value that JSON or the property cannot hold
 */
export function jsonOf(
  text: string,
  { type }: Pick<Reader, 'type'>,
  kind: Kind | undefined,
  path: string,
): unknown {
  if (type.endsWith('[]')) {
    const item = { type: type.slice(0, -2) }
    return readArray(text, (each) => jsonOf(each, item, undefined, path))
  }
  if (NUMBER.test(type)) return numberOf(text, path)
  if (type === 'boolean') return text === 't'
  if (type === 'json' || type === 'jsonb') return parseJson(text, path)
  if (type === 'timestamptz') return instantOf(text, kind, path)
  if (type === 'timestamp') return localOf(text, kind, path)
  if (type === 'record') throw refused(path, 'A row is not a JSON value.', 'to_jsonb(…)')
  return text
}

function numberOf(text: string, path: string): number {
  const number = Number(text)
  if (!Number.isFinite(number)) throw refused(path, `${text} is not a JSON number.`, 'NULLIF(…)')
  // -0 is not a value of its own in SQL.
  if (survivesDouble(text)) return number === 0 ? 0 : number
  throw invalid({
    path,
    code: 'unsafe_number',
    message: 'The number has more digits than a JSON number keeps. Round it, or store it as text.',
    received: text.slice(0, 64),
    hint: 'round(…, 2), or (…)::float8',
  })
}

function instantOf(text: string, kind: Kind | undefined, path: string): string {
  const [, day, time, fraction = ''] = INSTANT.exec(text) ?? []
  if (!day)
    throw refused(path, 'The time is outside the years that a date-time has.', "NULLIF(…, 'infinity')")
  if (kind === 'date') throw refused(path, 'The property is a date, and the value a time.', '(…)::date')
  return `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`
}

/** A timestamp without a zone: what a date and an interval give. */
function localOf(text: string, kind: Kind | undefined, path: string): string {
  const [, day, time, fraction = ''] = LOCAL.exec(text) ?? []
  if (!day)
    throw refused(path, 'The time is outside the years that a date-time has.', "NULLIF(…, 'infinity')")
  if (kind === 'date') {
    if (time === '00:00:00' && !fraction) return day
    throw refused(path, 'The property is a date, and the value a time of the day.', '(…)::date')
  }
  if (kind === 'date-time')
    throw refused(
      path,
      'The property is an instant, and the value has no time zone.',
      "(…) AT TIME ZONE 'UTC'",
    )
  return `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}`
}

const refused = (path: string, message: string, hint: string) =>
  invalid({ path, code: 'invalid_value', message: `${message} Write ${hint}.`, hint })
