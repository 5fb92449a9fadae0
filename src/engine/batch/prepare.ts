import { type Detail, DomainError, invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import type { CompiledRelationshipType } from '../compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { demandType } from '../configuration/record-types/index.ts'
import { relationshipTypesOf, reloadRelationshipTypes } from '../configuration/relationship-types/index.ts'
import { demandLink, linkText } from '../relationships/index.ts'
import { lensOn } from '../row-policy/apply.ts'
import { hiddenNames } from '../row-policy/project-data.ts'
import type { WriteScope } from '../write/write.ts'
import { areEnough, collect, type Failure } from './failures.ts'
import { hasOwnLinks, validateOwnLinks } from './nested-links.ts'
import { type DataOperation, isOfRecord, type RecordOperation } from './operation.ts'

/** The record types of the operations, compiled. */
export type Types = Map<string, CompiledType>

/** The types of operations, and what is wrong with these: types that are missing, faults of what they carry. */
export type Prepared = { types: Types; missing: Failure[]; faults: Failure[] }

/** Holds the operations to their types, before anything is written. @throws NOT_FOUND when there is no such base */
export async function prepare(
  scope: WriteScope,
  baseId: string,
  operations: readonly DataOperation[],
): Promise<Prepared> {
  const records = operations.filter(isOfRecord)
  // Into memory, from where the transaction takes them: what it reads itself is not kept.
  await relationshipTypesOf(scope, baseId)
  const { types, missing } = await loadTypes(scope, baseId, records)
  const faults = [
    ...(await validateRecords(scope, records, types)),
    ...(await validateLinks(scope, baseId, operations)),
  ]
  return { types, missing, faults }
}

async function loadTypes(scope: WriteScope, baseId: string, operations: readonly RecordOperation[]) {
  const types: Types = new Map()
  const missing: Failure[] = []
  for (const [recordType, ofType] of Map.groupBy(operations, (operation) => operation.recordType)) {
    const type = await demandType(scope, baseId, recordType).catch(typeNotFound)
    if (type instanceof DomainError) missing.push(...ofType.map(({ index }) => ({ index, error: type })))
    else types.set(recordType, type)
  }
  return { types, missing }
}

function typeNotFound(thrown: unknown): DomainError {
  const isType = thrown instanceof DomainError && thrown.details[0]?.code === 'record_type_not_found'
  if (isType) return thrown
  throw thrown
}

/** What the schemas say of the operations that carry whole data; a patch is held to its schema when it is applied. */
export async function validateRecords(
  scope: WriteScope,
  operations: readonly RecordOperation[],
  types: Types,
): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const operation of operations) {
    const type = types.get(operation.recordType)
    if (!type || !('write' in operation)) continue
    if (turnIsOver()) await nextTurn()
    const lens = lensOn(scope, type.baseId, type.id)
    const { data } = operation.write
    // Within bounds it is whole only with what is hidden: until then, no more than that is named may be wrong.
    const error = lens ? hiddenNames(lens, data) : refusalOf(scope, type, data, areEnough(failures))
    if (error) failures.push({ index: operation.index, error })
  }
  return failures
}

const refusalOf = (scope: WriteScope, type: CompiledType, data: unknown, isBrief: boolean) =>
  isBrief
    ? type.schema.isValid(data, scope.checks)
      ? undefined
      : invalid(UNEXPLAINED)
    : faultsOf(scope, type, data)

/** Stands for faults that no error would list. */
const UNEXPLAINED: Detail = { path: '/data', code: 'invalid', message: 'The data does not fit its schema.' }

/** What the schema of the type says against the data, if anything. */
export function faultsOf(scope: WriteScope, type: CompiledType, data: unknown): DomainError | undefined {
  const [first, ...rest]: Detail[] = type.schema.validate(data, '/data', scope.checks)
  return first && invalid(first, ...rest)
}

/** Whether the ends are there is seen when they are: an earlier operation may make them. */
async function validateLinks(
  scope: WriteScope,
  baseId: string,
  operations: readonly DataOperation[],
): Promise<Failure[]> {
  const upserts = operations.filter((operation) => operation.type === 'upsert_relationship')
  const linking = operations.filter(hasOwnLinks)
  if (upserts.length + linking.length === 0) return []
  const named = [
    ...upserts.map(({ link }) => link.relType),
    ...linking.flatMap(({ links }) => links.map(({ link }) => link.relType)),
  ]
  let types: ReadonlyMap<string, CompiledRelationshipType> = await relationshipTypesOf(scope, baseId)
  // One that was made elsewhere a moment ago is not in memory yet.
  if (named.some((relType) => !types.has(relType))) types = await reloadRelationshipTypes(scope, baseId)
  const failures: Failure[] = await validateOwnLinks(scope, baseId, linking, types)
  for (const { index, link } of upserts) {
    if (turnIsOver()) await nextTurn()
    collect(failures, index, () => linkText(scope, demandLink(scope, baseId, link, types), link.data))
  }
  return failures
}
