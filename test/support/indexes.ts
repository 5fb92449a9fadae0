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

/** The indexes of a type once none is being built any more. */
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

/** The entries of a type's indexes, as the database has them. */
export const entriesOf = (world: World, type: string): Promise<Entry[]> =>
  world.database.query<Entry>(
    `SELECT ${KEYS} FROM plinth.record_index x
     WHERE x.base_id = 'crm' AND index_id IN (SELECT id FROM plinth.record_type_index WHERE record_type = $1)
     ORDER BY index_id, id`,
    [type],
  )

/** The entries that differ from what the records ask for, missing and superfluous ones alike. */
export const outOfTrue = (world: World, type: string): Promise<Entry[]> =>
  world.database.query<Entry>(
    `WITH wanted AS (
       SELECT d.id AS index_id, r.id, e.k1, e.k2, e.k3, r.created_at, d.kind = 'unique' AND e.is_whole AS is_unique
       FROM plinth.record r JOIN plinth.record_type_index d ON d.base_id = r.base_id AND d.record_type = r.record_type
       CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source, r.version, r.data,
         r.cancelled_at, r.created_at, r.updated_at) e
       WHERE r.base_id = 'crm' AND r.record_type = $1 AND d.kind <> 'text' AND d.status <> 'failed'),
     held AS (
       SELECT ${KEYS} FROM plinth.record_index x
       WHERE x.base_id = 'crm' AND index_id IN (SELECT id FROM plinth.record_type_index WHERE record_type = $1))
     (SELECT ${KEYS} FROM wanted EXCEPT SELECT ${KEYS} FROM held)
     UNION ALL (SELECT ${KEYS} FROM held EXCEPT SELECT ${KEYS} FROM wanted)`,
    [type],
  )
