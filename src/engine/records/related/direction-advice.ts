/**
 * Says why a traversal finds nothing, where the relationship types alone show it: usually the direction is the other one. Finds
 * the relationship types that lead to a record type.
 */

import { meantValue } from '../../../contract/suggest.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import type { ExpandStep } from '../../data/ledger/expansion.ts'
import { isAmong } from '../../schema/compiled-types/compiled-relationship-type.ts'
import type { Direction } from './traversal-sql.ts'

type Ends = { readonly id: string; readonly sources: readonly string[]; readonly targets: readonly string[] }

/** Advice for an empty result; null if links of the record could lead that way. Says nothing under a row policy. */
export async function adviseDirection(
  scope: Scope,
  baseId: string,
  recordType: string,
  { relType, direction }: { relType: string | null; direction: Direction },
): Promise<string | null> {
  if (scope.policy) return null
  const types = await readableEnds(scope, baseId, relType)
  const leaving = types.filter(({ sources }) => isAmong(recordType, sources))
  const arriving = types.filter(({ targets }) => isAmong(recordType, targets))
  const [own, others] = direction === 'incoming' ? [arriving, leaving] : [leaving, arriving]
  if (own.length > 0 || types.length === 0) return null
  if (others.length > 0 && direction !== 'both') {
    const [verb, other] = direction === 'outgoing' ? ['lead to', 'incoming'] : ['start at', 'outgoing']
    const names = others.slice(0, LIMITS.directionNames).map(({ id }) => `"${id}"`)
    return `Links of type ${names.join(', ')} ${verb} "${recordType}": send direction "${other}" or "both".`
  }
  const [only] = relType === null ? [] : types
  return only ? neverLinks(only, recordType) : null
}

/** The same for the first steps of an expansion. */
export async function adviseExpansion(
  scope: Scope,
  baseId: string,
  recordType: string,
  steps: readonly ExpandStep[],
): Promise<string | null> {
  if (scope.policy) return null
  for (const { relType, incoming } of steps) {
    const [type] = await readableEnds(scope, baseId, relType)
    if (!type || isAmong(recordType, incoming ? type.targets : type.sources)) continue
    if (!isAmong(recordType, incoming ? type.sources : type.targets)) return neverLinks(type, recordType)
    const [step, meant] = incoming ? [`~${relType}`, relType] : [relType, `~${relType}`]
    return `"${step}" finds nothing: such links ${incoming ? 'start at' : 'lead to'} "${recordType}". Expand "${meant}".`
  }
  return null
}

const neverLinks = ({ id, sources, targets }: Ends, recordType: string) =>
  `"${id}" links ${listed(sources)} to ${listed(targets)}, and never a "${recordType}".`

/** A step along a relationship type. */
export type Step = { readonly id: string; readonly incoming: boolean }

/**
 * The steps to the record type that a name means, such as "deals": from a record type, or from any if none starts there.
 * None if the name is not that of a record type.
 */
export function stepsTo(name: string, from: string, types: readonly Ends[]): Step[] {
  const known = types.flatMap(({ sources, targets }) => [...sources, ...targets]).filter((id) => id !== '*')
  const to = meantValue(name, [...new Set(known)])
  if (to === undefined) return []
  const steps = types.flatMap(({ id, sources, targets }) => [
    ...(isAmong(to, targets) ? [{ id, incoming: false, ends: sources }] : []),
    ...(isAmong(to, sources) ? [{ id, incoming: true, ends: targets }] : []),
  ])
  const near = steps.filter(({ ends }) => isAmong(from, ends))
  return (near.length > 0 ? near : steps).slice(0, LIMITS.directionNames)
}

/** The relationship types that the traversal follows, with the ends that the token may read. */
export async function readableEnds(scope: Scope, baseId: string, relType: string | null): Promise<Ends[]> {
  const access = rightsOf(scope)
  const readable = (named: readonly string[]) =>
    named.filter((id) => id === '*' || access.allows('read', baseId, id))
  return [...(await readableRelationshipTypes(scope, baseId)).values()]
    .filter(({ id }) => relType === null || id === relType)
    .map(({ id, sourceRecordTypes, targetRecordTypes }) => ({
      id,
      sources: readable(sourceRecordTypes),
      targets: readable(targetRecordTypes),
    }))
}

const listed = (ids: readonly string[]): string =>
  ids
    .slice(0, LIMITS.directionNames)
    .map((id) => (id === '*' ? 'any type' : `"${id}"`))
    .join(' or ')
