import { isRecordId, isTypeId } from '../../../contract/ids.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { findType } from '../../core/load-type.ts'
import { policyOn, rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { maySeeLink, type RelationshipRow } from '../../data/ledger/relationship.ts'
import type { FoundLink, NamedLink } from '../../data/ledger/relationship-statements.ts'
import { idsWithin } from '../query/policy-read.ts'
import { invalidId, type LinkWrite } from './link.ts'

/** Identifies a link by its type and ends. */
export type LinkEnds = {
  relType: string
  sourceRecordType: string
  sourceId: string
  targetRecordType: string
  targetId: string
}

/**
 * Checks the names of a type and two ends.
 * @throws VALIDATION_ERROR
 */
export function checkEnds({
  relType,
  sourceRecordType,
  sourceId,
  targetRecordType,
  targetId,
}: LinkEnds): void {
  const named = {
    rel_type: relType,
    source_record_type: sourceRecordType,
    target_record_type: targetRecordType,
  }
  for (const [key, name] of Object.entries(named)) if (!isTypeId(name)) throw invalidId(key, name)
  for (const [key, name] of Object.entries({ source_id: sourceId, target_id: targetId }))
    if (!isRecordId(name)) throw invalidId(key, name)
}

type Ends = Pick<RelationshipRow, 'source_record_type' | 'source_id' | 'target_record_type' | 'target_id'>
type Side = 'source' | 'target'
const SIDES: readonly Side[] = ['source', 'target']

/** Whether a link is visible: both ends are readable and match the row policy of their type. */
export async function isLinkWithin(scope: Scope, baseId: string, ends: Ends): Promise<boolean> {
  if (!maySeeLink(rightsOf(scope), baseId, ends)) return false
  for (const side of SIDES) {
    const id = ends[`${side}_id`]
    if (!(await within(scope, baseId, ends[`${side}_record_type`], [id])).has(id)) return false
  }
  return true
}

/** Redacts look-up results: ends outside the row policy appear as absent. */
export async function hideEnds(
  scope: Scope,
  baseId: string,
  links: readonly LinkWrite[],
  found: FoundLink[],
): Promise<FoundLink[]> {
  if (!scope.policy) return found
  for (const side of SIDES) {
    const byType = Map.groupBy(found, (_, n) => links[n]?.[side].recordType ?? '')
    for (const [recordType, rows] of byType) {
      const ids = rows.flatMap((row) => row[`${side}_id`] ?? [])
      const known = await within(scope, baseId, recordType, ids)
      for (const row of rows) if (!known.has(row[`${side}_id`] ?? '')) row[`${side}_row`] = null
    }
  }
  return found
}

/** The ids of the records that match the row policy of their type; all if it has none. */
export async function within(
  scope: Scope,
  baseId: string,
  recordType: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const policy = policyOn(scope, baseId, recordType)
  const type = policy && (await findType(scope, baseId, recordType))
  return new Set(policy && type ? await idsWithin(scope, policy.filter, type, ids) : ids)
}

/**
 * Checks that the links that a link replaces are within the row policy of their ends.
 * @throws CONFLICT
 */
export async function requireWithin(
  scope: Scope,
  baseId: string,
  { relType }: LinkWrite,
  replaced: readonly NamedLink[],
): Promise<void> {
  if (!scope.policy) return
  for (const [, , source_record_type, source_id, target_record_type, target_id] of replaced) {
    const ends = { source_record_type, source_id, target_record_type, target_id }
    if (!(await isLinkWithin(scope, baseId, ends))) throw notReplaceable(relType)
  }
}

function notReplaceable(relType: string): DomainError {
  const message = `Another relationship of type "${relType}", which this address cannot show, has this place by its cardinality. Link another record.`
  return oneFault('CONFLICT', message, { path: '/replace', code: 'cardinality' })
}
