/** Relationship types as a kind of configuration. A change validates the links that exist. */
import { RelationshipTypeBody } from '../../../contract/shapes.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { authorship, type Scope } from '../../core/scope.ts'
import { addCounts, addNamed } from '../../core/write/deletion-summary.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { logLinks } from '../../data/ledger/relationship-statements.ts'
import { authorAt } from '../../log/log-rows.ts'
import { writtenSince } from '../../log/written-since.ts'
import type { RelationshipType as Row } from '../../prisma/client.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { type Access, requireBaseAccess } from '../../storage/access/access.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { DataCheck, DeleteOptions, Found, Kind, LockResult, View } from '../lifecycle/kind.ts'
import { lockAndFindEmpty, lockType, lockTypes } from '../lifecycle/lock.ts'
import { droppedProperties } from '../record-types/dropped-properties.ts'
import { RECORD_TYPE_NAMES } from '../record-types/not-found.ts'
import { type Fields, fieldFaults } from './input.ts'
import { affectedBy, validateExistingLinks } from './validate-existing.ts'

// The order makes it a probe of the key, with any planner statistics.
const HAS_LINKS = statement(
  'type_holds_links',
  'SELECT 1 AS one FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 ORDER BY created_at, id LIMIT 1',
)
// Not filtered by type: a caller who manages the whole base may read all of them.
const COUNT_LINKS = statement(
  'count_links_of_relationship_type',
  `SELECT rel_type AS type, count(*)::int AS count FROM plinth.relationship
   WHERE base_id = $1 AND rel_type = $2 GROUP BY rel_type`,
)
// The deletion of each link is logged before that of the type.
const DELETE_TYPE_LINKS = statement(
  'delete_type_links',
  `WITH w AS (DELETE FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 RETURNING *)
   ${logLinks('w', 'delete', authorAt(3))}`,
)

/**
 * Deletes the links of the type with their log entries. Existing links require the type's id in `confirm`.
 */
async function deleteLinksOf(
  scope: WriteScope,
  current: Row,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db, summary } = scope
  const { baseId, id } = current
  await lockType(db, 'relationship_type', baseId, id)
  if (!scope.planning && confirm !== id) await refuseLinks(db, current)
  if (summary) {
    addNamed(summary, 'relationshipTypes', current)
    addCounts(summary, 'links', await db.query(COUNT_LINKS, [baseId, id]))
    checkPlan()
  }
  await db.query(DELETE_TYPE_LINKS, [baseId, id, ...authorship(scope)])
}

/** Blocks writes of links of types that are deleted. Returns the ids of those without links. */
async function lockUnusedTypes(
  { db }: WriteScope,
  baseId: string,
  types: readonly Row[],
): Promise<ReadonlySet<string>> {
  return new Set(await lockAndFindEmpty(db, 'relationship_type', baseId, types))
}

/** @throws CONFLICT when the type has relationships */
async function refuseLinks(db: Db, { baseId, id }: { baseId: string; id: string }): Promise<void> {
  if ((await db.query(HAS_LINKS, [baseId, id])).length > 0)
    throw confirmFirst(id, `Relationship type "${id}" has relationships`, "the type's")
}

// Checks links against changes of their types ahead of the change, while others write.

/** A check without a lock that found nothing to refuse and nothing to write, and since when links may have changed. */
type LinkPrecheck = { readonly since: number }

/** A type whose writers wait. */
type TypeToLock = { readonly id: string; readonly precheck: LinkPrecheck | undefined }

/** Checks the links that changes or deletions of types concern. Returns what was found, in the same order. */
async function checkLinks(
  scope: Scope,
  baseId: string,
  checks: readonly DataCheck<Fields>[],
): Promise<readonly Found[]> {
  const since = await scope.feed.settledSeq()
  const found: Found[] = []
  for (const { id, before, next } of checks)
    try {
      const affected = next && affectedBy(before, next)
      if (next === null) await refuseLinks(scope.db, { baseId, id })
      const mode = { allowsInvalid: false, isCheck: true }
      const isWritten =
        next &&
        affected &&
        (await validateExistingLinks(scope, { baseId, id }, affected, [before, next], mode))
      found.push(isWritten ? {} : { found: { since } satisfies LinkPrecheck })
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      found.push({ fault: thrown })
    }
  return found
}

