import type { World } from './world.ts'

/** What authentication and background work write, what says how much was used, and the rights of tables for SQL. */
const OF_REQUESTS = ['token', 'call', 'usage', 'usage_position', 'sign_in_code', 'trigger_relay', 'sql_grant']

/** A digest of the rows of each table. */
export async function digestOf(
  { database }: World,
  skip: readonly string[] = OF_REQUESTS,
): Promise<Record<string, string>> {
  const tables = await database.query<{ table: string }>(
    `SELECT relname AS "table" FROM pg_class
     WHERE relnamespace = 'plinth'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  )
  const digests: Record<string, string> = {}
  for (const { table } of tables.filter((each) => !skip.includes(each.table))) {
    const [row] = await database.query<{ rows: string }>(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM plinth."${table}" t`,
    )
    digests[table] = row?.rows ?? ''
  }
  return digests
}
