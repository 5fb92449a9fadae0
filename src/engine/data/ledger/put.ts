/** Writes the content of records: creates and replaces them, with log rows and index entries, in one statement. */

import { authorAt, authorOf, logRecords } from '../../log/log-rows.ts'
import { statement, timed } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import {
  ENTERING,
  entriesOf,
  hasMoved,
  keyedEntries,
  type WriteStatement,
  writeStatement,
} from '../indexes/index.ts'
import { formerVersion } from './former-version.ts'
import { lockedType } from './locked-type.ts'
import { COLUMNS_BUT_DATA, type RowButData } from './record.ts'

const NEXT_VERSION = `1 + ${formerVersion(
  '$1',
  `SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C"`,
)}`
/** Where the server has just made some of the ids. */
const FIRST_OR_NEXT = `CASE WHEN i.is_new THEN 1 ELSE ${NEXT_VERSION} END`

const BY_ID = 'i.id COLLATE "C"'
const BY_PAIR = `i.external_source COLLATE "C", i.external_id COLLATE "C", ${BY_ID}`

/** Inserts the records of `from`, a row `i` for each, in an order, against deadlocks of concurrent writers. */
const inserted = (
  from: string,
  order = BY_ID,
  version = NEXT_VERSION,
): string => `INSERT INTO plinth.record AS r (base_id, record_type, id, external_source, external_id, data, version)
     SELECT $1, $2, i.id, i.external_source, i.external_id, i.data, ${version} FROM ${from} ORDER BY ${order}`

/** Replaces the content of records by that of `from`, with a row `i` for each; keeps the pair if `i` has none. */
const replaced = (from: string, where: string, valid = 'true'): string => `UPDATE plinth.record r
     SET data = i.data, version = r.version + 1, updated_at = now(), valid = ${valid},
       external_source = coalesce(i.external_source, r.external_source), external_id = coalesce(i.external_id, r.external_id)
     FROM ${from} WHERE ${where}`

const DIFFERS = `(r.data IS DISTINCT FROM i.data OR (i.external_id IS NOT NULL
         AND (r.external_source, r.external_id) IS DISTINCT FROM (i.external_source, i.external_id)))`

/**
 * Upsert of one record under preconditions. Locks the type's row (KEY SHARE) at the revision the data was validated
 * against, finds the target by pair, then by id, writes record and log row together, and returns the outcome as
 * `kind`. `retry` means a race with another writer; `stale_type` means that the schema has changed.
 */
export const PUT = writeStatement(
  'put_record',
  (entries) => `WITH ${lockedType('revision = $10')},
   s AS MATERIALIZED (SELECT * FROM ${FEW_RECORDS} WHERE base_id = $1 AND record_type = $2 AND id = $3),
   p AS MATERIALIZED (
     SELECT * FROM ${FEW_RECORDS}
     WHERE $6::text IS NOT NULL AND base_id = $1 AND record_type = $2 AND external_source = $5 AND external_id = $6
     ORDER BY id = $3 DESC LIMIT 1),
   t AS MATERIALIZED (
     SELECT p.*, true AS by_pair, EXISTS (SELECT FROM s WHERE s.id <> p.id) AS clash FROM p
     UNION ALL SELECT s.*, false, false FROM s WHERE NOT EXISTS (SELECT FROM p)),
   ins AS (
     ${inserted(`(SELECT $3::text AS id, $5::text AS external_source, $6::text AS external_id, $4::jsonb AS data) i
     WHERE EXISTS (SELECT FROM ty) AND NOT EXISTS (SELECT FROM t) AND $7::int[] IS NULL AND NOT $8::bool`)}
     ON CONFLICT DO NOTHING RETURNING r.*),
   upd AS (
     ${replaced(
       '(SELECT $5::text AS external_source, $6::text AS external_id, $4::jsonb AS data) i',
       // One row at most, and as a scalar: as a join the plan would read every record of the type.
       `r.base_id = $1 AND r.record_type = $2 AND r.id = (SELECT t.id FROM t WHERE NOT t.clash)
       AND EXISTS (SELECT FROM ty) AND NOT $9::bool AND ($7::int[] IS NULL OR r.version = ANY ($7))
       AND (NOT (SELECT t.by_pair FROM t) OR (r.external_source = $5 AND r.external_id = $6))
       AND ${DIFFERS}`,
     )}
     RETURNING r.*),
   w AS (SELECT 'create' AS op, ins.* FROM ins UNION ALL SELECT 'update', upd.* FROM upd),
   logged AS (${logRecords({ operation: 'w.op', author: authorAt(11) })})${entries}
   SELECT op || 'd' AS kind, ${COLUMNS_BUT_DATA} FROM w
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN clash THEN 'pair_taken' WHEN $9 AND by_pair THEN 'pair_taken'
       WHEN $9 THEN 'exists' WHEN $7::int[] IS NOT NULL AND version <> ALL ($7) THEN 'version_mismatch'
       WHEN data = $4::jsonb AND ($6::text IS NULL OR (external_source, external_id) IS NOT DISTINCT FROM ($5, $6)) THEN 'unchanged'
       ELSE 'retry' END, ${COLUMNS_BUT_DATA}
     FROM t WHERE NOT EXISTS (SELECT FROM w)
   UNION ALL
   SELECT CASE WHEN NOT EXISTS (SELECT FROM ty) THEN 'stale_type' WHEN $7::int[] IS NOT NULL OR $8 THEN 'not_found' ELSE 'retry' END,
     $3, NULL, NULL, 0, NULL, true, now(), now()
     WHERE NOT EXISTS (SELECT FROM t) AND NOT EXISTS (SELECT FROM w)`,
)

/** Result row of a writing statement. */
export type WrittenRow = RowButData
/** Result row of an upsert of many records. */
export type PutRow = WrittenRow & { readonly kind: 'created' | 'updated' | 'unchanged' }

type PutMany = {
  /**
   * CTEs that end in `i`: the records to write, with distinct `id`, `external_source`, `external_id` and `data`. They may
   * use `ty`, which has a row if the type has the revision `$3`.
   */
  readonly input: string
  /** Further columns of `i`, for the log, `done` and the answer. */
  readonly carried?: readonly string[]
  readonly author: string
  readonly cause?: string
  /** The records have pairs, and `is_new` for an id that the server has just made. */
  readonly isByPair?: boolean
  /** Writes all of them or none: no row is returned then. */
  readonly isAtomic?: boolean
  /** Returns no row for a record that has the data already. */
  readonly leavesOutUnchanged?: boolean
  /** CTEs that use `done`: `kind`, the columns of a record without data, and those carried. */
  readonly after?: string
  readonly answer?: string
  /** The parameter after the last, from which on the keys of index entries can be bound. */
  readonly keysAt?: number
}

/**
 * Upsert of many records of one type without preconditions. Locks them in id order, like every writer. Returns no row for
 * a record that does not have the pair any more, or that another writer creates at the same time. An atomic one returns no
 * rows at all if another writer has written one of the records during the wait for locks: the new row version has another
 * ctid, which the snapshot of the statement does not see. `locked` has the versions that the update replaces, also after such
 * a wait, so what moved is told from them.
 */
export function putMany(name: string, { input, carried = [], author, ...how }: PutMany): WriteStatement {
  const {
    isByPair = false,
    isAtomic = false,
    leavesOutUnchanged = false,
    cause,
    after,
    answer,
    keysAt = 0,
  } = how
  const columns = carried.map((column) => `, i.${column}`).join('')
  const isFree = isAtomic ? ' AND (SELECT free.all FROM free)' : ''
  const free = `
   free AS MATERIALIZED (
     SELECT EXISTS (SELECT FROM ty) AND count(*) = (SELECT count(*) FROM locked) AS all
     FROM locked l JOIN plinth.record r ON r.ctid = l.place),`
  const found = isAtomic
    ? 'r.ctid = l.place'
    : // The locks are counted, as a mere EXISTS would take the first of them only.
      `(SELECT count(*) FROM locked) > 0 AND r.base_id = $1 AND r.record_type = $2
       AND r.id = ANY (ARRAY(SELECT id FROM i)) AND r.id = i.id`
  const andHasPair = (r: string) =>
    isByPair ? ` AND (${r}.external_source, ${r}.external_id) = (i.external_source, i.external_id)` : ''
  const unchanged = `
     UNION ALL SELECT 'unchanged', ${COLUMNS_BUT_DATA.replace(/\w+/g, 'l.$&')}${columns} FROM locked l JOIN i ON i.id = l.id
     WHERE (SELECT count(*) FROM upd) < (SELECT count(*) FROM locked) AND l.id NOT IN (SELECT id FROM upd)${andHasPair('l')}${isFree}`
  return writeStatement(
    name,
    (entries, isKeyed = false) => `WITH ${lockedType('revision = $3')},
   ${input},
   locked AS MATERIALIZED (
     SELECT ${COLUMNS_BUT_DATA}, ctid AS place${isKeyed ? ', data' : ''} FROM ${FEW_RECORDS}
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY (ARRAY(SELECT id FROM i)) ORDER BY id FOR NO KEY UPDATE),${isAtomic ? free : ''}
   upd AS (
     ${replaced(
       isAtomic || isKeyed ? 'locked l JOIN i ON i.id = l.id' : 'i',
       `${found} AND r.data IS DISTINCT FROM i.data${andHasPair('r')}${isFree}`,
     )}
     RETURNING r.*${columns}${isKeyed ? `, ${hasMoved(keysAt, 'l', 'r')}` : ''}),
   ins AS (
     ${inserted(
       `i WHERE EXISTS (SELECT FROM ty) AND (SELECT count(*) FROM locked) < (SELECT count(*) FROM i)
       AND i.id NOT IN (SELECT id FROM locked)${isFree}`,
       ...(isByPair ? [BY_PAIR, FIRST_OR_NEXT] : []),
     )}
     ${isAtomic ? '' : 'ON CONFLICT DO NOTHING '}RETURNING r.*),
   w AS (
     SELECT 'update' AS op, upd.* FROM upd
     UNION ALL SELECT 'create', ins.*${columns}${isKeyed ? ', true' : ''} FROM ins${columns && ' JOIN i ON i.id = ins.id'}),
   logged AS (${logRecords({ operation: 'w.op', author, cause })}),
   done AS (
     SELECT op || 'd' AS kind, ${[COLUMNS_BUT_DATA, ...carried].join(', ')} FROM w${leavesOutUnchanged ? '' : unchanged})${after ? `,\n   ${after}` : ''}${entries}
   SELECT ${answer ?? `kind, ${COLUMNS_BUT_DATA}`} FROM done`,
    ENTERING,
    keysAt > 0 ? keyedEntries(keysAt, 'moved') : undefined,
  )
}

/**
 * The records of concurrent requests, each with the request and tool call that it came with. Arrays are in subqueries,
 * because the planner would make a custom plan for each length. Data is one JSON text, which is cheaper on both sides than
 * an array.
 */
const ofRequests = (pair: string): string => `FROM ROWS FROM (
       unnest((SELECT $4::text[]), (SELECT $6::text[]), (SELECT $10::jsonb[])${pair && ', (SELECT $11::text[]), (SELECT $12::text[])'}), jsonb_array_elements((SELECT $5::jsonb)))
       WITH ORDINALITY AS i (id, request_id, call${pair}, data, n)`
const WITH_PAIR = ofRequests(', external_source, external_id')
const WITHOUT_PAIR = `i AS MATERIALIZED (
     SELECT i.id COLLATE "C" AS id, i.data, NULL::text AS external_source, NULL::text AS external_id, i.request_id, i.call, i.n::int AS n
     ${ofRequests('')})`
const OF_REQUESTS = {
  carried: ['request_id', 'call', 'n'],
  author: authorOf('$7', '$8', '$9', 'w.request_id', 'w.call'),
  answer: `kind, n, ${COLUMNS_BUT_DATA}`,
}

/** Upserts records by id. Keeps the pairs. */
export const PUT_MANY = putMany('put_records', {
  ...OF_REQUESTS,
  input: WITHOUT_PAIR,
  leavesOutUnchanged: true,
  keysAt: 11,
})

/** The records that have the data already, for which `PUT_MANY` returns no row. The lateral join forces index look-ups. */
export const UNCHANGED_MANY = timed(
  statement(
    'unchanged_records',
    `WITH ${lockedType('revision = $3')}
   SELECT 'unchanged' AS kind, i.n::int AS n, r.*
   FROM ROWS FROM (unnest((SELECT $4::text[])), jsonb_array_elements((SELECT $5::jsonb))) WITH ORDINALITY AS i (id, data, n),
   LATERAL (
     SELECT ${COLUMNS_BUT_DATA} FROM ${FEW_RECORDS}
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = i.id COLLATE "C" AND data = i.data LIMIT 1) r`,
  ),
)

/**
 * CTE of the rows of `sent`, each with the id of the record that has its pair, if one has, else with its own new id.
 * LATERAL, because a join might read all records of the type.
 */
export const foundByPair = (columns: string): string => `i AS MATERIALIZED (
     SELECT coalesce(p.id, s.id) COLLATE "C" AS id, p.id IS NULL AS is_new, ${columns} FROM sent s LEFT JOIN LATERAL (
       SELECT id FROM ${FEW_RECORDS}
       WHERE base_id = $1 AND record_type = $2 AND external_source = s.external_source COLLATE "C" AND external_id = s.external_id COLLATE "C" LIMIT 1) p ON true)`

/** Upserts records by pair. Each has a new id, in case that no record has the pair. */
export const PUT_MANY_BY_PAIR = putMany('put_records_by_pair', {
  ...OF_REQUESTS,
  input: `sent AS MATERIALIZED (SELECT i.* ${WITH_PAIR}),
   ${foundByPair('s.external_source, s.external_id, s.data, s.request_id, s.call, s.n::int AS n')}`,
  isByPair: true,
})

/** Upserts the records of a batch by id, without a prior read. */
export const PUT_BATCH = putMany('batch_put_records', {
  input: `i AS MATERIALIZED (
     SELECT i.id COLLATE "C" AS id, i.data, NULL::text AS external_source, NULL::text AS external_id
     FROM ROWS FROM (unnest((SELECT $4::text[])), jsonb_array_elements((SELECT $5::jsonb))) AS i (id, data))`,
  author: authorAt(6),
  isAtomic: true,
  keysAt: 11,
})

const createMany = (
  name: string,
  keysAt: number,
  input: string,
  order: string,
  version: string,
): WriteStatement =>
  writeStatement(
    name,
    (entries) => `WITH ${lockedType('revision = $3')},
   ${input},
   ins AS (${inserted('i WHERE EXISTS (SELECT FROM ty)', order, version)} ON CONFLICT DO NOTHING RETURNING r.*),
   w AS (SELECT ins.*, i.request_id, i.call, i.n FROM ins JOIN i ON i.id = ins.id),
   logged AS (${logRecords({ operation: "'create'", author: OF_REQUESTS.author })})${entries}
   SELECT n, ${COLUMNS_BUT_DATA} FROM w`,
    ENTERING,
    keyedEntries(keysAt),
  )

/** Inserts records. Returns no row when the id or the pair is taken, or the revision of the type is stale. */
export const CREATE_MANY = createMany(
  'create_records',
  13,
  `i AS MATERIALIZED (
     SELECT i.id COLLATE "C" AS id, i.data, i.external_source, i.external_id, i.request_id, i.call, i.n::int AS n
     ${WITH_PAIR})`,
  ...([BY_PAIR, NEXT_VERSION] as const),
)
/** Inserts records without pairs, under ids that the server has just made. */
export const CREATE_NEW = createMany('create_new_records', 11, WITHOUT_PAIR, 'i.n', '1')

/** The columns that a write to locked records returns, with their place (`ctid`). */
export const WRITTEN_PLACE = 'id, version, place::text AS place, updated_at'

// The type and the records of the following are locked already.

/** Creates records of a batch. A concurrent insert causes a unique violation, and the transaction is retried. */
export const CREATE_BATCH = writeStatement(
  'batch_create_records',
  (entries) => `WITH w AS (
     ${inserted(
       `ROWS FROM (unnest((SELECT $3::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::boolean[])), jsonb_array_elements((SELECT $4::jsonb)))
       AS i (id, external_source, external_id, is_new, data)`,
       BY_PAIR,
       FIRST_OR_NEXT,
     )}
     RETURNING *, ctid AS place),
   logged AS (${logRecords({ operation: "'create'", author: authorAt(8) })})${entries}
   SELECT ${WRITTEN_PLACE} FROM w`,
  ENTERING,
  keyedEntries(13),
)

/**
 * Replaces the content of records of a batch. Skips unchanged records. Rows are located by ctid, which the row lock keeps
 * stable, so the key is not looked up again.
 */
export const REPLACE_BATCH = writeStatement(
  'batch_update_records',
  (entries) => `WITH w AS (
     ${replaced(
       `ROWS FROM (unnest((SELECT $3::text[]), (SELECT $7::tid[]), (SELECT $5::text[]), (SELECT $6::text[])), jsonb_array_elements((SELECT $4::jsonb)))
       AS i (id, place, external_source, external_id, data)`,
       // Base and type are compared in a form that uses no index, so that the plan stays with the place.
       `r.ctid = i.place AND r.id = i.id COLLATE "C" AND (r.base_id, r.record_type) IS NOT DISTINCT FROM ($1::text, $2::text)
       AND ${DIFFERS}`,
     )}
     RETURNING r.*, r.ctid AS place),
   logged AS (${logRecords({ operation: "'update'", author: authorAt(8) })})${entries}
   SELECT ${WRITTEN_PLACE} FROM w`,
  ENTERING,
  keyedEntries(13),
)

/** Rewrites records for another schema: `$3` is a list of `{id, data, valid, cause}`. */
export const REWRITE = statement(
  'rewrite_records',
  `WITH w AS (
     ${replaced(
       `(SELECT *, NULL::text AS external_source, NULL::text AS external_id
       FROM jsonb_to_recordset($3::jsonb) AS n (id text, data jsonb, valid boolean, cause text)) i`,
       'r.base_id = $1 AND r.record_type = $2 AND r.id = i.id COLLATE "C"',
       'i.valid',
     )}
     RETURNING r.*, i.cause),
   ${entriesOf('w')}
   ${logRecords({ operation: "'update'", author: authorAt(4), cause: 'w.cause' })}`,
)
