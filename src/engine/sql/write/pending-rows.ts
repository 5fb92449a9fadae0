/**
 * The rows that the transaction has written, as an overlay over what the reader's connection sees. The reader
 * cannot see uncommitted rows: a relation that it reads leaves out the ids of these rows, and gets the rows as
 * a parameter.
 */

import type { WriteScope } from '../../core/write/write.ts'
import { type Statement, statement } from '../../storage/database/client.ts'
import type { Bind, RenderOptions } from '../guard/guard-select.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { FIXED } from '../guard/relations/fixed-relations.ts'
import type { Relation } from '../guard/relations/relations.ts'
import { quoteText } from '../guard/syntax/names.ts'

/** A statement without a name: a generic plan would read the log of the whole base. */
const unnamed = (text: string): Statement => ({ name: '', text })

const BEGIN = statement(
  'sql_write_begin',
  `SELECT now()::timestamptz(3)::text AS now, coalesce((SELECT max(seq) FROM plinth.change WHERE base_id = $1), 0)::text AS seq`,
)

/** The log entries of the transaction; the sort and OFFSET keep the planner on the key of the log. */
const OWN = `SELECT * FROM (
    SELECT * FROM plinth.change WHERE base_id = $1 AND seq > $2 ORDER BY seq OFFSET 0) c
  WHERE xid = pg_current_xact_id() AND kind IN ('record', 'relationship')`

const KEYS = unnamed(`SELECT seq::text AS seq, kind, record_type, id FROM (${OWN}) c ORDER BY c.seq`)

/** In a change-set: the drafts written since, which others cannot write meanwhile. Its log is that of production. */
const BEGIN_DRAFTS = statement(
  'sql_write_begin_drafts',
  `SELECT now()::timestamptz(3)::text AS now, coalesce((SELECT max(position) FROM plinth.draft_change WHERE branch = $1), 0)::text AS seq`,
)
const DRAFT_KEYS = unnamed(
  `SELECT position::text AS seq, kind, nullif(record_type, '') AS record_type, id FROM plinth.draft_change
   WHERE branch = $1 AND position > $2 ORDER BY position`,
)

const CHANGES = unnamed(
  `SELECT json_build_object('seq', seq, 'at', at, 'kind', kind, 'record_type', record_type, 'id', id,
     'operation', operation, 'version', version, 'data', data, 'external_id', external_id,
     'external_source', external_source, 'status', CASE WHEN kind <> 'record' THEN NULL
       WHEN cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END,
     'actor_name', actor_name, 'via', via, 'request_id', request_id, 'token_id', token_id, 'actor_kind', coalesce(actor_kind, 'program'), 'call', CASE WHEN call IS NOT NULL THEN
       json_build_object('id', call -> 0, 'tool', call -> 1, 'endpoint', call -> 2, 'client', call -> 3,
         'trace_id', call -> 4) END)::text AS row
   FROM (${OWN}) c WHERE $3::text[] IS NULL OR (kind = 'record' AND record_type = ANY ($3::text[])) ORDER BY c.seq`,
)

// LATERAL with OFFSET reads each row by its key, with any planner statistics.
const RECORDS = statement(
  'sql_write_records',
  `SELECT k.n::int AS n, r.row FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) WITH ORDINALITY AS k (record_type, id, n),
   LATERAL (
     SELECT json_build_object('record_type', record_type, 'id', id, 'external_id', external_id,
       'external_source', external_source, 'status', CASE WHEN cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END,
       'version', version, 'created_at', created_at, 'updated_at', updated_at, 'data', data)::text AS row
     FROM plinth.record
     WHERE base_id = $1 AND record_type = k.record_type COLLATE "C" AND id = k.id COLLATE "C" OFFSET 0) r
   ORDER BY k.n`,
)

