import { advised } from '../../../foundation/advised-requests.ts'
import { type DomainError, invalid, oneFault } from '../../../foundation/errors.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { checkVersion, NO_EXPECTATION } from '../../core/write/preconditions.ts'
import { maySeeLink } from '../../data/ledger/relationship.ts'
import type { FoundLink, NamedLink } from '../../data/ledger/relationship-statements.ts'
import {
  type CompiledRelationshipType,
  hasOneSource,
  hasOneTarget,
} from '../../schema/compiled-types/compiled-relationship-type.ts'
import type { LinkWrite } from './link.ts'

/** Look-up result with both ends found. */
export type PlacedLink = FoundLink & {
  source_row: string
  source_id: string
  target_row: string
  target_id: string
}

/** Conflict keys of a link. Links of the same write that share a key are written one after the other. */
export function keysOf(link: LinkWrite, type: CompiledRelationshipType, found: PlacedLink): string[] {
  const { id: typeId, cardinality } = type
  const id = found.held_id ?? link.id
  return [
    `ends ${typeId} ${found.source_row} ${found.target_row}`,
    ...(id === null ? [] : [`id ${id}`]),
    ...(link.pair ? [`pair ${typeId} ${JSON.stringify(link.pair)}`] : []),
    ...(hasOneTarget(cardinality) ? [`source ${typeId} ${found.source_row}`] : []),
    ...(hasOneSource(cardinality) ? [`target ${typeId} ${found.target_row}`] : []),
  ]
}

/**
 * Checks a link against existing ones. Returns the links that it replaces.
 * @throws VALIDATION_ERROR when it would change the ends of a link; NOT_FOUND and CONFLICT by its
 * preconditions; CONFLICT when its id or pair is taken, or its type's cardinality allows no further link
 */
export function checkCardinality(
  scope: Scope,
  baseId: string,
  link: LinkWrite,
  type: CompiledRelationshipType,
  found: PlacedLink,
): NamedLink[] {
  const { held_id, same_id, same_pair } = found
  const access = rightsOf(scope)
  // Under a row policy no other link is shown, because its ends may be outside.
  const sees = (other: NamedLink) => maySeeLink(scope.access, baseId, endsOf(other))
  const mayDelete = (other: NamedLink) =>
    [other[2], other[4]].every((end) => access.allows('write', baseId, end))
  const replaced: NamedLink[] = []
  /** Whether the link may take the place of the other one. */
  const replaces = (other: NamedLink) => {
    const isOwn = link.moves === true && other[0] === link.id
    if (!(link.replace || isOwn) || !mayDelete(other)) return false
    if (replaced.every(([id]) => id !== other[0])) replaced.push(other)
    return true
  }
  if (link.moves && held_id !== null && held_id !== link.id) throw alreadyLinked(link)
  if (same_id && same_id[0] !== held_id && !(held_id === null && same_id[1] === type.id && replaces(same_id)))
    throw sees(same_id) ? endsFixed(same_id) : idTaken(same_id[0])
  if (same_pair && same_pair[0] !== held_id && replaced.every(([id]) => id !== same_pair[0]))
    throw held_id === null && sees(same_pair)
      ? endsFixed(same_pair)
      : pairTaken(link, sees(same_pair) ? same_pair[0] : undefined)
  checkVersion(link.expected ?? NO_EXPECTATION, found.held_version ?? undefined, 'relationship between these')
  if (held_id !== null) return []
  const { other_target, other_source } = found
  if (other_target && hasOneTarget(type.cardinality) && !replaces(other_target))
    throw noRoom(type, 'source', sees(other_target) ? other_target : null, mayDelete(other_target))
  if (other_source && hasOneSource(type.cardinality) && !replaces(other_source))
    throw noRoom(type, 'target', sees(other_source) ? other_source : null, mayDelete(other_source))
  return replaced
}

const endsOf = ([, , source, , target]: NamedLink) => ({
  source_record_type: source,
  target_record_type: target,
})

const shown = ([id, rel_type, source_record_type, source_id, target_record_type, target_id]: NamedLink) => ({
  id,
  rel_type,
  source_record_type,
  source_id,
  target_record_type,
  target_id,
})

function endsFixed(other: NamedLink): DomainError {
  const { id, ...ends } = shown(other)
  return invalid({
    path: '',
    code: 'ends_fixed',
    message: `Relationship "${id}" exists with another type or other ends, which cannot change. Delete it, or use another id. To move it, send "replace": true with it.`,
    expected: ends,
  })
}

function alreadyLinked({ relType }: LinkWrite): DomainError {
  const message = `The two records are linked by "${relType}" already. Delete one of the two relationships first.`
  return oneFault('CONFLICT', message, { path: '', code: 'exists', message })
}

const idTaken = (id: string) =>
  oneFault('CONFLICT', `The id "${id}" is taken.`, {
    path: '/id',
    code: 'exists',
    message: 'Use another id, or leave it to the server.',
  })

function pairTaken({ pair }: LinkWrite, owner?: string): DomainError {
  const other = owner === undefined ? 'another relationship of this type' : `the relationship "${owner}"`
  return oneFault('CONFLICT', `The external_id belongs to ${other}.`, {
    path: '/external_id',
    code: 'duplicate_external_id',
    message: 'Write to that relationship, or use another pair.',
    ...(pair && { received: pair.externalId }),
    ...(owner !== undefined && { samples: [owner] }),
  })
}

function noRoom(
  { id, cardinality }: CompiledRelationshipType,
  side: 'source' | 'target',
  other: NamedLink | null,
  mayReplace: boolean,
) {
  const opposite = side === 'source' ? 'target' : 'source'
  const next = mayReplace ? `To move it, ${advised('move_link')}.` : `Link another ${side}.`
  const message = `"${id}" is ${cardinality}: a ${side} has one ${opposite}, and this one has it already. ${next}`
  return oneFault('CONFLICT', message, {
    path: `/${side}_id`,
    code: 'cardinality',
    expected: cardinality,
    ...(other && { samples: [shown(other)] }),
    ...(mayReplace && { hint: '"replace": true' }),
  })
}
