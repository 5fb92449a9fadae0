import type { RecordTypeIndex as IndexRow } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { enqueueAll } from '../../storage/database/enqueue-job.ts'
import { isSameIndex, type ResolvedIndex, resolvedIndex } from './declaration.ts'

// A type without records needs no index build, unless change-sets have some.
const ADD = statement(
  'add_indexes',
  `INSERT INTO plinth.record_type_index (base_id, record_type, position, kind, fields, status)
   SELECT $1, i.record_type, i.position, i.kind, i.fields,
     CASE WHEN EXISTS (SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = i.record_type COLLATE "C")
         OR EXISTS (SELECT FROM plinth.base b JOIN plinth.draft_record d ON d.branch = b.id AND d.record_type = i.record_type COLLATE "C"
           WHERE b.production_base = $1)
       THEN 'building' ELSE 'ready' END
   FROM jsonb_to_recordset($2::jsonb) AS i (record_type text, position int, kind text, fields jsonb)
   RETURNING record_type, id::text, status`,
)
const MOVE = statement(
  'move_index',
  `UPDATE plinth.record_type_index SET position = $4
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint AND position <> $4`,
)
const REMOVE = statement(
  'remove_index',
  'DELETE FROM plinth.record_type_index WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint',
)

type Type = { baseId: string; id: string }

/**
 * Reconciles the stored indexes of a type with the declaration. An equivalent index keeps its entries, unless
 * it failed; a job builds a new one, and a job deletes the entries of a dropped one. The caller holds the
 * type lock and increments its revision.
 */
export async function syncIndexes(
  db: Db,
  { baseId, id }: Type,
  existing: readonly IndexRow[],
  wanted: readonly ResolvedIndex[],
): Promise<void> {
  const left = new Set(existing)
  const matches = wanted.map((index) => {
    const match = [...left].find((row) => row.status !== 'failed' && isSameIndex(resolvedIndex(row), index))
    if (match) left.delete(match)
    return match
  })
  for (const row of left) await dropIndex(db, { baseId, id }, row.id)
  for (const [position, index] of wanted.entries()) {
    const match = matches[position]
    if (match) await db.query(MOVE, [baseId, id, match.id, position])
    else await addIndexes(db, baseId, [{ type: id, position, index }])
  }
}

/** An index of a type, at its position in the declaration. */
type Added = { readonly type: string; readonly position: number; readonly index: ResolvedIndex }

async function addIndexes(db: Db, baseId: string, indexes: readonly Added[]): Promise<void> {
  if (indexes.length === 0) return
  const rows = indexes.map(({ type: record_type, position, index }) => ({ record_type, position, ...index }))
  const values = [baseId, JSON.stringify(rows)]
  await enqueueAll(db, 'build_index', buildsOf(baseId, await db.query<Declared>(ADD, values)))
}

type Declared = { record_type: string; id: string; status: string }

/** The jobs that build indexes. */
const buildsOf = (base: string, indexes: readonly Declared[]) =>
  indexes
    .filter(({ status }) => status === 'building')
    .map(({ record_type: type, id }) => ({ payload: { base, type, index: id }, key: `build:${id}` }))

/** Declares the indexes of new types. */
export const declareIndexes = (
  db: Db,
  baseId: string,
  types: readonly { readonly id: string; readonly indexes: readonly ResolvedIndex[] }[],
): Promise<void> =>
  addIndexes(
    db,
    baseId,
    types.flatMap(({ id: type, indexes }) => indexes.map((index, position) => ({ type, position, index }))),
  )

async function dropIndex(db: Db, { baseId, id }: Type, index: bigint): Promise<void> {
  await db.query(REMOVE, [baseId, id, index])
  await dropEntries(db, baseId, String(index))
}

/** Schedules deletion of the entries of a dropped index, which is unused once this transaction commits. */
export const dropEntries = (db: Db, baseId: string, index: string): Promise<void> =>
  enqueueAll(db, 'drop_index_entries', [dropOf(baseId, index)])

const dropOf = (base: string, index: string) => ({ payload: { base, index }, key: `drop:${index}` })

const COPY = statement(
  'copy_indexes',
  `INSERT INTO plinth.record_type_index (base_id, record_type, position, kind, fields, status)
   SELECT $2, d.record_type, d.position, d.kind, d.fields,
     CASE WHEN EXISTS (SELECT FROM plinth.record r WHERE r.base_id = $2 AND r.record_type = d.record_type) THEN 'building' ELSE 'ready' END
   FROM plinth.record_type_index d WHERE d.base_id = $1
   RETURNING record_type, id::text, status`,
)

/** Declares the indexes of a base in another one that has the same types, and schedules their builds. */
export async function copyIndexes(db: Db, from: string, to: string): Promise<void> {
  const copies = await db.query<Declared>(COPY, [from, to])
  await enqueueAll(db, 'build_index', buildsOf(to, copies))
}

const BUILD_ALL = statement(
  'build_indexes',
  `UPDATE plinth.record_type_index d SET status = 'building' WHERE d.base_id = $1
     AND EXISTS (SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = d.record_type)
   RETURNING record_type, id::text, status`,
)

/** Schedules the builds of the indexes of a base whose records came without entries. */
export async function buildIndexes(db: Db, baseId: string): Promise<void> {
  await enqueueAll(db, 'build_index', buildsOf(baseId, await db.query<Declared>(BUILD_ALL, [baseId])))
}

const REMOVE_ALL = statement(
  'remove_indexes',
  `DELETE FROM plinth.record_type_index
   WHERE base_id = $1 AND ($2::text[] IS NULL OR record_type = ANY ($2::text[])) RETURNING id::text`,
)

/**
 * Drops all indexes of types, or of a base. It runs before the records are deleted, so that no index build
 * locks them.
 */
export async function dropIndexes(db: Db, baseId: string, types: readonly string[] | null): Promise<void> {
  const dropped = await db.query<{ id: string }>(REMOVE_ALL, [baseId, types])
  await enqueueAll(
    db,
    'drop_index_entries',
    dropped.map(({ id }) => dropOf(baseId, id)),
  )
}
