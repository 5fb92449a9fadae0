/** Bulk write of relationships in a few statements: find, decide, store. */

import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { relationshipTypesOf, reloadRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Relationship } from '../../data/ledger/relationship.ts'
import { FIND_LINKS, type FoundLink } from '../../data/ledger/relationship-statements.ts'
import type { CompiledRelationshipType } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { tooManyWriters } from '../../storage/database/retry-races.ts'
import { checkCardinality, keysOf, type PlacedLink } from './check-cardinality.ts'
import { hideEnds, requireWithin } from './ends.ts'
import { checkLink, type LinkWrite, linkText } from './link.ts'
import { missingEnds } from './missing-ends.ts'
import { type DueLink, storeLinks } from './store-links.ts'

/** Outcome of a link: the stored link or an error. */
export type LinkOutcome = Relationship | DomainError

/**
 * Upserts links with one or two statements per type. Updates the link that the ends already have in the type,
 * or creates one. Outcomes are in the order of the links; error paths are relative to a link in the REST
 * body. Links that share an id, ends, a pair or a cardinality are written in sequence. Requires `write` on
 * both ends.
 */
export async function writeLinks(
  scope: WriteScope,
  baseId: string,
  links: readonly LinkWrite[],
): Promise<LinkOutcome[]> {
  const outcomes = new Map<number, LinkOutcome>()
  const replaced = new Map<number, readonly string[]>()
  let types = await relationshipTypesOf(scope, baseId)
  // A type created elsewhere or in this transaction may not be cached yet.
  if (links.some(({ relType }) => !types.has(relType))) types = await reloadRelationshipTypes(scope, baseId)
  for (let races = 0; outcomes.size < links.length; ) {
    const before = outcomes.size
    const open = [...links.keys()].filter((index) => !outcomes.has(index))
    const due = await decideAll(scope, baseId, links, open, types, outcomes)
    const stored = await storeLinks(scope, baseId, due)
    // A replaced link is gone, also when the race for its place is lost and another one is replaced next.
    for (const { index, replaces } of due)
      if (replaces.length > 0) replaced.set(index, [...(replaced.get(index) ?? []), ...replaces])
    for (const [index, link] of stored.written) {
      const former = replaced.get(index)
      outcomes.set(index, former ? { ...link, replaced: former } : link)
    }
    if (stored.isStale) types = await reloadRelationshipTypes(scope, baseId)
    if (outcomes.size === before && ++races === LIMITS.raceTries) throw tooManyWriters()
  }
  return links.map((_, index) => outcomes.get(index) as LinkOutcome)
}

/**
 * Selects the links that can be stored now. Puts errors into `outcomes`. The remaining links wait for these.
 */
async function decideAll(
  scope: WriteScope,
  baseId: string,
  links: readonly LinkWrite[],
  open: readonly number[],
  types: ReadonlyMap<string, CompiledRelationshipType>,
  outcomes: Map<number, LinkOutcome>,
): Promise<DueLink[]> {
  const asked: { index: number; link: LinkWrite; type: CompiledRelationshipType }[] = []
  for (const index of open) {
    if (turnIsOver()) await nextTurn()
    const link = links[index] as LinkWrite
    const type = attempt(() => checkLink(scope, baseId, link, types))
    if (type instanceof DomainError) outcomes.set(index, type)
    else asked.push({ index, link, type })
  }
  const named = asked.map(({ link }) => link)
  const rows = await hideEnds(scope, baseId, named, await find(scope, baseId, named))
  const due: DueLink[] = []
  const claimed = new Set<string>()
  for (const [n, { index, link, type }] of asked.entries()) {
    if (turnIsOver()) await nextTurn()
    const found = rows[n] as FoundLink
    if (!isPlaced(found)) {
      outcomes.set(index, await missingEnds(scope, baseId, link, found))
      continue
    }
    const keys = keysOf(link, type, found)
    const isFirst = !keys.some((key) => claimed.has(key))
    for (const key of keys) claimed.add(key)
    if (!isFirst) continue
    const next = await settle(() => decide(scope, baseId, index, link, type, found))
    if (next instanceof DomainError) outcomes.set(index, next)
    else due.push(next)
  }
  return due
}

async function decide(
  scope: WriteScope,
  baseId: string,
  index: number,
  link: LinkWrite,
  type: CompiledRelationshipType,
  found: PlacedLink,
): Promise<DueLink> {
  const keepsData = link.data === undefined && found.held_id !== null
  const data = link.data !== undefined ? link.data : keepsData ? found.held_data : {}
  const text = linkText(scope, type, data)
  const replaces = checkCardinality(scope, baseId, link, type, found)
  await requireWithin(scope, baseId, link, replaces)
  const { versions } = link.expected ?? NO_EXPECTATION
  const version = keepsData || versions ? found.held_version : null
  return { index, link, type, found, data, text, version, replaces: replaces.map(([id]) => id) }
}

const isPlaced = (found: FoundLink): found is PlacedLink =>
  found.source_row !== null && found.target_row !== null

function attempt<T>(work: () => T): T | DomainError {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof DomainError) return thrown
    throw thrown
  }
}

async function settle<T>(work: () => Promise<T>): Promise<T | DomainError> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof DomainError) return thrown
    throw thrown
  }
}

async function find(scope: WriteScope, baseId: string, links: readonly LinkWrite[]): Promise<FoundLink[]> {
  if (links.length === 0) return []
  const end = (side: 'source' | 'target') => [
    links.map((link) => link[side].recordType),
    links.map(({ [side]: end }) => ('id' in end ? end.id : null)),
    links.map(({ [side]: end }) => ('id' in end ? null : end.externalSource)),
    links.map(({ [side]: end }) => ('id' in end ? null : end.externalId)),
  ]
  const rows = await scope.db.query<FoundLink>(FIND_LINKS, [
    baseId,
    links.map(({ relType }) => relType),
    ...end('source'),
    ...end('target'),
    links.map(({ id }) => id),
    links.map(({ pair }) => pair?.externalSource ?? null),
    links.map(({ pair }) => pair?.externalId ?? null),
    links.map(({ data }) => data === undefined),
  ])
  return rows.sort((a, b) => a.n - b.n)
}
