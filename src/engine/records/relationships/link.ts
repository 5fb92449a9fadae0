import { nearest, unknownName } from '../../../contract/suggest.ts'
import { type Detail, type DomainError, invalid } from '../../../foundation/errors.ts'
import { mayReadRelationships } from '../../configuration/relationship-types/index.ts'
import { authorize, rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import type { Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { checkRecordId, dataText, type Pair } from '../../data/ledger/record.ts'
import {
  type CompiledRelationshipType,
  isAmong,
} from '../../schema/compiled-types/compiled-relationship-type.ts'

/** Reference to a record at one end of a link: by id or by external pair. */
export type LinkEnd = { recordType: string } & ({ id: string } | Pair)

/** A link to write. */
export type LinkWrite = {
  /** Id of a new link; null for a server-generated one. An existing link keeps its id. */
  id: string | null
  relType: string
  source: LinkEnd
  target: LinkEnd
  /** An object. Undefined keeps the existing data, and is empty for a new link. */
  data: unknown
  pair: Pair | null
  /** Whether it takes the place of links that its type's cardinality, or its own id, excludes. */
  replace?: boolean
  /** Whether the link of its id moves to these ends, and takes the place of no other. */
  moves?: boolean
  /** Preconditions; none when absent. */
  expected?: Expectation
  /** The change behind the write, if it is not the cause of the transaction. */
  cause?: string
}

/**
 * Validates the data of a link against the schema of its type, and serializes it.
 * @throws VALIDATION_ERROR with every fault
 */
export function linkText(scope: WriteScope, type: CompiledRelationshipType, data: unknown): string {
  const text = dataText(data, scope.limits.recordBytes)
  const [first, ...rest] = type.validate(data, '/data', scope.checks)
  if (first) throw invalid(first, ...rest)
  return text
}

/**
 * Validates a link before any query.
 * @throws FORBIDDEN without `write` on both ends; VALIDATION_ERROR
 */
export function checkLink(
  scope: Scope,
  baseId: string,
  link: LinkWrite,
  types: ReadonlyMap<string, CompiledRelationshipType>,
): CompiledRelationshipType {
  for (const { recordType } of [link.source, link.target]) authorize(scope, 'write', baseId, recordType)
  if (link.id !== null) checkRecordId(link.id)
  const type = types.get(link.relType)
  if (!type || !mayReadRelationships(rightsOf(scope), type)) throw unknownType(scope, link.relType, types)
  if (link.replace && link.id === null && type.cardinality === 'many_to_many') throw nothingReplaced(type.id)
  const faults = [
    ...endFault(scope, baseId, link.source, type.sourceRecordTypes, 'source'),
    ...endFault(scope, baseId, link.target, type.targetRecordTypes, 'target'),
  ]
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  return type
}

function endFault(
  scope: Scope,
  baseId: string,
  { recordType }: LinkEnd,
  named: readonly string[],
  side: 'source' | 'target',
): Detail[] {
  if (isAmong(recordType, named)) return []
  const allowed = named.filter((id) => rightsOf(scope).allows('read', baseId, id))
  const hint = nearest(recordType, allowed)
  return [
    {
      path: `/${side}_record_type`,
      code: 'end_not_allowed',
      message: `Links of this type cannot have a ${side} of type "${recordType.slice(0, 64)}".`,
      received: recordType.slice(0, 64),
      allowed,
      ...(hint && { hint }),
    },
  ]
}

function unknownType(
  scope: Scope,
  id: string,
  types: ReadonlyMap<string, CompiledRelationshipType>,
): DomainError {
  const allowed = [...types.values()]
    .filter((type) => mayReadRelationships(rightsOf(scope), type))
    .map(({ id }) => id)
  const meant = unknownName(id, allowed)
  return invalid({
    path: '/rel_type',
    code: 'unknown_relationship_type',
    message: `The base has no relationship type "${id.slice(0, 64)}". ${meant.hint === undefined ? 'Create it first.' : `Did you mean "${meant.hint}"?`}`,
    ...meant,
  })
}

const nothingReplaced = (id: string) =>
  invalid({
    path: '/replace',
    code: 'not_replaceable',
    message: `"${id}" is many_to_many, so a new relationship has no other to replace. Leave replace out, or name the one to move by its id.`,
  })

/** Error for an invalid id, at the name of its field. */
export const invalidId = (key: string, name: string) =>
  invalid({
    path: `/${key}`,
    code: 'invalid_id',
    message: `${key} is not an id.`,
    received: name.slice(0, 130),
  })
