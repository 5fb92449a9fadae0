/** The entries of each resource since the first change to undo: they decide what can be undone. */

import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { FoundChange } from './find-changes.ts'

/** An entry of a resource, without its content. */
export type Entry = {
  seq: number
  at: Date
  version: number
  operation: FoundChange['operation']
  cause: string | null
  /** Whether its state is kept. */
  isKept: boolean
  external: string | null
}

/** A resource, its changes to undo, and its entries: the one before the first change, and all since. */
export type ResourceEntries = {
  readonly of: FoundChange
  readonly changes: ReadonlyMap<number, FoundChange>
  readonly entries: readonly Entry[]
  /** Whether the entries start with the one before the first change. */
  readonly hasBefore: boolean
}

const COLUMNS = `seq, version, operation, cause, at, data IS NOT NULL AS is_kept,
       CASE WHEN external_id IS NOT NULL THEN external_source || chr(10) || external_id END AS external`

/** One part for each index on the entries of a resource. */
const entriesSince = (of: string, order: string): string => `
     (SELECT ${COLUMNS} FROM (
        (SELECT * FROM plinth.change p WHERE ${of} AND p.${order} < i.${order} ORDER BY p.${order} DESC LIMIT 1)
        UNION ALL
        (SELECT * FROM plinth.change p WHERE ${of} AND p.${order} >= i.${order} ORDER BY p.${order} LIMIT $7)) e)`

const SINCE = statement(
  'undo_entries_since',
  `SELECT i.n::int - 1 AS n, e.seq::float8 AS seq, e.at, e.version, e.operation, e.cause, e.external,
     e.is_kept AND (e.operation <> 'delete' OR i.kind <> 'record' OR e.at > now() - make_interval(days => (
       SELECT (settings ->> 'trash_days')::int FROM plinth.base WHERE id = $1))) AS is_kept
   FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::int[]) WITH ORDINALITY
     AS i (kind, record_type, id, seq, version, n)
   CROSS JOIN LATERAL (${[
     entriesSince(
       `i.kind = 'record' AND p.kind = 'record' AND p.base_id = $1 AND p.record_type = i.record_type COLLATE "C"
          AND p.id = i.id COLLATE "C"`,
       'version',
     ),
     entriesSince(
       `i.kind = 'relationship' AND p.kind = 'relationship' AND p.base_id = $1 AND p.id = i.id COLLATE "C"`,
       'version',
     ),
     entriesSince(
       `i.kind NOT IN ('record', 'relationship') AND p.kind NOT IN ('record', 'relationship') AND p.base_id = $1
          AND p.kind = i.kind AND p.id = i.id COLLATE "C"`,
       'seq',
     ),
   ].join(' UNION ALL ')}) e
   ORDER BY i.n, e.seq`,
)

export const nameOf = ({ kind, recordType, id }: Pick<FoundChange, 'kind' | 'recordType' | 'id'>): string =>
  `${kind}\n${recordType ?? ''}\n${id}`

/**
 * Reads the entries of the resources of the changes, which are newest first, and passes those of each to `use`.
 * Holds the entries of some resources at a time, because others may have changed each of them often since.
 */
export async function mapResourceEntries<T>(
  db: Db,
  baseId: string,
  changes: readonly FoundChange[],
  use: (ofResource: ResourceEntries) => T,
): Promise<T[]> {
  const resources = [...Map.groupBy(changes, nameOf).values()]
  const done = new Map<Resource, T>()
  const readAll = async (all: readonly Resource[], atOnce: number, most: number): Promise<Resource[]> => {
    const cut: Resource[] = []
    for (let from = 0; from < all.length; from += atOnce) {
      const some = all.slice(from, from + atOnce)
      const entries = await entriesOf(db, baseId, some, most)
      for (const [n, resource] of some.entries()) {
        if (turnIsOver()) await nextTurn()
        const ofResource = entriesOfResource(resource, entries.get(n) ?? [])
        const isWhole = ofResource.entries.length < most + Number(ofResource.hasBefore)
        if (isWhole || most === LIMITS.undoneEntries) done.set(resource, use(ofResource))
        else cut.push(resource)
      }
    }
    return cut
  }
  await readAll(
    await readAll(resources, LIMITS.undoneEntriesAtOnce, LIMITS.undoneEntriesFew),
    LIMITS.undoneLongAtOnce,
    LIMITS.undoneEntries,
  )
  return resources.map((resource) => done.get(resource) as T)
}

/** The changes of a resource, newest first. */
type Resource = readonly FoundChange[]

const firstOf = (resource: Resource) => resource.at(-1) as FoundChange

async function entriesOf(
  db: Db,
  baseId: string,
  resources: readonly Resource[],
  most: number,
): Promise<Map<number, Entry[]>> {
  const first = resources.map(firstOf)
  const rows = await db.query<{ n: number; is_kept: boolean } & Omit<Entry, 'isKept'>>(SINCE, [
    baseId,
    first.map(({ kind }) => kind),
    first.map(({ recordType }) => recordType),
    first.map(({ id }) => id),
    first.map(({ seq }) => seq),
    first.map(({ version }) => version),
    most,
  ])
  const entries = new Map<number, Entry[]>()
  for (const { n, is_kept: isKept, ...entry } of rows) {
    const own = entries.get(n)
    if (own) own.push({ ...entry, isKept })
    else entries.set(n, [{ ...entry, isKept }])
  }
  return entries
}

function entriesOfResource(resource: Resource, entries: readonly Entry[]): ResourceEntries {
  const of = firstOf(resource)
  return {
    of,
    changes: new Map(resource.map((change) => [change.seq, change])),
    entries,
    hasBefore: entries[0] !== undefined && entries[0].seq < of.seq,
  }
}
