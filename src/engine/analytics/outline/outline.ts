/** The outline of a base: what a model has to know before its first call. */
import { LIMITS } from '../../../foundation/limits.ts'
import { readableRelationshipTypes } from '../../configuration/relationship-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'

export type OutlinedType = {
  id: string
  /** The schema; null if it is too large for an outline. */
  jsonSchema: unknown
  /** Number of records, at most `LIMITS.outlineRecords`. */
  records: number
}
export type TypesOutline = {
  /** The types in most recent use, by id. */
  types: OutlinedType[]
  /** Ids of other types, the newest first. */
  others: string[]
  /** Number of types, at most `LIMITS.outlineCounted`. */
  total: number
}

/**
 * The latest changes show which types are in use. Without statistics, the planner would sort the whole log of
 * the base for `base_id = $1 ORDER BY seq`; with a range over the key it reads the end of the index.
 */
const USED = statement(
  'outline_used_types',
  `SELECT record_type AS id FROM (
     SELECT kind, record_type FROM plinth.change
     WHERE (base_id, seq) >= ($1, 0) AND (base_id, seq) <= ($1, ${Number.MAX_SAFE_INTEGER})
     ORDER BY base_id DESC, seq DESC LIMIT ${LIMITS.outlineChanges}) c
   WHERE kind = 'record' AND ($2::text[] IS NULL OR record_type = ANY ($2))
   GROUP BY record_type ORDER BY count(*) DESC, record_type LIMIT ${LIMITS.outlineTypes}`,
)
const NEWEST = statement(
  'outline_newest_types',
  `SELECT id FROM plinth.record_type WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2))
   ORDER BY created_at DESC, id DESC LIMIT ${LIMITS.outlineCounted}`,
)
const TYPES = statement(
  'outline_types',
  `SELECT id, CASE WHEN octet_length(json_schema::text) <= ${LIMITS.outlineSchemaBytes} THEN json_schema END AS "jsonSchema",
     (SELECT count(*)::int FROM (
       SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = t.id LIMIT ${LIMITS.outlineRecords}) r) AS records
   FROM plinth.record_type t WHERE base_id = $1 AND id = ANY ($2::text[]) ORDER BY id`,
)

/**
 * Outlines the types that the token may read. The reads are limited, so that the cost does not grow with the
 * number of types or records.
 * @throws FORBIDDEN without a grant on the base
 */
export async function outlineTypes(scope: Scope, baseId: string): Promise<TypesOutline> {
  requireBaseAccess(scope.access, baseId)
  const readable = scope.access.types('read', baseId)
  const granted = readable === '*' ? null : [...readable]
  const newest = (await scope.db.query<{ id: string }>(NEWEST, [baseId, granted])).map(({ id }) => id)
  const used =
    newest.length > LIMITS.outlineTypes
      ? (await scope.db.query<{ id: string }>(USED, [baseId, granted])).map(({ id }) => id)
      : []
  const chosen = [...new Set([...used, ...newest])].slice(0, LIMITS.outlineTypes)
  const types = await scope.db.query<OutlinedType>(TYPES, [baseId, chosen], scope.closed)
  const others = newest.filter((id) => !chosen.includes(id)).slice(0, LIMITS.outlineNames)
  return { types, others, total: newest.length }
}

const FILE_TYPES = statement(
  'outline_file_types',
  `SELECT id FROM plinth.file_type WHERE base_id = $1 ORDER BY id LIMIT ${LIMITS.outlineNames}`,
)

/** Ids of the file types, for a token that may read the whole base; others see none. */
export async function outlineFileTypes(scope: Scope, baseId: string): Promise<string[]> {
  requireBaseAccess(scope.access, baseId)
  if (!scope.access.allows('read', baseId, '*')) return []
  return (await scope.db.query<{ id: string }>(FILE_TYPES, [baseId])).map(({ id }) => id)
}

export type OutlinedLink = {
  id: string
  source: string[]
  target: string[]
  cardinality: string
  onDelete: string
}

/** Outlines the relationship types whose links the token may read, with the ends that it may read. */
export async function outlineLinks(scope: Scope, baseId: string): Promise<OutlinedLink[]> {
  requireBaseAccess(scope.access, baseId)
  const readable = scope.access.types('read', baseId)
  const shown = (named: readonly string[]) =>
    named.filter((id) => id === '*' || readable === '*' || readable.has(id))
  const types = [...(await readableRelationshipTypes(scope, baseId)).values()]
  return types
    .slice(0, LIMITS.outlineNames)
    .map(({ id, sourceRecordTypes, targetRecordTypes, cardinality, onDelete }) => ({
      id,
      source: shown(sourceRecordTypes).slice(0, LIMITS.outlineEnds),
      target: shown(targetRecordTypes).slice(0, LIMITS.outlineEnds),
      cardinality,
      onDelete,
    }))
}
