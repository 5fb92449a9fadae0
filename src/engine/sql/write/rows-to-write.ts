/** Reads the rows that a translated SELECT found, by the layout of its columns. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { survivesDouble } from '../../../json/decimal.ts'
import { parseJson, pointer } from '../../../json/parse.ts'
import { readArray } from '../execution/arrays.ts'
import type { RawRows, Reader } from '../execution/read-rows.ts'
import type { Kind } from '../guard/relations/columns.ts'
import type { Assigned } from './translate/columns.ts'

export type Texts = readonly (string | null)[]

/** Values by the names of their columns; undefined removes a property. */
export type Values = {
  readonly properties: readonly (readonly [name: string, value: unknown])[]
  readonly fields: ReadonlyMap<string, string | null>
  readonly data: unknown
}

/** Reads the values of assigned columns from `from` on. */
export function valuesOf(
  { columns }: Pick<RawRows, 'columns'>,
  texts: Texts,
  assigned: readonly Assigned[],
  { from, path }: { from: number; path: string },
): Values {
  const properties: [string, unknown][] = []
  const fields = new Map<string, string | null>()
  let data: unknown
  for (const [n, { column, property }] of assigned.entries()) {
    const text = texts[from + n] ?? null
    const reader = columns[from + n]
    if (!reader) continue
    if (column === 'data') data = dataOf(text, reader, `${path}/data`)
    else if (property) {
      const at = `${path}/data${pointer(property.name)}`
      properties.push([property.name, text === null ? undefined : jsonOf(text, reader, property.kind, at)])
    } else fields.set(column, text)
  }
  return { properties, fields, data }
}

/** The value of `data`. @throws VALIDATION_ERROR if there is none */
export function dataOf(text: string | null, reader: Reader | undefined, path: string): unknown {
  if (text !== null && reader) return jsonOf(text, reader, 'json', path)
  throw invalid({
    path,
    code: 'required',
    message: 'data is an object, and the value is NULL. A property that is NULL makes data || … NULL too.',
    hint: "coalesce(…, '{}'::jsonb)",
  })
}

/** Runs `work` for each row, in turns of the event loop. */
export async function eachRow(
  rows: readonly Texts[],
  work: (texts: Texts, index: number) => void,
): Promise<void> {
  for (const [index, texts] of rows.entries()) {
    if (turnIsOver()) await nextTurn()
    work(texts, index)
  }
}

/**
 * Refuses to remove a property whose value of another kind reads as NULL.
 * @throws VALIDATION_ERROR
 */
export function checkKept(
  { properties }: Values,
  {
    holdsOther,
    reads,
    path,
  }: { holdsOther: string | null | undefined; reads: readonly string[]; path: string },
): void {
  if (holdsOther !== 't' || properties.every(([, value]) => value !== undefined)) return
  const [name = ''] = properties.find(([, value]) => value === undefined) ?? []
  const message = `A value of another kind than its schema says reads as NULL here (${reads.join(', ')}), and the assignment would remove "${name}".`
  throw invalid({
    path: `${path}/data${pointer(name)}`,
    code: 'invalid_value',
    message: `${message} Correct the value first, or read it from data.`,
    hint: `data -> '${name}'`,
  })
}

// Converts the texts of PostgreSQL's values to what `data` stores.

const NUMBER = /^(bigint|smallint|integer|real|double precision|numeric)$/
const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/
const LOCAL = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?$/

/**
 * The JSON value of a text, for a property of a kind.
 * @throws VALIDATION_ERROR at `path` for a value that JSON or the property cannot hold
 */
function jsonOf(text: string, { type }: Pick<Reader, 'type'>, kind: Kind | undefined, path: string): unknown {
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
