import { isDeepStrictEqual } from 'node:util'
import { type Db, statement } from '../database/client.ts'
import { enqueue } from '../database/enqueue-job.ts'
import type { RecordTypeIndex as IndexRow } from '../prisma/client.ts'
import { type ResolvedIndex, resolvedIndex } from './declaration.ts'

// A type without records needs no index build.
const ADD = statement(
  'add_index',
  `INSERT INTO plinth.record_type_index (base_id, record_type, position, kind, fields, status)
   SELECT $1, $2, $3, $4, $5::jsonb,
     CASE WHEN EXISTS (SELECT FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = $2) THEN 'building' ELSE 'ready' END
   RETURNING id::text, status`,
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
    const match = [...left].find(
      (row) => row.status !== 'failed' && isDeepStrictEqual(resolvedIndex(row), index),
    )
    if (match) left.delete(match)
    return match
  })
  for (const row of left) await dropIndex(db, { baseId, id }, row.id)
  for (const [position, index] of wanted.entries()) {
    const match = matches[position]
    if (match) await db.query(MOVE, [baseId, id, match.id, position])
    else await addIndex(db, { baseId, id }, position, index)
  }
}

async function addIndex(db: Db, { baseId, id }: Type, position: number, { kind, fields }: ResolvedIndex) {
  const values = [baseId, id, position, kind, JSON.stringify(fields)]
  const [added] = await db.query<{ id: string; status: string }>(ADD, values)
  if (added?.status === 'building')
    await enqueue(db, 'build_index', { base: baseId, type: id, index: added.id }, `build:${added.id}`)
}

async function dropIndex(db: Db, { baseId, id }: Type, index: bigint): Promise<void> {
  await db.query(REMOVE, [baseId, id, index])
  await dropEntries(db, baseId, String(index))
}

/** Schedules deletion of the entries of a dropped index, which is unused once this transaction commits. */
export const dropEntries = (db: Db, baseId: string, index: string): Promise<void> =>
  enqueue(db, 'drop_index_entries', { base: baseId, index }, `drop:${index}`)

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
  const copies = await db.query<{ record_type: string; id: string; status: string }>(COPY, [from, to])
  for (const { record_type: type, id, status } of copies)
    if (status === 'building') await enqueue(db, 'build_index', { base: to, type, index: id }, `build:${id}`)
}

const REMOVE_ALL = statement(
  'remove_indexes',
  `DELETE FROM plinth.record_type_index
   WHERE base_id = $1 AND ($2::text IS NULL OR record_type = $2) RETURNING id::text`,
)

/**
 * Drops all indexes of a type or of a base. It runs before the records are deleted, so that no index build
 * locks them.
 */
export async function dropIndexes(db: Db, baseId: string, type: string | null): Promise<void> {
  for (const { id } of await db.query<{ id: string }>(REMOVE_ALL, [baseId, type]))
    await dropEntries(db, baseId, id)
}
