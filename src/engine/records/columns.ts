/** The columns of records in formats that are tables. */
import { COLUMNS } from '../../contract/record-columns.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { shapeOf } from '../../schema-shape/read.ts'
import type { TypePolicy } from '../core/policy.ts'
import { read, type Scope } from '../core/scope.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { shaped } from '../storage/database/client.ts'
import { type ListQuery, namesStatement } from './query/list-statement.ts'
import type { Projection } from './query/projection.ts'

/** What the rows of a list show, for formats that are tables. */
export type Columns = {
  fields: string[]
  properties: string[]
  /** Whether records may have other properties, which are shown too. */
  isOpen: boolean
  /** The schema of the data. */
  jsonSchema: unknown
}

export function columnsOf({ projection, type, policy }: Asked): Columns {
  const jsonSchema = policy ? {} : type.jsonSchema
  const fields = projection ? [...projection.names].filter((name) => name !== 'data') : [...COLUMNS]
  if (projection && !projection.names.has('data')) {
    const properties = [...new Set(projection.paths.map(([first]) => String(first)))]
    return { fields, properties, isOpen: false, jsonSchema }
  }
  const properties = policy?.visible ?? shapeOf(type.jsonSchema).object.properties.keys()
  return { fields, properties: [...properties], isOpen: true, jsonSchema }
}

type Asked = {
  projection: Projection | null
  policy: TypePolicy | undefined
  type: Pick<CompiledType, 'jsonSchema'>
}

/**
 * Adds the properties that the schema does not name, as of records of an earlier schema.
 * @throws VALIDATION_ERROR if there are too many
 */
export async function withOthers(scope: Scope, columns: Columns, query: ListQuery): Promise<Columns> {
  const { text, values } = namesStatement(query, columns.properties, LIMITS.csvColumns + 1)
  const others = await read<{ name: string }>(scope, shaped(text), values)
  if (others.length > LIMITS.csvColumns) throw tooManyColumns()
  return { ...columns, properties: [...columns.properties, ...others.map(({ name }) => name).sort()] }
}

const tooManyColumns = () =>
  invalid({
    path: '/fields',
    code: 'out_of_range',
    message: `The records have more than ${LIMITS.csvColumns} properties that the schema does not name. Name the fields that you want, or ask for application/x-ndjson.`,
    expected: LIMITS.csvColumns,
  })
