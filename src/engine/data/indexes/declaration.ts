/** Declared indexes: their fields, resolved against the record type. */
import { isDeepStrictEqual } from 'node:util'
import { type IndexDeclaration, IndexDeclarations } from '../../../contract/shapes.ts'
import { nearest } from '../../../contract/suggest.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { RecordTypeIndex as IndexRow } from '../../prisma/client.ts'
import type { IndexField, IndexKind, IndexStatus } from '../../schema/compiled-types/compiled-type.ts'
import { type Field, parseField } from '../../schema/compiled-types/field-path.ts'
import { fieldExists, formatAt, rootProperties, typesAt, valuesAt } from '../../schema/json-schema/fields.ts'

/** A declared index whose fields are resolved against the record type. */
export type ResolvedIndex = { kind: IndexKind; fields: IndexField[] }
/** The parts of a record type that determine its indexes. */
type IndexedType = { jsonSchema: unknown; timezone: string }

const AT = '/indexes'

/**
 * Parses and validates the `indexes` of a type.
 * @throws VALIDATION_ERROR with every fault
 */
export function readIndexes(raw: unknown, type: IndexedType): ResolvedIndex[] {
  const declared = check(IndexDeclarations, raw ?? [], inBody(AT))
  const faults: Detail[] = []
  const resolved = declared.map((each, index) => resolve(each, type, `${AT}/${index}`, faults))
  for (const [index, each] of resolved.entries())
    if (resolved.findIndex((other) => isDeepStrictEqual(other, each)) < index)
      faults.push(fault(`${AT}/${index}`, 'duplicate', 'This index is declared twice. Remove one of them.'))
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return resolved
}

function resolve(declared: IndexDeclaration, type: IndexedType, at: string, faults: Detail[]): ResolvedIndex {
  const kind: IndexKind = declared.type === 'text' ? 'text' : declared.unique ? 'unique' : 'btree'
  const most = kind === 'text' ? LIMITS.textIndexFields : LIMITS.indexFields
  if (declared.type === 'text' && declared.unique)
    faults.push(fault(`${at}/unique`, 'disagrees', 'A text index cannot be unique. Remove "unique".'))
  if (declared.fields.length > most)
    faults.push({
      ...fault(`${at}/fields`, 'too_many', `An index of this kind can have at most ${most} fields.`),
      expected: most,
    })
  const fields = declared.fields.flatMap((each, index) => {
    const term = typeof each === 'string' ? { field: each } : each
    try {
      return [resolveField(kind, term, type, `${at}/fields/${index}`)]
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      faults.push(...thrown.details)
      return []
    }
  })
  for (const [index, { field }] of fields.entries())
    if (fields.findIndex((other) => other.field === field) < index)
      faults.push(
        fault(`${at}/fields/${index}`, 'duplicate', 'The index lists this field twice. Remove one of them.'),
      )
  return { kind, fields: kind === 'text' ? [...fields, ...otherStrings(fields, type)] : fields }
}

/**
 * The field for all other strings, if the index has every plain text that the schema declares. With it, a search of
 * `data` finds its records by the index too.
 */
function otherStrings(fields: readonly IndexField[], { jsonSchema }: IndexedType): IndexField[] {
  const names = fields.map(({ path }) => (path?.length === 1 ? path[0] : undefined))
  const isText = (name: string) =>
    typesAt(jsonSchema, [name]).includes('string') &&
    formatAt(jsonSchema, [name]) === undefined &&
    valuesAt(jsonSchema, [name]) === undefined
  const texts = Object.keys(rootProperties(jsonSchema)).filter(isText)
  if (texts.length === 0 || !names.every((name) => typeof name === 'string')) return []
  if (!texts.every((name) => names.includes(name))) return []
  return [{ field: '', column: null, path: [], direction: 'asc', zone: null, without: names }]
}

