/** Columns of `changes` with data, of which two compare a change with the one before it: a look-up for each row, where selected. */
import { COLUMNS } from '../../../../contract/record-columns.ts'
import { quoteText } from '../syntax/names.ts'

/** The entry before, by the index on the entries of its kind. The row of the relation is `c`. */
const before = (what: string): string => {
  const newest = (of: string, order: string) => `(SELECT ${NEEDED} FROM plinth_sql.change p
      WHERE p.base_id = c.base COLLATE "C" AND p.id = c.id COLLATE "C" AND ${of} ORDER BY p.${order} DESC LIMIT 1)`
  return `(SELECT ${what} FROM (SELECT base_id AS base, kind, record_type AS type, id, version, seq, data, status, external_id, external_source) AS c
    CROSS JOIN LATERAL (
      ${newest(`c.kind = 'record' AND p.kind = 'record' AND p.record_type = c.type COLLATE "C" AND p.version < c.version`, 'version')}
      UNION ALL ${newest(`c.kind = 'relationship' AND p.kind = 'relationship' AND p.version < c.version`, 'version')}
      UNION ALL ${newest(`c.kind NOT IN ('record', 'relationship') AND p.kind NOT IN ('record', 'relationship') AND p.kind = c.kind AND p.seq < c.seq`, 'seq')}) AS p
    WHERE p.operation <> 'delete')`
}
const NEEDED = 'p.operation, p.data, p.status, p.external_id, p.external_source'

/** Records and links are logged in the names of the wire. The rest has its names in camelCase. */
const onWire = "kind IN ('record', 'relationship')"
const snake = (name: string) => `lower(regexp_replace(${name}, '([A-Z])', '_\\1', 'g'))`
const wireData = (data: string) => `CASE WHEN ${onWire} OR jsonb_typeof(${data}) <> 'object' THEN ${data}
    ELSE (SELECT jsonb_object_agg(${snake('m.key')}, m.value) FROM jsonb_each(${data}) AS m) END`

/** What the change replaced, or what a deletion took; null for a creation, and once it is purged. */
const DATA_BEFORE = `CASE WHEN operation = 'delete' THEN ${wireData('data')} WHEN operation <> 'create' THEN ${before(wireData('p.data').replaceAll(onWire, `c.${onWire}`))} END`

const own = COLUMNS.map(quoteText).join(', ')
const differs = (column: string) => `SELECT '${column}' WHERE c.${column} IS DISTINCT FROM p.${column}`

/** The names of what differs, in order: of a record, the names of its SQL columns. */
const NAMES = `CASE WHEN jsonb_typeof(c.data) = 'object' AND jsonb_typeof(p.data) = 'object' THEN ARRAY(
      SELECT n.name FROM (
        SELECT CASE WHEN c.kind = 'record' AND coalesce(x.key, y.key) IN ('data', ${own}) THEN 'data_' ELSE '' END || CASE WHEN c.${onWire} THEN coalesce(x.key, y.key) ELSE ${snake('coalesce(x.key, y.key)')} END AS name
        FROM jsonb_each(c.data) AS x FULL JOIN jsonb_each(p.data) AS y ON x.key = y.key
        WHERE x.value IS DISTINCT FROM y.value
          AND (c.kind IN ('record', 'relationship') OR coalesce(x.key, y.key) NOT IN ('version', 'updatedAt'))
        UNION ALL ${['status', 'external_id', 'external_source'].map(differs).join(' UNION ALL ')}) AS n
      ORDER BY n.name COLLATE "C") END`

const CHANGED = `CASE WHEN operation NOT IN ('create', 'delete') THEN ${before(NAMES)} END`

/** By the name of the column. */
export const PREVIOUS_STATE: Readonly<Record<string, string>> = {
  data: wireData('data'),
  data_before: DATA_BEFORE,
  changed: CHANGED,
}
