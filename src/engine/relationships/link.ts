import { nearest, unknownName } from '../../contract/suggest.ts'
import { type Detail, type DomainError, invalid } from '../../foundation/errors.ts'
import { type CompiledRelationshipType, isAmong } from '../compiled-types/compiled-relationship-type.ts'
import { mayReadRelationships } from '../configuration/relationship-types/index.ts'
import type { Scope } from '../core/scope.ts'
import { dataText, demandRecordId, type Pair } from '../record-store/record.ts'
import { demandWithin, rightsOf } from '../row-policy/apply.ts'
import type { Expectation } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'

/** A record at one end of a link: by its id, or by its external pair. */
export type LinkEnd = { recordType: string } & ({ id: string } | Pair)

/** A link as it is to be. */
export type LinkWrite = {
  /** What a new link is called; null leaves it to the server. A link that is there keeps its own. */
  id: string | null
  relType: string
  source: LinkEnd
  target: LinkEnd
  /** An object; undefined leaves what the link holds, and makes a new one empty. */
  data: unknown
  pair: Pair | null
  /** Without one, any state will do. */
  expected?: Expectation
}

/** The JSON text of what a link holds, by the schema of its type. @throws VALIDATION_ERROR with every fault */
export function linkText(scope: WriteScope, type: CompiledRelationshipType, data: unknown): string {
  const text = dataText(data, scope.limits.recordBytes)
  const [first, ...rest] = type.validate(data, '/data', scope.checks)
  if (first) throw invalid(first, ...rest)
  return text
}

/**
 * Holds a link to what can be said of it before the database is asked.
 * @throws FORBIDDEN without the right to write both ends; VALIDATION_ERROR
 */
export function demandLink(
  scope: Scope,
  baseId: string,
  link: LinkWrite,
  types: ReadonlyMap<string, CompiledRelationshipType>,
): CompiledRelationshipType {
  for (const { recordType } of [link.source, link.target]) demandWithin(scope, 'write', baseId, recordType)
  if (link.id !== null) demandRecordId(link.id)
  const type = types.get(link.relType)
  if (!type || !mayReadRelationships(rightsOf(scope), type)) throw unknownType(scope, link.relType, types)
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
      message: `Links of this type do not have a ${side} of type "${recordType.slice(0, 64)}".`,
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
  return invalid({
    path: '/rel_type',
    code: 'unknown_relationship_type',
    message: `The base has no relationship type "${id.slice(0, 64)}". PUT it under relationship-types first.`,
    ...unknownName(id, allowed),
  })
}

/** The refusal of what cannot be an id, under the name of its field. */
export const invalidId = (key: string, name: string) =>
  invalid({
    path: `/${key}`,
    code: 'invalid_id',
    message: `${key} is not an id.`,
    received: name.slice(0, 130),
  })
