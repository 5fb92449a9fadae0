import { Parameters } from '../../src/engine/data/filter/parameters.ts'
import { compileSearch } from '../../src/engine/data/search/compile.ts'
import { textEntries, textEntriesGone } from '../../src/engine/data/search/entries.ts'
import { searchWords } from '../../src/engine/data/search/words.ts'
import { cloneDatabase } from './database.ts'

export type Hit = { id: string; score: number }

/** Creates a type with a text index on the paths, to compare search through the index with a scan. */
export async function openSearch(paths: readonly (readonly (string | number | null)[])[]) {
  const database = await cloneDatabase()
  await database.query(`INSERT INTO plinth.base (id, name, environment, settings)
    VALUES ('crm', 'crm', 'production', '{}'), ('other', 'other', 'production', '{}')`)
  await database.query(`INSERT INTO plinth.record_type (base_id, id, portable_id, graphql_name, name, json_schema, timezone, display)
    SELECT id, 'doc', 'doc', 'doc', 'doc', '{}', 'UTC', '{}' FROM plinth.base`)
  const fields = JSON.stringify(paths.map((path) => ({ field: JSON.stringify(path), path })))
  const indexes = await database.query<{ base_id: string; id: string }>(
    `INSERT INTO plinth.record_type_index (base_id, record_type, position, kind, fields, status)
     SELECT id, 'doc', 0, 'text', $1, 'ready' FROM plinth.base RETURNING base_id, id::text`,
    [fields],
  )
  const indexOf = (base: string) => indexes.find(({ base_id }) => base_id === base)?.id ?? ''

  /** Writes records with their index entries, as the product does. Replaces existing ones. */
  const put = (records: Readonly<Record<string, unknown>>, base = 'crm') =>
    database.query(
      `WITH w AS (
         INSERT INTO plinth.record AS r (base_id, record_type, id, data, version)
         SELECT $1, $2, id, data, 1 FROM unnest($3::text[], $4::jsonb[]) AS i (id, data)
         ON CONFLICT (base_id, record_type, id) DO UPDATE SET data = excluded.data RETURNING r.*), ${textEntries('w')}
       SELECT FROM w`,
      [base, 'doc', Object.keys(records), Object.values(records).map((data) => JSON.stringify(data))],
    )
  const remove = (ids: readonly string[]) =>
    database.query(
      `WITH w AS (DELETE FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = ANY ($3) RETURNING *),
         ${textEntriesGone('w')} SELECT FROM w`,
      ['crm', 'doc', ids],
    )

  async function run(query: string, field: number, sql: string, through: 'index' | 'scan', base: string) {
    const parameters = new Parameters()
    const baseParam = parameters.add(base)
    const { matches, score } = compileSearch({
      words: searchWords(query),
      text: () => sql,
      sized: null,
      parameters,
      index: through === 'index' ? { id: indexOf(base), field, baseParam } : null,
    })
    const where = `r.base_id = ${baseParam} AND r.record_type = 'doc' AND ${matches}`
    const [total] = await database.query<{ total: number }>(
      `SELECT count(*)::int AS total FROM plinth.record r WHERE ${where}`,
      parameters.values,
    )
    const hits = await database.query<Hit>(
      `SELECT r.id, ${score} AS score FROM plinth.record r WHERE ${where} ORDER BY score DESC, r.id`,
      parameters.values,
    )
    return { hits, total: total?.total }
  }
  /** The hits of index and scan, best first. `sql` is the indexed expression of `field`. */
  const search = async (query: string, { field = 0, sql = "r.data -> 'title'", base = 'crm' } = {}) => ({
    index: await run(query, field, sql, 'index', base),
    scan: await run(query, field, sql, 'scan', base),
  })
  return { database, put, remove, search }
}
