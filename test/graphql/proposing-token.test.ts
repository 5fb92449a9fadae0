// @module-tag full
/** A token that proposes, or whose rules let nothing of it pass, changes nothing of production by any mutation. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillGraph, MUTATIONS } from '../support/graph-samples.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let upstream: Upstream
let documentOf: (sample: string, dry: string) => string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_RATE_LIMIT: '0', PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  documentOf = await fillGraph(world, upstream)
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

/** What is no content: requests for a review, credentials that read, and what a server notes for itself. */
const OF_SERVER = new Set(['call', 'review_request', 's3_credential', 'sql_grant', 'trigger_relay', 'usage'])

/** A digest of the rows of production, by table. */
async function rowsOf(base: string): Promise<Record<string, string>> {
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
const TOKENS: Record<string, object[]> = {
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

test.each(Object.keys(TOKENS))('no mutation of a token that %s', async (name) => {
  const { call } = await world.newToken(TOKENS[name] as never)
  let done = 0
  const differing: string[] = []
  for (const [field, sample] of Object.entries(MUTATIONS)) {
    const before = await rowsOf('crm')
    const query = `mutation { ${documentOf(sample, '')} }`
    const { body } = await call('POST', '/graphql', { query })
    if (!body.errors) done++
    else
      expect(body.errors[0].extensions?.code, `${field} ${JSON.stringify(body.errors)}`).not.toBe(
        'INTERNAL_ERROR',
      )
    const after = await rowsOf('crm')
    for (const [table, rows] of Object.entries(after))
      if (rows !== before[table]) differing.push(`${field}: ${table}`)
  }
  expect(differing).toEqual([])
  // Those of records are proposed.
  expect(done).toBeGreaterThan(10)
})
