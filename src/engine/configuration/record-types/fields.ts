import type { RecordTypeBody } from '../../../contract/shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { declaredIndex, type ResolvedIndex, readIndexes } from '../../indexes/index.ts'
import { compileSchema } from '../../json-schema/compile.ts'
import type { FieldsOf } from '../lifecycle/kind.ts'

type Body = FieldsOf<typeof RecordTypeBody>
/** The fields of a record type, with its indexes in normal form. */
export type Fields = Omit<Body, 'jsonSchema' | 'display'> & { jsonSchema: object; display: object }

/**
 * Normalizes the fields for comparison.
 * @throws VALIDATION_ERROR with every fault
 */
export function normalized(fields: Fields): Fields {
  const faults: Detail[] = isTimezone(fields.timezone) ? [] : [badTimezone(fields.timezone)]
  let indexes: ResolvedIndex[] = []
  try {
    compileSchema(fields.jsonSchema, '/json_schema')
    indexes = resolvedIndexes(fields)
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    faults.push(...thrown.details)
  }
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return {
    ...fields,
    indexes: indexes.map((index) => declaredIndex({ ...index, fields: index.fields as never })),
  }
}

/**
 * Resolves the index fields against the schema.
 * @throws VALIDATION_ERROR
 */
export const resolvedIndexes = ({ indexes, jsonSchema, timezone }: Fields): ResolvedIndex[] =>
  readIndexes(indexes, { jsonSchema, timezone })

const ZONES = Intl.supportedValuesOf('timeZone')

/** Whether the name is in the IANA time zone database. Offsets such as "+02:00" are not names. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function badTimezone(name: string): Detail {
  const close = nearest(name, ZONES)
  return {
    path: '/timezone',
    code: 'unknown_timezone',
    message: 'timezone is a name of the IANA time zone database, such as "Europe/Zurich".',
    received: name.slice(0, 64),
    ...(close && { hint: close }),
  }
}
