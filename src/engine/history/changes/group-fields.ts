/** Which properties the changes of a group changed, and from what to what where all of them agree. */
import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import type { SeqRange } from '../../log/ranges.ts'
import { shaped } from '../../storage/database/client.ts'
import type { Conditions, GroupKey } from './find-groups.ts'
import { askedOf, entriesOf } from './undone-groups.ts'

/** A property that updates of records changed. `from` and `to` are present where all of them share the value. */
export type GroupField = { recordType: string; path: string; count: number; from?: unknown; to?: unknown }

type Row = {
  n: number
  record_type: string
  path: string
  count: number
  is_same_from: boolean
  is_same_to: boolean
  from: string | null
  to: string | null
}

/** A value as JSON text that is short: of long strings, objects and lists the beginning of their text. */
const shown = (
  value: string,
) => `min(CASE WHEN jsonb_typeof(${value}) = 'string' THEN to_jsonb(left(${value} #>> '{}', ${LIMITS.titleChars}))
       WHEN jsonb_typeof(${value}) IN ('object', 'array') AND length(${value}::text) > ${LIMITS.titleChars}
         THEN to_jsonb(left(${value}::text, ${LIMITS.titleChars})) ELSE ${value} END::text)`
/** Whether all have the value, or none has one. By a hash: the values can be long. */
const isSame = (value: string) =>
  `count(${value}) IN (0, count(*)) AND min(jsonb_hash_extended(${value}, 0)) IS NOT DISTINCT FROM max(jsonb_hash_extended(${value}, 0))`

/**
 * The properties at the top of `data` that updates changed: of each group the most frequent. Each entry is compared with the one
 * before it, which an index finds. Of a large group, only the newest entries are. The keys are in the list of results, because
 * a join with them would hash all data.
 */
const fieldsOf = (
  conditions: string,
) => `SELECT n, record_type, path, count, is_same_from, is_same_to, "from", "to" FROM (
   SELECT n, record_type, '/data/' || replace(replace(key, '~', '~0'), '/', '~1') AS path, count(*)::int AS count,
     ${isSame('(x -> key)')} AS is_same_from, ${isSame('(y -> key)')} AS is_same_to, ${shown('(x -> key)')} AS "from", ${shown('(y -> key)')} AS "to",
     row_number() OVER (PARTITION BY n ORDER BY count(*) DESC, record_type, key) AS rank
   FROM (
     SELECT g.n::int AS n, c.record_type, p.data AS x, c.data AS y, jsonb_object_keys(p.data || c.data) AS key
     FROM ${entriesOf(` AND kind = 'record' AND operation = 'update'${conditions} ORDER BY request_id COLLATE "C" DESC, seq DESC LIMIT ${LIMITS.groupFieldEntries}`, 'record_type, id, version, data')}
     CROSS JOIN LATERAL (
       SELECT data FROM plinth.change p
       WHERE p.kind = 'record' AND p.base_id = $1 AND p.record_type = c.record_type COLLATE "C" AND p.id = c.id COLLATE "C" AND p.version < c.version
       ORDER BY p.version DESC LIMIT 1) p
     WHERE p.data IS NOT NULL AND c.data IS NOT NULL OFFSET 0) d
   WHERE x -> key IS DISTINCT FROM y -> key
   GROUP BY n, record_type, key) f
   WHERE rank <= ${LIMITS.groupFields} ORDER BY n, rank`

/** The changed properties of groups, by the number of the group from 0. */
export async function readGroupFields(
  scope: Scope,
  baseId: string,
  conditions: Conditions,
  range: SeqRange,
  keys: readonly GroupKey[],
): Promise<Map<number, GroupField[]>> {
  if (keys.length === 0) return new Map()
  const { text, values } = conditions(9)
  const asked = [...askedOf(baseId, range, keys), ...values]
  const rows = await read<Row>(scope, shaped(fieldsOf(text)), asked)
  return new Map([...Map.groupBy(rows, ({ n }) => n - 1)].map(([n, all]) => [n, all.map(toField)]))
}

const toField = ({ record_type, path, count, from, to, ...row }: Row): GroupField => ({
  recordType: record_type,
  path,
  count,
  ...(row.is_same_from && { from: from === null ? null : JSON.parse(from) }),
  ...(row.is_same_to && { to: to === null ? null : JSON.parse(to) }),
})
