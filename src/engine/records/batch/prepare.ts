import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import { relationshipTypesOf, reloadRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import { hiddenNames } from '../../core/row-policy/project-data.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { refuseSourcePair } from '../../data/ledger/source-pair.ts'
import type { CompiledRelationshipType } from '../../schema/compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { checkLink, linkText } from '../relationships/index.ts'
import { withDefaults } from '../upsert.ts'
import { areEnough, collect } from './faults.ts'
import { hasOwnLinks, validateOwnLinks } from './nested-links.ts'
import { type DataOperation, type Failure, isOfRecord, type RecordOperation } from './operation.ts'
import { tooLarge } from './too-large.ts'

/** Compiled record types of the operations. */
export type Types = Map<string, CompiledType>

/** Validation result: record types, missing types, and validation errors. */
export type Prepared = { types: Types; missing: Failure[]; faults: Failure[] }

/**
 * Validates operations against their types before any write.
 * @throws NOT_FOUND without the base
 */
export async function prepare(
  scope: WriteScope,
  baseId: string,
  operations: readonly DataOperation[],
): Promise<Prepared> {
  const records = operations.filter(isOfRecord)
  // Loads the cache before the transaction starts, since reads inside it are not cached.
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
    const type = await requireType(scope, baseId, recordType).catch(typeNotFound)
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

/**
 * Fills in the defaults and validates full data against the schemas. A patch is validated when it is applied.
 */
export async function validateRecords(
  scope: WriteScope,
  operations: readonly RecordOperation[],
  types: Types,
): Promise<Failure[]> {
  const failures: Failure[] = []
  let chars = 0
  for (const operation of operations) {
    const type = types.get(operation.recordType)
    if (!type || !('write' in operation)) continue
    if (turnIsOver()) await nextTurn()
    const policy = policyOn(scope, type.baseId, type.id)
    if (!policy && type.schema.fill) {
      // Another attempt may meet another schema, so it begins with what was sent.
      const sent = operation.sent ?? operation.write
      const whole = collect(failures, operation.index, () => withDefaults(scope, type, sent))
      if (!whole) continue
      Object.assign(operation, { sent, write: whole })
      chars += whole.text.length
      // Defaults can be much larger than what was sent.
      const { batchBytes } = scope.limits
      if (chars > batchBytes) throw tooLarge(batchBytes, `/operations/${operation.index}`)
    }
    const { data, pair } = operation.write
    if (pair) collect(failures, operation.index, () => refuseSourcePair(type, pair))
    // Under a row policy the data is complete only with hidden properties, so only property names are checked
    // here.
    const error = policy ? hiddenNames(policy, data) : refusalOf(scope, type, data, areEnough(failures))
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

/** Placeholder for errors beyond the limit of listed details. */
const UNEXPLAINED: Detail = { path: '/data', code: 'invalid', message: 'The data does not fit its schema.' }

/** Validation errors of the data, if any. */
export function faultsOf(scope: WriteScope, type: CompiledType, data: unknown): DomainError | undefined {
  const faults: Detail[] = type.schema.validate(data, '/data', scope.checks)
  const [first] = faults
  return first && invalid(first, ...faults.slice(1))
}

/** Validates link operations. The ends are checked later, since an earlier operation may create them. */
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
  // The cache may not yet have a type that another process created.
  if (named.some((relType) => !types.has(relType))) types = await reloadRelationshipTypes(scope, baseId)
  const failures: Failure[] = await validateOwnLinks(scope, baseId, linking, types)
  for (const { index, link } of upserts) {
    if (turnIsOver()) await nextTurn()
    collect(failures, index, () => linkText(scope, checkLink(scope, baseId, link, types), link.data))
  }
  return failures
}