const LINKS = statement(
  'sql_write_links',
  `SELECT k.n::int AS n, r.row FROM unnest((SELECT $2::text[])) WITH ORDINALITY AS k (id, n),
   LATERAL (
     SELECT json_build_object('id', id, 'rel_type', rel_type, 'source_record_type', source_record_type,
       'source_id', source_id, 'target_record_type', target_record_type, 'target_id', target_id,
       'external_id', external_id, 'external_source', external_source, 'data', data, 'version', version,
       'created_at', created_at, 'updated_at', updated_at)::text AS row
     FROM plinth.relationship
     WHERE base_id = $1 AND id = k.id COLLATE "C" AND ($3::text[] IS NULL
       OR (source_record_type = ANY ($3::text[]) AND target_record_type = ANY ($3::text[]))) OFFSET 0) r
   ORDER BY k.n`,
)

/** The columns of a view, with their types. */
const TIMES = 'created_at timestamptz, updated_at timestamptz'
const PAIR = 'external_id text COLLATE "C", external_source text COLLATE "C"'
const RECORD = `record_type text COLLATE "C", id text COLLATE "C", ${PAIR}, status text, version integer, ${TIMES}, data jsonb`
const LINK = `id text COLLATE "C", rel_type text COLLATE "C", source_record_type text COLLATE "C", source_id text COLLATE "C", target_record_type text COLLATE "C", target_id text COLLATE "C", ${PAIR}, data jsonb, version integer, ${TIMES}`
const CHANGE = `seq bigint, at timestamptz, kind text, record_type text COLLATE "C", id text COLLATE "C", operation text, version integer, data jsonb, ${PAIR}, status text, actor_name text, via text, request_id text, call jsonb, token_id text, actor_kind text`
const COLUMNS: Readonly<Record<string, string>> = { record: RECORD, relationship: LINK, change: CHANGE }

const namesOf = (columns: string): string => columns.replaceAll(/ (text COLLATE "C"|\w+)(?=,|$)/g, '')

type Written = { readonly text: string; readonly type: string }

/** FROM over rows that are bound as JSON text, in the form of a relation. `carried` adds columns. */
export function fromRows(
  { view, condition }: Relation,
  { baseId }: Catalog,
  rows: string,
  carried: readonly Written[] = [],
): string {
  const columns = COLUMNS[view] ?? ''
  const more = carried.map(({ text }) => `, ${text} text`).join('')
  const casts = carried.map(({ text, type }) => `, ${text}::${type} AS ${text}`).join('')
  return `FROM (SELECT ${quoteText(baseId)} COLLATE "C" AS base_id, ${namesOf(columns)}${casts}
    FROM json_to_recordset(${rows}::json) AS o (${columns}${more})) AS v WHERE ${condition}`
}

export type PendingRows = {
  /** The time of the transaction, for `now()`. */
  readonly now: string
  /** Marks that the transaction has written: the next read looks at its log. */
  wrote(): void
  /** The FROM clauses of relations that the transaction has written. */
  sources(relations: readonly Relation[]): Promise<NonNullable<RenderOptions['sourceOf']>>
  /** Rows of the relation by id, in this order, as JSON texts. */
  rowsOf(relation: Relation, ids: readonly string[]): Promise<string[]>
}

