import { ID_RULES, isTypeId } from '../../contract/ids.ts'
import { RelationshipTypeBody } from '../../contract/shapes.ts'
import { nearest } from '../../contract/suggest.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError, invalid } from '../../foundation/errors.ts'
import type { Cardinality, OnDelete } from '../compiled-relationship-type.ts'
import { compileSchema } from '../json-schema/index.ts'
import type { Scope } from '../scope.ts'

/** A relationship type as it is put. What is left out takes its default. */
export type RelationshipTypeInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  dataSchema?: unknown
  sourceRecordTypes?: readonly string[] | null | undefined
  targetRecordTypes?: readonly string[] | null | undefined
  cardinality?: Cardinality | null | undefined
  onDelete?: OnDelete | null | undefined
}

/** The fields of a type as they are stored. */
export type Fields = {
  name: string
  description: string | null
  dataSchema: object
  sourceRecordTypes: string[]
  targetRecordTypes: string[]
  cardinality: Cardinality
  onDelete: OnDelete
}

const ANY = ['*']

/** The fields of the type as they will be stored. @throws VALIDATION_ERROR with every fault */
export function readInput(id: string, input: RelationshipTypeInput): Fields {
  const body = check(RelationshipTypeBody, bodyOf(input), inBody())
  const source = body.source_record_types ?? ANY
  const target = body.target_record_types ?? ANY
  const dataSchema = input.dataSchema ?? {}
  const faults = [
    ...idFaults(id),
    ...listFaults(source, '/source_record_types'),
    ...listFaults(target, '/target_record_types'),
    ...schemaFaults(dataSchema),
  ]
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return {
    name: body.name ?? id,
    description: body.description ?? null,
    dataSchema: dataSchema as object,
    sourceRecordTypes: source,
    targetRecordTypes: target,
    cardinality: body.cardinality ?? 'many_to_many',
    onDelete: body.on_delete ?? 'unlink',
  }
}

/** As REST writes it; GraphQL sends null for what is left out. */
const bodyOf = (input: RelationshipTypeInput) => ({
  name: input.name ?? undefined,
  description: input.description,
  source_record_types: input.sourceRecordTypes ?? undefined,
  target_record_types: input.targetRecordTypes ?? undefined,
  cardinality: input.cardinality ?? undefined,
  on_delete: input.onDelete ?? undefined,
})

const idFaults = (id: string): Detail[] =>
  isTypeId(id)
    ? []
    : [
        {
          path: '/id',
          code: 'invalid_id',
          message: `A relationship type id must be ${ID_RULES.type}.`,
          received: id,
        },
      ]

function listFaults(ids: readonly string[], path: string): Detail[] {
  if (ids.length > 1 && ids.includes('*'))
    return [{ path, code: 'disagrees', message: '"*" is any record type: name it alone.', hint: '["*"]' }]
  const again = ids.findIndex((id, n) => ids.indexOf(id) < n)
  if (again < 0) return []
  return [{ path: `${path}/${again}`, code: 'duplicate', message: `"${ids[again]}" is named twice.` }]
}

function schemaFaults(dataSchema: unknown): Detail[] {
  try {
    compileSchema(dataSchema, '/data_schema')
    return []
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    return [...thrown.details]
  }
}

/** @throws VALIDATION_ERROR for each record type that is named and not there */
export async function demandRecordTypes(scope: Scope, baseId: string, fields: Fields): Promise<void> {
  const rows = await scope.db.orm.recordType.findMany({ where: { baseId }, select: { id: true } })
  const known = rows.map(({ id }) => id).sort()
  const unknown = (ids: readonly string[], path: string): Detail[] =>
    ids.flatMap((id, n) => (id === '*' || known.includes(id) ? [] : [unknownType(id, `${path}/${n}`, known)]))
  const [first, ...rest] = [
    ...unknown(fields.sourceRecordTypes, '/source_record_types'),
    ...unknown(fields.targetRecordTypes, '/target_record_types'),
  ]
  if (first) throw invalid(first, ...rest)
}

function unknownType(id: string, path: string, known: readonly string[]): Detail {
  const hint = nearest(id, known)
  return {
    path,
    code: 'unknown_record_type',
    message: `There is no record type "${id}". PUT it first, or name "*" for any.`,
    received: id,
    allowed: known.slice(0, 50),
    ...(hint && { hint }),
  }
}
