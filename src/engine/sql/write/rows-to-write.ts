/** Reads the rows that a translated SELECT found, by the layout of its columns. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { pointer } from '../../../json/parse.ts'
import type { RawRows, Reader } from '../execution/read-rows.ts'
import type { Assigned } from './translate/columns.ts'
import { jsonOf } from './values.ts'

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
