import { expect } from 'vitest'
import { succeed } from './answers.ts'
import type { Body } from './server.ts'
import type { World } from './world.ts'

export type Entry = {
  index_id: string
  id: string
  k1: string
  k2: string
  k3: string
  created_at: Date
  is_unique: boolean
}

/** Waits until no index of the type is being built, and returns the indexes. */
export async function settled(world: World, type: string, base = 'crm'): Promise<Body> {
  let indexes: Body
  const isBuilding = async () => {
    indexes = succeed(await world.call('GET', `/v1/${base}/record-types/${type}`)).indexes
    return indexes.some(({ status }: Body) => status === 'building')
  }
  await expect.poll(isBuilding, { timeout: 60_000, interval: 10 }).toBe(false)
  return indexes
}

const KEYS = 'index_id, id, k1, k2, k3, created_at, is_unique'

/** The index entries of a type in the database. */
export const entriesOf = (world: World, type: string): Promise<Entry[]> =>
  world.database.query<Entry>(
    `SELECT ${KEYS} FROM plinth.record_index x
     WHERE x.base_id = 'crm' AND index_id IN (SELECT id FROM plinth.record_type_index WHERE record_type = $1)
     ORDER BY index_id, id`,
    [type],
  )

/** An index entry that differs from the expected one, with its index and record. */
type Fault = Entry & {
  fault: 'missing' | 'superfluous'
  index: { kind: string; status: string; fields: unknown }
  record: { version: number; updated_at: string; data: unknown } | null
  /** Total number; only the first ones are listed. */
  faults: number
}

/**
 * Compares index entries with those that the records require, and returns missing and superfluous ones.
 * Ignores failed indexes, whose entries a job deletes later.
 */
export const outOfTrue = (world: World, type: string): Promise<Fault[]> =>
  world.database.query<Fault>(
    `WITH living AS (
       SELECT * FROM plinth.record_type_index
       WHERE base_id = 'crm' AND record_type = $1 AND kind <> 'text' AND status <> 'failed'),
     wanted AS (
       SELECT d.id AS index_id, r.id, e.k1, e.k2, e.k3, r.created_at, d.kind = 'unique' AND e.is_whole AS is_unique
       FROM plinth.record r CROSS JOIN living d
       CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source, r.version, r.data,
         r.cancelled_at, r.created_at, r.updated_at) e
       WHERE r.base_id = 'crm' AND r.record_type = $1),
     held AS (
       SELECT ${KEYS} FROM plinth.record_index x WHERE x.base_id = 'crm' AND index_id IN (SELECT id FROM living)),
     differing AS (
       SELECT 'missing' AS fault, * FROM (SELECT ${KEYS} FROM wanted EXCEPT SELECT ${KEYS} FROM held) m
       UNION ALL SELECT 'superfluous', * FROM (SELECT ${KEYS} FROM held EXCEPT SELECT ${KEYS} FROM wanted) s)
     SELECT differing.*, jsonb_build_object('kind', d.kind, 'status', d.status, 'fields', d.fields) AS index,
       (SELECT jsonb_build_object('version', r.version, 'updated_at', r.updated_at, 'data', r.data) FROM plinth.record r
        WHERE r.base_id = 'crm' AND r.record_type = $1 AND r.id = differing.id) AS record,
       count(*) OVER ()::int AS faults
     FROM differing JOIN living d ON d.id = differing.index_id
     ORDER BY differing.index_id, differing.id, fault LIMIT 10`,
    [type],
  )

/** Number of remaining entries of failed or deleted indexes. */
export async function leftOver(world: World): Promise<number> {
  const living = `SELECT id FROM plinth.record_type_index WHERE status <> 'failed'`
  const [left] = await world.database.query<{ n: number }>(
    `SELECT ((SELECT count(*) FROM plinth.record_index WHERE index_id NOT IN (${living}))
       + (SELECT count(*) FROM plinth.record_text WHERE index_id NOT IN (${living})))::int AS n`,
  )
  return left?.n ?? 0
}