/**
 * Blocks writes of links until the transaction ends. Types whose links have not been written since their precheck
 * need no other check.
 */
async function lockLinks(
  { db }: WriteScope,
  baseId: string,
  toLock: readonly TypeToLock[],
): Promise<LockResult> {
  const ids = toLock.map(({ id }) => id)
  await lockTypes(db, 'relationship_type', baseId, ids)
  const prechecked = new Map(toLock.flatMap(({ id, precheck }) => (precheck ? [[id, precheck.since]] : [])))
  const settled = new Set(prechecked.keys())
  if (settled.size > 0) {
    const since = Math.min(...prechecked.values())
    for await (const { written } of writtenSince(db, baseId, since, 'relationship', ids))
      for (const id of written.keys()) settled.delete(id)
  }
  return { settled, faults: new Map() }
}

const ANY = ['*']

/** Relationship types: the kinds of links between records. */
export const RELATIONSHIP_TYPE: Kind<Fields, Row> = {
  name: 'relationship_type',
  label: 'a relationship type',
  codes: { notFound: 'relationship_type_not_found', unknown: 'unknown_relationship_type' },
  body: RelationshipTypeBody,
  defaults: (id) => ({
    name: id,
    description: null,
    dataSchema: {},
    sourceRecordTypes: ANY,
    targetRecordTypes: ANY,
    cardinality: 'many_to_many',
    onDelete: 'unlink',
  }),
  table: ({ orm }) => orm.relationshipType,
  rights: {
    list: (scope, baseId) => {
      requireBaseAccess(scope.access, baseId)
      return readable(scope, baseId)
    },
    read: (scope, baseId) => requireBaseAccess(scope.access, baseId),
    shown: (scope, view) => shownTo(scope.access, view),
  },
  references: ({ sourceRecordTypes, targetRecordTypes }) => [
    ...recordTypes(sourceRecordTypes, '/source_record_types'),
    ...recordTypes(targetRecordTypes, '/target_record_types'),
  ],
  warnings: (before, next) => [
    ...droppedProperties(before?.dataSchema, next.dataSchema).map(
      ({ name }) =>
        `The property "${name}" is no longer in data_schema. Relationships keep what they hold of it.`,
    ),
    ...compileSchema(next.dataSchema, '/data_schema').warnings,
  ],
  check: async ({ scope }, { id, current, before, next, options }) => {
    const affected = before ? affectedBy(before, next) : undefined
    const toLock: TypeToLock = { id, precheck: options.found as LinkPrecheck | undefined }
    return {
      faults: fieldFaults(next),
      ...(affected && { toLock }),
      existing: async (isSettled) => {
        if (!current || !before || !affected || isSettled) return
        const allowsInvalid = options.onInvalid === 'allow'
        await validateExistingLinks(scope, current, affected, [before, next], { allowsInvalid })
      },
    }
  },
  checkData: checkLinks,
  lockData: lockLinks,
  takesConfirm: true,
  lockUnused: lockUnusedTypes,
  beforeDelete: deleteLinksOf,
}

const recordTypes = (ids: readonly string[], at: string) =>
  ids.flatMap((id, i) =>
    id === '*' ? [] : [{ kind: RECORD_TYPE_NAMES, id, at: `${at}/${i}`, instead: 'name "*" for any' }],
  )

/** The condition of `shownTo` for the ORM: a readable record type at each end. */
function readable(scope: Scope, baseId: string): object {
  const types = scope.access.types('read', baseId)
  if (types === '*') return {}
  if (types.size === 0) return { id: { in: [] } }
  const named = { hasSome: ['*', ...types] }
  return { AND: [{ sourceRecordTypes: named }, { targetRecordTypes: named }] }
}

/** Removes the record types that the token may not read; null when an end has no readable type. */
function shownTo(access: Access, type: View<Fields>): View<Fields> | null {
  const readable = access.types('read', type.baseId)
  if (readable === '*') return type
  const known = (named: readonly string[]) => named.filter((id) => id === '*' || readable.has(id))
  const shown = {
    ...type,
    sourceRecordTypes: known(type.sourceRecordTypes),
    targetRecordTypes: known(type.targetRecordTypes),
  }
  const isEmpty = shown.sourceRecordTypes.length === 0 || shown.targetRecordTypes.length === 0
  return isEmpty || readable.size === 0 ? null : shown
}
