import { succeed } from './answers.ts'
import type { Answer, Body, Call } from './server.ts'
import type { LogRow, World } from './world.ts'

/** One end of a link: record type and id. */
export type End = readonly [recordType: string, id: string]

/** The body of a link between two records. */
export const link = (relType: string, source: End, target: End, more: object = {}) => ({
  rel_type: relType,
  source_record_type: source[0],
  source_id: source[1],
  target_record_type: target[0],
  target_id: target[1],
  ...more,
})

/** Helpers for relationships in the base `crm`. */
export function linksOf(world: World) {
  const relationships = '/v1/crm/relationships'
  return {
    newRelType: async (id: string, body: object = {}): Promise<Body> =>
      succeed(await world.call('PUT', `/v1/crm/relationship-types/${id}`, body), 201),
    put: (id: string, body: object, headers = {}, call: Call = world.call): Promise<Answer> =>
      call('PUT', `${relationships}/${id}`, body, headers),
    get: (id: string, call: Call = world.call): Promise<Answer> => call('GET', `${relationships}/${id}`),
    remove: (id: string, headers = {}, call: Call = world.call): Promise<Answer> =>
      call('DELETE', `${relationships}/${id}`, undefined, headers),
    list: async (query: Record<string, unknown> = {}, call: Call = world.call): Promise<Body> => {
      const written = Object.entries(query).map(([key, value]): [string, string] => [
        key,
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ])
      return succeed(await call('GET', `${relationships}?${new URLSearchParams(written)}`))
    },
    logOf: (kind: 'relationship' | 'relationship_type', id: string) =>
      world.database.query<LogRow>(
        "SELECT * FROM plinth.change WHERE base_id = 'crm' AND kind = $1 AND id = $2 ORDER BY seq",
        [kind, id],
      ),
  }
}

/** Upserts a link between two records. */
export const relate = (call: Call, relType: string, source: End, target: End): Promise<Answer> =>
  call('PUT', '/v1/crm/relationships', link(relType, source, target))

/** The links of `crm`, or of one type, as `<type>:<source>><target>`, sorted. */
export async function linkNames(world: World, relType?: string): Promise<string[]> {
  const filter = relType === undefined ? {} : { filter: { field: 'rel_type', op: 'eq', value: relType } }
  const { data } = await linksOf(world).list({ limit: 1000, ...filter })
  return data.map((each: Body) => `${each.rel_type}:${each.source_id}>${each.target_id}`).sort()
}

/** Change log entries of `crm` after `seq`, in order. */
export const logAfter = (world: World, seq: string): Promise<LogRow[]> =>
  world.database.query<LogRow>(
    `SELECT * FROM plinth.change WHERE base_id = 'crm' AND seq > $1::bigint ORDER BY seq`,
    [seq],
  )

/** The last `seq` in the change log of `crm`. */
export async function lastSeq(world: World): Promise<string> {
  const [row] = await world.database.query<{ seq: string }>(
    `SELECT coalesce(max(seq), 0)::text AS seq FROM plinth.change WHERE base_id = 'crm'`,
  )
  return row?.seq ?? '0'
}