/** Opens the overlay at the start of a transaction. */
export async function openPendingRows(scope: WriteScope, catalog: Catalog): Promise<PendingRows> {
  const { baseId, readsAll, types } = catalog
  const { changeSet } = scope
  const [begin] = await scope.db.query<{ now: string; seq: string }>(
    ...(changeSet === undefined ? ([BEGIN, [baseId]] as const) : ([BEGIN_DRAFTS, [changeSet]] as const)),
  )
  const start = begin?.seq ?? '0'
  const readable = readsAll ? null : types.map(({ id }) => id)
  const mayRead = (type: string) => readable?.includes(type) ?? true
  const records = new Map<string, Set<string>>()
  const links = new Set<string>()
  let seen = start
  let isStale = false
  const refresh = async () => {
    if (!isStale) return
    isStale = false
    type Key = { seq: string; kind: string; record_type: string | null; id: string }
    const keys =
      changeSet === undefined
        ? await scope.db.query<Key>(KEYS, [baseId, seen])
        : await scope.db.query<Key>(DRAFT_KEYS, [changeSet, seen])
    for (const { seq, kind, record_type: type, id } of keys) {
      seen = seq
      if (kind === 'relationship') links.add(id)
      else if (type !== null) records.set(type, (records.get(type) ?? new Set()).add(id))
    }
  }
  const texts = async (how: Statement, values: readonly unknown[]) =>
    (await scope.db.query<{ row: string }>(how, [baseId, ...values])).map(({ row }) => row)
  const linkRows = (ids: readonly string[]) => texts(LINKS, [ids, readable])
  const recordRows = (keys: readonly (readonly [string, string])[]) =>
    texts(RECORDS, [keys.map(([type]) => type), keys.map(([, id]) => id)])
  const keysOf = (relation: Relation): [string, string][] =>
    [...records].flatMap(([type, ids]) =>
      (FIXED.has(relation.name) ? mayRead(type) : type === relation.name)
        ? [...ids].map((id): [string, string] => [type, id])
        : [],
    )
  /** The ids to leave out of the view, and the rows in their place. */
  const overlayOf = async (relation: Relation): Promise<{ gone: object[]; rows: string[] } | undefined> => {
    if (relation.view === 'change')
      return seen === start || changeSet !== undefined
        ? undefined
        : { gone: [], rows: await texts(CHANGES, [start, readable]) }
    if (relation.view === 'relationship')
      return links.size === 0
        ? undefined
        : { gone: [...links].map((id) => ({ id })), rows: await linkRows([...links]) }
    const keys = relation.view === 'record' ? keysOf(relation) : []
    if (keys.length === 0) return undefined
    return { gone: keys.map(([record_type, id]) => ({ record_type, id })), rows: await recordRows(keys) }
  }
  return {
    now: begin?.now ?? '',
    wrote() {
      isStale = true
    },
    async sources(relations) {
      await refresh()
      const known = new Map<Relation, { gone: string; rows: string }>()
      for (const relation of relations) {
        const overlay = await overlayOf(relation)
        if (overlay)
          known.set(relation, { gone: JSON.stringify(overlay.gone), rows: `[${overlay.rows.join(',')}]` })
      }
      return (relation, bind) => {
        const overlay = known.get(relation)
        return overlay && overlaid(relation, catalog, overlay, bind)
      }
    },
    rowsOf: (relation, ids) =>
      relation.view === 'relationship' ? linkRows(ids) : recordRows(ids.map((id) => [relation.name, id])),
  }
}

const KEYS_OF: Readonly<Record<string, string>> = {
  record: 'record_type text COLLATE "C", id text COLLATE "C"',
  relationship: 'id text COLLATE "C"',
}

/** The view without the rows of the transaction, and these rows. The conditions on the grants hold for both. */
function overlaid(
  { view, source, condition }: Relation,
  { baseId }: Catalog,
  { gone, rows }: { gone: string; rows: string },
  bind: Bind,
): string {
  const columns = COLUMNS[view] ?? ''
  const names = namesOf(columns)
  const keys = KEYS_OF[view]
  const same =
    keys &&
    namesOf(keys)
      .split(', ')
      .map((name) => `g.${name} = s.${name}`)
      .join(' AND ')
  const without = same
    ? ` WHERE NOT EXISTS (SELECT FROM json_to_recordset(${bind(gone)}::json) AS g (${keys}) WHERE ${same})`
    : ''
  return `FROM (SELECT base_id, ${names} FROM (SELECT base_id, ${names} FROM ${source} WHERE ${condition}) AS s${without}
    UNION ALL SELECT ${quoteText(baseId)} COLLATE "C", ${names} FROM json_to_recordset(${bind(rows)}::json) AS o (${columns})) AS v WHERE ${condition}`
}