function resolveField(
  kind: IndexKind,
  { field: name, direction = 'asc' }: { field: string; direction?: 'asc' | 'desc' | undefined },
  type: IndexedType,
  at: string,
): IndexField {
  const field = parseField(name, at)
  checkIndexable(kind, field, at)
  if (kind === 'text' && direction === 'desc')
    throw invalid(fault(at, 'disagrees', 'A text index has no order. Leave "direction" out.'))
  if (field.kind === 'column') return { field: name, column: field.column, path: null, direction, zone: null }
  const { exists, allowed } = fieldExists(type.jsonSchema, field.path)
  if (!exists) throw unknownProperty(name, field.path.at(-1), allowed, at)
  const isTime = ['date-time', 'date'].includes(formatAt(type.jsonSchema, field.path) ?? '')
  const zone = isTime && kind !== 'text' ? type.timezone : null
  return { field: name, column: null, path: field.path, direction, zone }
}

function checkIndexable(kind: IndexKind, field: Field, at: string): void {
  if (kind === 'text' && field.kind === 'column')
    throw invalid(
      fault(
        at,
        'invalid_field',
        'A text index must be on data: send a field such as "data.title", or "data".',
      ),
    )
  if (field.kind === 'column') return
  if (field.path.includes(null))
    throw invalid(
      fault(
        at,
        'invalid_field',
        'An index must be on a single value of a record. Send a field without "[]".',
      ),
    )
  if (kind !== 'text' && field.path.length === 0)
    throw invalid(fault(at, 'invalid_field', 'An index must be on a property. Write it as "data.status".'))
}

function unknownProperty(
  name: string,
  last: string | number | null | undefined,
  allowed: readonly string[],
  at: string,
) {
  const close = nearest(String(last), allowed)
  return invalid({
    ...fault(
      at,
      'unknown_field',
      'The type has no such property, and its schema allows no additional properties.',
    ),
    received: name,
    allowed,
    ...(close && { hint: close }),
  })
}

const fault = (path: string, code: string, message: string): Detail => ({ path, code, message })

/** Records that violate a unique index: they share the same values. */
export type Duplicate = { values: unknown[]; ids: string[] }

/** An index declaration in canonical form. */
type DeclaredIndex = Required<IndexDeclaration>
/** An index in the API representation of a type. */
type ShownIndex = DeclaredIndex & { status: IndexStatus; duplicates?: Duplicate[] }

type StoredIndex = Pick<IndexRow, 'kind' | 'fields' | 'status' | 'duplicates'>

/** The resolved form of a stored index. */
export const resolvedIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): ResolvedIndex => ({
  kind: kind as IndexKind,
  fields: fields as IndexField[],
})

/**
 * Whether a stored index is the wanted one. An index that was declared before its schema listed other texts stays as it
 * is: its answers are the same.
 */
export const isSameIndex = (stored: ResolvedIndex, wanted: ResolvedIndex): boolean =>
  stored.kind === wanted.kind &&
  isDeepStrictEqual(stored.fields.filter(isDeclared), wanted.fields.filter(isDeclared))

const isDeclared = ({ without }: IndexField): boolean => !without

/** The fields of an index as they are declared. */
export const declaredFields = (fields: readonly IndexField[]) =>
  fields
    .filter(isDeclared)
    .map(({ field, direction }) => (direction === 'asc' ? field : { field, direction }))

/** The canonical declaration of a stored index. */
export const declaredIndex = ({ kind, fields }: Pick<IndexRow, 'kind' | 'fields'>): DeclaredIndex => ({
  fields: declaredFields(fields as IndexField[]),
  unique: kind === 'unique',
  type: kind === 'text' ? 'text' : 'btree',
})

/** The API representation: declaration, build status and, after a failure, the duplicates. */
export const shownIndex = (row: StoredIndex): ShownIndex => ({
  ...declaredIndex(row),
  status: row.status as IndexStatus,
  ...(row.status === 'failed' && { duplicates: (row.duplicates ?? []) as Duplicate[] }),
})
