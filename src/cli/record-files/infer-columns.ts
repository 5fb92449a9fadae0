/** The schema of the columns of a CSV file, by all of their cells. */
import { propertyOf } from '../../schema-shape/csv.ts'
import { columnsOf, OWN } from './columns.ts'
import { readCsv } from './csv.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/
/** Digits that a number keeps; more are an id. */
const MOST_DIGITS = 15

/**
 * A column has the kind that all of its cells have, else it is text.
 * @throws SyntaxError that names the line
 */
export async function schemaOfColumns(
  parts: AsyncIterable<string>,
  delimiter: string | undefined,
): Promise<object> {
  let columns: string[] | undefined
  const kinds = new Map<string, string>()
  for await (const { fields } of readCsv(parts, delimiter)) {
    if (columns === undefined) columns = columnsOf(fields)
    else
      for (const [at, column] of columns.entries()) {
        const cell = fields[at] ?? ''
        const known = kinds.get(column)
        if (cell === '' || known === 'string') continue
        const kind = kindOf(cell)
        kinds.set(column, known === undefined || known === kind ? kind : 'string')
      }
  }
  const properties = [...kinds]
    .filter(([column]) => column !== '' && !OWN.some((own) => own === column))
    .map(([column, type]) => [propertyOf(column), { type }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

function kindOf(cell: string): string {
  if (cell === 'true' || cell === 'false') return 'boolean'
  if (NUMBER.test(cell)) return cell.replace(/\D/g, '').length <= MOST_DIGITS ? 'number' : 'string'
  if (!/^(\[.*\]|\{.*\})$/s.test(cell)) return 'string'
  try {
    return Array.isArray(JSON.parse(cell)) ? 'array' : 'object'
  } catch {
    return 'string'
  }
}

type Schema = { enum?: unknown; required?: unknown; properties?: Record<string, Schema>; items?: Schema }

/** An inferred schema without what says more than these records do: that no other values come, and none is missing. */
export function loosened({ enum: _, required: __, properties, items, ...schema }: Schema): Schema {
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, loosened(property)]),
      ),
    }),
    ...(items && { items: loosened(items) }),
  }
}
