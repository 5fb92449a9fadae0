import { ID_RULES, isTypeId } from '../../../contract/ids.ts'
import { RecordTypeTexts } from '../../../contract/shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { type ResolvedIndex, readIndexes } from '../../indexes/index.ts'
import { compileSchema } from '../../json-schema/index.ts'

/** A record type as it is put. What is left out takes its default. */
export type RecordTypeInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  icon?: string | null | undefined
  color?: string | null | undefined
  jsonSchema?: unknown
  indexes?: unknown
  timezone?: string | null | undefined
  display?: unknown
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of the type as they will be stored. @throws VALIDATION_ERROR with every fault. */
export function readInput(id: string, input: RecordTypeInput) {
  const faults: Detail[] = []
  const { name, description, icon, color } = check(RecordTypeTexts, textsOf(input), inBody())
  if (!isTypeId(id))
    faults.push({
      path: '/id',
      code: 'invalid_id',
      message: `A record type id must be ${ID_RULES.type}.`,
      received: id,
    })
  const timezone = input.timezone ?? 'UTC'
  if (!isTimezone(timezone)) faults.push(badTimezone(timezone))
  const display = input.display ?? {}
  if (!isObject(display)) faults.push({ path: '/display', code: 'type', message: 'display is an object.' })
  const jsonSchema = input.jsonSchema === undefined || input.jsonSchema === null ? {} : input.jsonSchema
  let indexes: ResolvedIndex[] = []
  try {
    compileSchema(jsonSchema, '/json_schema')
    indexes = readIndexes(input.indexes, { jsonSchema, timezone })
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    faults.push(...thrown.details)
  }
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return {
    name: name ?? id,
    description: description ?? null,
    icon: icon ?? null,
    color: color ?? null,
    jsonSchema: jsonSchema as object,
    indexes,
    timezone,
    display: display as object,
  }
}

/** GraphQL sends null for a name that is left out. */
const textsOf = ({ name, description, icon, color }: RecordTypeInput) => ({
  name: name ?? undefined,
  description,
  icon,
  color,
})

const ZONES = Intl.supportedValuesOf('timeZone')

/** A name of the IANA database; offsets such as "+02:00" are not names. */
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
