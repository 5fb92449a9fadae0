/** Tokens with a policy of their writes, and what they must not change. */
import type { World } from './world.ts'

/** What is no content: requests for a review, credentials that read, and what a server notes for itself. */
const OF_SERVER = new Set(['call', 'review_request', 's3_credential', 'sql_grant', 'trigger_relay', 'usage'])

/** A digest of the rows of production, by table. */
export async function productionRows(world: World, base: string): Promise<Record<string, string>> {
  const tables = await world.database.query<{ table: string }>(
    `SELECT c.relname AS "table" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'plinth'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'base_id' ORDER BY 1`,
  )
  const digests: Record<string, string> = {}
  for (const { table } of tables) {
    if (OF_SERVER.has(table) || table.startsWith('draft_')) continue
    const steps = table === 'change' ? ` AND kind NOT IN ('preview', 'review_request')` : ''
    const [row] = await world.database.query<{ rows: string }>(
      `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM plinth.${table} t WHERE base_id = $1${steps}`,
      [base],
    )
    digests[table] = row?.rows ?? ''
  }
  const [row] = await world.database.query<{ rows: string }>(
    `SELECT md5(string_agg(b::text, ' ')) || (SELECT count(*) FROM plinth.token) AS rows FROM plinth.base b WHERE id = $1`,
    [base],
  )
  return { ...digests, base: row?.rows ?? '' }
}

const ELSEWHERE = { record_type: 'note', operations: ['create', 'update', 'cancel', 'restore', 'delete'] }
/** Grants that write nothing of deals, tasks and so on to production by themselves. */
export const WITH_POLICIES: Record<string, object[]> = {
  proposes: [{ permission: 'write', writes: 'propose' }],
  'proposes, and manages previews': [
    { permission: 'write', writes: 'propose' },
    { permission: 'admin', environment: 'preview' },
  ],
  'has rules for other types': [
    { permission: 'write', writes: { auto: [{ ...ELSEWHERE, max: 1000, per: 'hour' }] } },
    { permission: 'admin', environment: 'preview' },
  ],
  'has rules for other types than its grant': [
    {
      permission: 'write',
      record_type: ['note'],
      writes: { auto: [{ ...ELSEWHERE, record_type: '*', max: 1000, per: 'hour' }] },
    },
    { permission: 'read' },
    { permission: 'admin', environment: 'preview' },
  ],
}
