import { oneFault } from '../../../foundation/errors.ts'
import { baseNotFound } from '../../core/existing-base.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Db, statement } from '../../storage/database/client.ts'

const LOCK_BASE = statement(
  'lock_base',
  'SELECT environment, settings, created_at FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)

type Guarded = { environment: string; settings: { schema_changes: string }; created_at: Date }

/** Locks the configuration of a base, unless the base was deleted. */
export async function lockIfPresent({ db }: WriteScope, baseId: string): Promise<Guarded | undefined> {
  const [base] = await db.query<Guarded>(LOCK_BASE, [baseId])
  return base
}

/**
 * Locks the configuration of a base for a promotion, which a guarded base takes too.
 * @throws NOT_FOUND
 */
export async function lockForPromotion(scope: WriteScope, baseId: string): Promise<Guarded> {
  const base = await lockIfPresent(scope, baseId)
  if (!base) throw baseNotFound(baseId)
  return base
}

/**
 * Locks the configuration of a base, so that changes to it are serialized.
 * @throws NOT_FOUND; FORBIDDEN on a guarded base
 */
export async function lockConfiguration(scope: WriteScope, baseId: string): Promise<void> {
  const base = await lockForPromotion(scope, baseId)
  if (base.environment === 'production' && base.settings.schema_changes === 'preview_only')
    throw oneFault('FORBIDDEN', `Base "${baseId}" takes configuration only by promotion from a preview.`, {
      path: '',
      code: 'preview_only',
      message: 'Make the change in a preview and promote it.',
    })
}

type TypeTable = 'record_type' | 'relationship_type' | 'file_type'

// FOR UPDATE conflicts with the FOR KEY SHARE of writes to records and links: it waits for those in progress
// and blocks new ones.
const lockRow = (table: TypeTable) =>
  statement(
    `lock_${table}s`,
    `SELECT 1 AS one FROM plinth.${table} WHERE base_id = $1 AND id = ANY ((SELECT $2::text[])::text[]) ORDER BY id FOR UPDATE`,
  )
const LOCK_TYPE = {
  record_type: lockRow('record_type'),
  relationship_type: lockRow('relationship_type'),
  file_type: lockRow('file_type'),
}

/** Blocks writes of the types' records or links until the transaction ends. */
export const lockTypes = (db: Db, table: TypeTable, baseId: string, ids: readonly string[]) =>
  db.query(LOCK_TYPE[table], [baseId, ids])

/** Blocks writes of the type's records or links until the transaction ends. */
export const lockType = (db: Db, table: TypeTable, baseId: string, id: string) =>
  lockTypes(db, table, baseId, [id])

// The order makes it a probe of the key for each type, with any planner statistics.
const emptyTypes = (name: string, table: string, typeColumn: string, key: string) =>
  statement(
    name,
    `SELECT t.id FROM unnest((SELECT $2::text[])) AS t (id) LEFT JOIN LATERAL (
       SELECT 1 AS one FROM plinth.${table} AS c WHERE c.base_id = $1 AND c.${typeColumn} = t.id COLLATE "C"
       ORDER BY ${key} LIMIT 1) found ON true
     WHERE found.one IS NULL`,
  )
const EMPTY = {
  record_type: emptyTypes('types_without_records', 'record', 'record_type', 'c.id'),
  relationship_type: emptyTypes('types_without_links', 'relationship', 'rel_type', 'c.created_at, c.id'),
}

/** Blocks writes of the records or links of types that are deleted. Returns the ids of the types that have none. */
export async function lockAndFindEmpty(
  db: Db,
  table: keyof typeof EMPTY,
  baseId: string,
  types: readonly { readonly id: string }[],
): Promise<string[]> {
  const ids = types.map(({ id }) => id)
  await lockTypes(db, table, baseId, ids)
  return (await db.query<{ id: string }>(EMPTY[table], [baseId, ids])).map(({ id }) => id)
}
