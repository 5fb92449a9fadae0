import { type Db, statement } from '../../storage/database/client.ts'
import { lockTypes } from './lock.ts'

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
