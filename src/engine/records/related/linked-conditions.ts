/** Looks up what conditions on linked records lead to, within the rights of the caller. */

import { unknownName } from '../../../contract/suggest.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { findType } from '../../core/load-type.ts'
import { policyOn, rightsOf, visibleType } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { linksUnavailable } from '../../data/filter/linked.ts'
import type { Filter, Linked, LinkedEnd } from '../../data/filter/syntax-tree.ts'
import {
  type CompiledRelationshipType,
  isAmong,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { policySqlOf, visibleOfAll } from './policy-sql.ts'

/** Context of records of any type: without schema information. */
export const ANY_TYPE = { jsonSchema: {}, timezone: 'UTC', indexes: [] }

/**
 * The filter with the ends of its relationships, so that it can be bound. `recordType` is that of the records which
 * it tests; null for any. Links have no past. A name that the caller may not read is refused like one that does not exist.
 * @throws VALIDATION_ERROR with the name at fault
 */
export async function withLinkedEnds<F extends Filter | null>(
  scope: Scope,
  baseId: string,
  recordType: string | null,
  filter: F,
  isPast = false,
): Promise<F> {
  return filter === null
    ? filter
    : ((await resolved(filter, { scope, baseId, recordType, isPast, level: 1 })) as F)
}

type Place = { scope: Scope; baseId: string; recordType: string | null; isPast: boolean; level: number }

async function resolved(filter: Filter, place: Place): Promise<Filter> {
  switch (filter.kind) {
    case 'condition':
      return filter
    case 'not':
      return { kind: 'not', of: await resolved(filter.of, place) }
    case 'linked':
      return resolvedLink(filter, place)
    default: {
      const of: Filter[] = []
      for (const each of filter.of) of.push(await resolved(each, place))
      return { kind: filter.kind, of }
    }
  }
}

async function resolvedLink(filter: Linked, place: Place): Promise<Filter> {
  const { scope, baseId, recordType, isPast, level } = place
  if (level > LIMITS.expandLevels) throw tooDeep(filter)
  const known = await readableRelationshipTypes(scope, baseId)
  const type = known.get(filter.relType)
  if (!type) throw filter.otherwise ?? unknownRelType(filter, [...known.keys()])
  const [near, far] = filter.incoming
    ? [type.targetRecordTypes, type.sourceRecordTypes]
    : [type.sourceRecordTypes, type.targetRecordTypes]
  if (isPast) throw linksUnavailable(filter.at)
  if (recordType !== null && !isAmong(recordType, near)) throw wrongEnd(filter, type, recordType)
  const end = await endOf(filter, far, scope, baseId)
  const of =
    filter.of && (await resolved(filter.of, { ...place, recordType: end.recordType, level: level + 1 }))
  return { ...filter, of, end }
}

async function endOf(
  filter: Linked,
  far: readonly string[],
  scope: Scope,
  baseId: string,
): Promise<LinkedEnd> {
  const readable = namedTypes(rightsOf(scope), 'read', baseId)
  const { recordType } = filter
  const allowed = far.includes('*')
    ? (readable ?? null)
    : far.filter((id) => !readable || readable.includes(id))
  if (
    recordType !== null &&
    (allowed ? !allowed.includes(recordType) : !(await findType(scope, baseId, recordType)))
  )
    throw unknownEnd(filter, recordType, allowed ?? [])
  const [only, ...others] = far
  const single = recordType ?? (others.length === 0 && only !== '*' ? only : undefined)
  const type = single === undefined ? undefined : await findType(scope, baseId, single)
  if (single !== undefined && type) {
    const policy = policyOn(scope, baseId, single)
    const visible = visibleType(policy, type)
    return {
      baseId,
      recordType: single,
      readable,
      type: visible,
      policy: policy?.filter ?? null,
      within: null,
    }
  }
  const policySql = await policySqlOf(scope, baseId)
  return {
    baseId,
    recordType: single ?? null,
    readable,
    type: { ...ANY_TYPE, visible: visibleOfAll(scope) },
    policy: null,
    within: policySql && ((parameters) => policySql(parameters).within),
  }
}

/** The place of a name in the filter. */
const nameAt = ({ at, otherwise }: Linked, key: string): string => `${at}/${otherwise ? 'field' : key}`

const unknownRelType = (filter: Linked, known: readonly string[]): DomainError =>
  invalid({
    path: nameAt(filter, 'rel_type'),
    code: 'unknown_relationship_type',
    message: `The base has no relationship type "${filter.relType.slice(0, 64)}". Use one of those it has.`,
    ...unknownName(filter.relType, known),
  })

const unknownEnd = (filter: Linked, recordType: string, allowed: readonly string[]): DomainError =>
  invalid({
    path: nameAt(filter, 'record_type'),
    code: 'unknown_record_type',
    message: `"${filter.relType}" leads to no record type "${recordType.slice(0, 64)}" that you may read. Name one of those it leads to, or leave it out.`,
    ...unknownName(recordType, allowed),
  })

function wrongEnd(filter: Linked, type: CompiledRelationshipType, recordType: string): DomainError {
  const { relType, incoming } = filter
  const others = incoming ? type.sourceRecordTypes : type.targetRecordTypes
  const isTurned = isAmong(recordType, others)
  const message = `Links of type "${relType}" ${incoming ? 'do not lead to' : 'do not start at'} records of type "${recordType}".`
  const turned = incoming ? 'outgoing' : 'incoming'
  const path = incoming ? relType : `~${relType}`
  const advice = filter.otherwise
    ? `Write "${path}" in place of "${incoming ? '~' : ''}${relType}".`
    : `Send direction "${turned}".`
  return invalid({
    path: nameAt(filter, 'direction'),
    code: 'wrong_direction',
    message: isTurned ? `${message} ${advice}` : `${message} Leave the condition out.`,
    ...(isTurned && { hint: filter.otherwise ? path : turned }),
  })
}

const tooDeep = (filter: Linked): DomainError =>
  invalid({
    path: nameAt(filter, 'rel_type'),
    code: 'too_deep',
    message: `A filter can follow at most ${LIMITS.expandLevels} relationships in a row. Test nearer records.`,
    expected: LIMITS.expandLevels,
  })
