/** The entries of each resource since the first change to undo: they decide what can be undone. */
import { type Db, statement } from '../../database/client.ts'
import type { FoundChange } from './find-changes.ts'

/** An entry of a resource, without its content. */
export type Entry = {
  seq: number
  version: number
  operation: FoundChange['operation']
  cause: string | null
  /** Whether its state is kept. */
  isKept: boolean
  external: string | null
}

/** A resource, its changes to undo, and its entries: the one before the first change, and all since. */
export type Lifeline = {
  readonly of: FoundChange
  readonly changes: ReadonlyMap<number, FoundChange>
  readonly entries: readonly Entry[]
  /** Whether the entries start with the one before the first change. */
  readonly hasBefore: boolean
}

/** Entries that one resource may have since its first change. With more, others have changed it. */
const MOST_ENTRIES = 11_000

const COLUMNS = `seq, version, operation, cause, at, data IS NOT NULL AS is_kept,
       CASE WHEN external_id IS NOT NULL THEN external_source || chr(10) || external_id END AS external`

/** One part for each index on the entries of a resource. */
const entriesSince = (of: string, order: string): string => `
     (SELECT ${COLUMNS} FROM (
        (SELECT * FROM plinth.change p WHERE ${of} AND p.${order} < i.${order} ORDER BY p.${order} DESC LIMIT 1)
        UNION ALL
        (SELECT * FROM plinth.change p WHERE ${of} AND p.${order} >= i.${order} ORDER BY p.${order} LIMIT ${MOST_ENTRIES})) e)`

const SINCE = statement(
  'undo_entries_since',
  `SELECT i.n::int - 1 AS n, e.seq::float8 AS seq, e.version, e.operation, e.cause, e.external,
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

/** Reads the entries of the resources of the changes, which are newest first. */
export async function readLifelines(
  db: Db,
  baseId: string,
  changes: readonly FoundChange[],
): Promise<Lifeline[]> {
  const resources = [...Map.groupBy(changes, nameOf).values()]
  const first = resources.map((all) => all.at(-1) as FoundChange)
  const rows = await db.query<{ n: number; is_kept: boolean } & Omit<Entry, 'isKept'>>(SINCE, [
    baseId,
    first.map(({ kind }) => kind),
    first.map(({ recordType }) => recordType),
    first.map(({ id }) => id),
    first.map(({ seq }) => seq),
    first.map(({ version }) => version),
  ])
  const entries = Map.groupBy(rows, ({ n }) => n)
  return resources.map((all, n) => {
    const found = (entries.get(n) ?? []).map(({ n: _, is_kept: isKept, ...entry }) => ({ ...entry, isKept }))
    return {
      of: first[n] as FoundChange,
      changes: new Map(all.map((change) => [change.seq, change])),
      entries: found,
      hasBefore: found[0] !== undefined && found[0].seq < (first[n]?.seq ?? 0),
    }
  })
}
