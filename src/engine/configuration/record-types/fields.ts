import { digest } from '../../../contract/canonical-hash.ts'
import { isBuiltIn, sqlColumnOf } from '../../../contract/record-columns.ts'
import type { RecordTypeBody } from '../../../contract/shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { declaredIndex, type ResolvedIndex, readIndexes } from '../../data/indexes/index.ts'
import { isPropertyOf } from '../../schema/compiled-types/title-property.ts'
import { type CompiledSchema, compileSchema } from '../../schema/json-schema/compile.ts'
import { rootProperties } from '../../schema/json-schema/fields.ts'
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
    faults.push(...schemaOf(fields).badDefaults(isImportedDefault(fields.display)))
    indexes = resolvedIndexes(fields)
    faults.push(...titleFaults(fields))
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

/** Compiled once for a write, which needs it several times. */
const compiled = new WeakMap<object, CompiledSchema>()

/**
 * Compiles the schema of a record type.
 * @throws VALIDATION_ERROR
 */
export function schemaOf({ jsonSchema }: Pick<Fields, 'jsonSchema'>): CompiledSchema {
  const schema = compiled.get(jsonSchema) ?? compileSchema(jsonSchema, '/json_schema')
  compiled.set(jsonSchema, schema)
  return schema
}

/** What is unexpected about a type: names that every record has too, and what is not checked. */
export const warningsAbout = (fields: Fields): string[] => [
  ...sharedNames(fields.jsonSchema),
  ...schemaOf(fields).warnings,
  ...schemaOf(fields).unusedDefaults(),
]

/** Says so of each property that has the name of a field of every record. */
export const sharedNames = (jsonSchema: object): string[] =>
  Object.keys(rootProperties(jsonSchema)).filter(isBuiltIn).map(sharedName)

/** Says how a property is named whose name every record has for something else. */
const sharedName = (name: string): string =>
  `The property "${name}" has the name of a field of every record. Filters and sorts name it "data.${name}", and SQL "${sqlColumnOf(name)}".`

/**
 * Resolves the index fields against the schema.
 * @throws VALIDATION_ERROR
 */
export const resolvedIndexes = ({ indexes, jsonSchema, timezone }: Fields): ResolvedIndex[] =>
  readIndexes(indexes, { jsonSchema, timezone })

/** `display.title` names a property. The rest of `display` is the client's own. */
function titleFaults({ display, jsonSchema }: Fields): Detail[] {
  if (!Object.hasOwn(display, 'title')) return []
  const { title } = display as { title: unknown }
  const properties = rootProperties(jsonSchema)
  if (isPropertyOf(properties, title)) return []
  const known = Object.keys(properties)
  const hint = typeof title === 'string' ? nearest(title, known) : undefined
  return [
    {
      path: '/display/title',
      code: 'unknown_field',
      message: 'title must be the name of a property that json_schema declares, such as "name".',
      received: typeof title === 'string' ? title.slice(0, 64) : typeof title,
      allowed: known.slice(0, LIMITS.allowedFieldsShown),
      ...(hint !== undefined && { hint }),
    },
  ]
}

/** Other names are asked of `Intl`, which takes a millisecond. */
const ZONES = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])

/** Whether the name is in the IANA time zone database. Offsets such as "+02:00" are not names. */
function isTimezone(name: string): boolean {
  if (ZONES.has(name)) return true
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
    message: 'timezone must be a name of the IANA time zone database, such as "Europe/Zurich".',
    received: name.slice(0, 64),
    ...(close && { hint: close }),
  }
}

// Defaults that a type has from an import.

/**
 * Whether a default is one of the native definition that the type was imported from, which `display.source` keeps. If its own
 * schema refuses such a default, as many generators write `null` beside `"type": "string"`, it stays as an annotation.
 */
function isImportedDefault(display: object): (value: unknown) => boolean {
  let imported: ReadonlySet<string> | undefined
  return (value) => {
    imported ??= new Set(defaultsIn(definitionIn(display)).map(digest))
    return imported.has(digest(value))
  }
}

function definitionIn(display: object): unknown {
  const { source } = display as { readonly source?: unknown }
  return isObject(source) && typeof source['provider'] === 'string' ? source['definition'] : undefined
}

function defaultsIn(definition: unknown): unknown[] {
  const found: unknown[] = []
  for (const open: unknown[] = [definition]; open.length > 0; ) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) (key === 'default' ? found : open).push(member)
  }
  return found
}
