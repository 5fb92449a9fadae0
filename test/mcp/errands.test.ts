// @module-tag full
/** Errands in business language, played as scripts by a client that sees six tools and an outline. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep, succeed, times } from '../support/answers.ts'
import { createCrm } from '../support/crm.ts'
import { connect, type McpClient } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { tokensOf, tokensOfTools } from '../support/tokens.ts'
import { openWorld, type World } from '../support/world.ts'

/** What such errands cost a model that has two SQL tools over a PostgreSQL server of its own. */
const BARE_SQL = { callsOfAnErrand: 30 / 17, tokensOfAnErrand: 2300 }

let world: World
let importer: World['call']
/** An address that a model works at, and the tokens that it reads once: the outline and the tools. */
type Address = { client: McpClient; fixed: number }
let lean: Address
/** Files have no SQL, and so an address of their own tools. */
let files: Address
const spent: { errand: string; calls: number; tokens: number }[] = []

beforeAll(async () => {
  world = await openWorld()
  await createCrm(world, 'sales')
  succeed(await world.call('POST', '/v1/sales/batch', { operations: stock() }))
  const made = await world.newToken([{ base: 'sales', permission: 'write' }], { name: 'importer' })
  importer = made.call
  succeed(await world.call('PUT', '/v1/sales/file-types/contracts', {}), 201)
  for (const n of times(5, (each) => each)) {
    const days = n === 3 ? 30 : 90
    const text = `# Contract ${n}\n\nThe notice period is ${days} days.\n`
    const path = `/v1/sales/files/contracts/2026/c${n}.md`
    succeed(await world.call('PUT', path, text, { 'content-type': 'text/markdown' }), 201)
  }
  lean = await openAddress('/mcp/sales?profile=lean')
  files = await openAddress('/mcp/sales?tools=list_files,get_file,put_file,edit_file')
})
afterAll(async () => {
  await lean.client.close()
  await files.client.close()
  await world.close()
})

async function openAddress(path: string): Promise<Address> {
  const client = await connect(world.url, world.adminToken, 'v1', path)
  const { tools } = await client.listTools()
  return { client, fixed: tokensOf(client.getInstructions() ?? '') + tokensOfTools(tools) }
}

const record = (type: string, id: string, data: object) => ({
  type: 'upsert_record',
  record_type: type,
  id,
  data,
})
const link = (relType: string, [source, sourceId]: string[], [target, targetId]: string[]) => ({
  type: 'upsert_relationship',
  rel_type: relType,
  source_record_type: source,
  source_id: sourceId,
  target_record_type: target,
  target_id: targetId,
})

/** 20 companies with a contact and two deals each, and 40 tickets. */
function stock(): object[] {
  return [
    ...times(20, (n) =>
      record('company', `c${n}`, { name: `Company ${n}`, industry: 'retail', tags: ['eu'] }),
    ),
    ...times(20, (n) => record('contact', `p${n}`, { name: `Person ${n}`, email: `p${n}@example.com` })),
    ...times(40, (n) =>
      record('deal', `d${n}`, {
        title: `Deal ${n}`,
        stage: n % 4 === 0 ? 'won' : 'proposal',
        amount: 1000 * (n + 1),
        expected_close: '2026-12-31',
      }),
    ),
    ...times(40, (n) =>
      record('ticket', `t${n}`, {
        subject: n === 7 ? 'The printer is on fire' : `Question ${n}`,
        body: n === 7 ? 'Smoke comes out of the printer in the lobby.' : 'How do I export my data?',
        status: n < 30 ? 'open' : 'closed',
        priority: 'normal',
        due: n < 10 ? '2026-01-05T09:00:00Z' : '2099-01-05T09:00:00Z',
      }),
    ),
    ...times(20, (n) => link('works_at', ['contact', `p${n}`], ['company', `c${n}`])),
    ...times(40, (n) => link('deal_company', ['deal', `d${n}`], ['company', `c${n % 20}`])),
    ...times(40, (n) => link('requested_by', ['ticket', `t${n}`], ['contact', `p${n % 20}`])),
  ]
}

type Call = (tool: string, args: object) => Promise<Body>

/** Plays an errand. Counts its calls, and the tokens of arguments and answers. No call may be refused. */
function errand(
  what: string,
  calls: number,
  play: (call: Call) => Promise<void>,
  at: () => Address = () => lean,
): void {
  test(`${what}, in ${calls} calls at most`, async () => {
    const { client, fixed } = at()
    const seen = { errand: what, calls: 0, tokens: fixed }
    await play(async (name, args) => {
      const answer = await client.callTool({ name, arguments: { ...args } })
      const text: string = answer.content[0].text
      expect(answer.isError, text).toBeFalsy()
      seen.calls++
      seen.tokens += tokensOf(JSON.stringify({ name, arguments: args })) + tokensOf(text)
      return answer.structuredContent
    })
    expect(seen.calls).toBeLessThanOrEqual(calls)
    spent.push(seen)
  })
}

const read = async (path: string): Promise<Body> => succeed(await world.call('GET', `/v1/sales/${path}`))
const dataOf = async (path: string): Promise<Body> => (await read(`records/${path}`)).data
const rowsOf = (type: string, filter: object): Promise<Body[]> =>
  read(`records/${type}?limit=1000&filter=${encodeURIComponent(JSON.stringify(filter))}`).then(
    ({ data }) => data,
  )

errand('How much is in each stage of the pipeline?', 1, async (call) => {
  const { data } = await call('sql_query', {
    query: 'SELECT stage, count(*) AS deals, sum(amount) AS total FROM deal GROUP BY stage ORDER BY stage',
  })
  expect(data).toEqual([
    { stage: 'proposal', deals: 30, total: 630_000 },
    { stage: 'won', deals: 10, total: 190_000 },
  ])
})

errand('Make every open ticket urgent that is overdue', 1, async (call) => {
  const { data } = await call('sql_write', {
    statements: `UPDATE ticket SET priority = 'urgent' WHERE data_status = 'open' AND due < now()`,
  })
  expect(data[0]).toMatchObject({ operation: 'update', count: 10 })
  expect(await rowsOf('ticket', { field: 'data.priority', op: 'eq', value: 'urgent' })).toHaveLength(10)
  expect((await dataOf('ticket/t11')).priority).toBe('normal')
})

errand('Take in these leads, each address once', 1, async (call) => {
  const rows = times(5, (n) => ({ id: `lead-${n}`, name: `Lead ${n}`, email: `p${n + 17}@example.com` }))
  await call('sql_write', {
    statements: `INSERT INTO contact (external_source, external_id, name, email)
      SELECT 'leads', l.id, l.name, l.email FROM jsonb_to_recordset(:rows) AS l(id text, name text, email text)
      WHERE NOT EXISTS (SELECT FROM contact c WHERE c.email = l.email)
      ON CONFLICT (external_source, external_id) DO NOTHING RETURNING name`,
    params: { rows },
  })
  const emails = (await rowsOf('contact', { field: 'id', op: 'is_not_null' })).map(({ data }) => data.email)
  expect(emails).toHaveLength(22)
  expect(new Set(emails).size).toBe(22)
})

errand('Tag companies as key accounts that have won deals above 30,000', 1, async (call) => {
  await call('sql_write', {
    statements: `UPDATE company c SET tags = c.tags || '["key"]' FROM relationships r JOIN deal d ON d.id = r.source_id
      WHERE r.rel_type = 'deal_company' AND r.target_id = c.id AND d.stage = 'won' AND d.amount > 30000`,
  })
  const tagged = await rowsOf('company', { field: 'data.tags', op: 'has', value: 'key' })
  expect(tagged.map(({ id }) => id).sort()).toEqual(['c12', 'c16'])
  expect(tagged[0].data.tags).toEqual(['eu', 'key'])
})

errand('Enter the new customer Acme, its contact and a deal over 5,000', 1, async (call) => {
  await call('sql_write', {
    statements: `INSERT INTO company (id, name) VALUES ('acme', 'Acme');
      INSERT INTO contact (id, name, email) VALUES ('jo', 'Jo', 'jo@acme.example');
      INSERT INTO deal (id, title, stage, amount) VALUES ('acme-1', 'First order', 'lead', 5000);
      INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id)
        VALUES ('works_at', 'contact', 'jo', 'company', 'acme'), ('deal_company', 'deal', 'acme-1', 'company', 'acme')`,
  })
  const { data } = await read('records/company/acme/related?direction=incoming')
  expect(data.map(({ record: { id } }: Body) => id).sort()).toEqual(['acme-1', 'jo'])
})

errand('Delete the closed tickets', 2, async (call) => {
  const plan = await call('sql_write', { statements: `DELETE FROM ticket WHERE data_status = 'closed'` })
  expect(await rowsOf('ticket', { field: 'data.status', op: 'eq', value: 'closed' })).toHaveLength(10)
  await call('sql_write', { plan_token: plan.plan_token })
  expect(await rowsOf('ticket', { field: 'data.status', op: 'eq', value: 'closed' })).toHaveLength(0)
  expect(await rowsOf('ticket', { field: 'data.status', op: 'eq', value: 'open' })).toHaveLength(30)
})

errand('What was deleted today, and by whom?', 1, async (call) => {
  const { data } = await call('sql_query', {
    query: `SELECT record_type, actor_name, count(*) AS n FROM changes
      WHERE operation = 'delete' AND kind = 'record' AND at > now() - interval '1 day' GROUP BY 1, 2`,
  })
  expect(data).toEqual([{ record_type: 'ticket', actor_name: 'admin', n: 10 }])
})

errand('The importer halved all amounts: take that back, and nothing else', 2, async (call) => {
  const halved = times(40, (n) => ({
    type: 'patch_record',
    record_type: 'deal',
    id: `d${n}`,
    data: { amount: 500 * (n + 1) },
  }))
  succeed(await importer('POST', '/v1/sales/batch', { operations: halved }))
  succeed(await world.call('PATCH', '/v1/sales/records/company/c3', { data: { industry: 'energy' } }))
  const plan = await call('undo', { actor: 'importer', since: '1h', record_type: 'deal' })
  expect((await dataOf('deal/d39')).amount).toBe(20_000)
  await call('undo', { plan_token: plan.plan_token })
  expect((await dataOf('deal/d39')).amount).toBe(40_000)
  expect((await dataOf('company/c3')).industry).toBe('energy')
})

errand('Company 5 became a part of company 6: move its open deals and its people there', 1, async (call) => {
  const { data } = await call('sql_write', {
    statements: `UPDATE relationships r SET target_id = 'c6' FROM deal d WHERE r.rel_type = 'deal_company'
        AND r.source_id = d.id AND r.target_id = 'c5' AND d.stage NOT IN ('won', 'lost');
      UPDATE relationships SET target_id = 'c6' WHERE rel_type = 'works_at' AND target_id = 'c5'`,
  })
  expect(data.map(({ count }: Body) => count)).toEqual([2, 1])
  const { data: moved } = await read('records/company/c6/related?direction=incoming')
  expect(moved.map(({ record: { id } }: Body) => id).sort()).toEqual(['d25', 'd26', 'd5', 'd6', 'p5', 'p6'])
})

errand('Keep one contact of each address, with the tickets of the others', 2, async (call) => {
  const double = { name: 'Person 3', email: 'p3@example.com' }
  succeed(await world.call('PUT', '/v1/sales/records/contact/p3-again', { data: double }), 201)
  const asked = { subject: 'Hello?', body: '', status: 'open', priority: 'normal' }
  const by = [{ rel_type: 'requested_by', record_type: 'contact', id: 'p3-again' }]
  succeed(
    await world.call('PUT', '/v1/sales/records/ticket/t-again', { data: asked, relationships: by }),
    201,
  )
  const { data } = await call('sql_query', {
    query: `SELECT array_agg(id ORDER BY created_at) AS ids FROM contact GROUP BY email HAVING count(*) > 1`,
  })
  const [{ ids }] = data
  await call('sql_write', {
    statements: `UPDATE relationships SET target_id = :kept WHERE target_id = :other AND target_record_type = 'contact';
      DELETE FROM contact WHERE id = :other`,
    params: { kept: ids[0], other: ids[1] },
  })
  expect(ids).toEqual(['p3', 'p3-again'])
  const { data: tickets } = await read('records/ticket/t-again/related?rel_type=requested_by')
  expect(tickets.map(({ record: { id } }: Body) => id)).toEqual(['p3'])
})

errand('Somebody deleted contact p6 today: bring it back as it was', 3, async (call) => {
  succeed(await importer('DELETE', '/v1/sales/records/contact/p6'))
  const { data } = await call('sql_query', {
    query: `SELECT seq, actor_name FROM changes WHERE record_type = 'contact' AND id = 'p6' AND operation = 'delete'`,
  })
  expect(data).toMatchObject([{ actor_name: 'importer' }])
  const plan = await call('undo', { seq: data[0].seq })
  await call('undo', { plan_token: plan.plan_token })
  const { data: companies } = await read('records/contact/p6/related?rel_type=works_at')
  expect(companies.map(({ record: { id } }: Body) => id)).toEqual(['c6'])
})

errand('What did deal d8 cost before the importer touched it?', 1, async (call) => {
  const { data } = await call('sql_query', {
    query: `SELECT data->>'amount' AS amount, actor_name, version FROM changes
      WHERE record_type = 'deal' AND id = 'd8' ORDER BY seq LIMIT 1`,
  })
  expect(data).toMatchObject([{ amount: '9000', version: 1 }])
})

errand('Give companies a region, DACH for all in retail', 2, async (call) => {
  await call('define', {
    record_type: 'company',
    json_schema: { properties: { region: { type: 'string', enum: ['DACH', 'other'] } } },
  })
  await call('sql_write', { statements: `UPDATE company SET region = 'DACH' WHERE industry = 'retail'` })
  expect(await rowsOf('company', { field: 'data.region', op: 'eq', value: 'DACH' })).toHaveLength(19)
  const { json_schema } = await read('record-types/company')
  expect(json_schema.required).toEqual(['name'])
  expect(Object.keys(json_schema.properties)).toContain('tags')
})

errand('Work on the most urgent ticket and solve it', 3, async (call) => {
  const { data } = await call('work', {
    action: 'claim',
    record_type: 'ticket',
    filter: { field: 'data.priority', op: 'eq', value: 'urgent' },
    sort: 'data.due',
  })
  const [{ record: ticket, claim }] = data
  await call('sql_write', {
    statements: `UPDATE ticket SET data_status = 'solved' WHERE id = :id`,
    params: { id: ticket.id },
  })
  await call('work', { action: 'complete', claim_id: claim.id })
  expect((await dataOf(`ticket/${ticket.id}`)).status).toBe('solved')
})

errand('Who reported the fire?', 2, async (call) => {
  const { results } = await call('search', { query: 'printer fire' })
  expect(results[0].title).toBe('The printer is on fire')
  const { data } = await call('sql_query', {
    query: `SELECT c.name FROM relationships r JOIN contact c ON c.id = r.target_id
      WHERE r.rel_type = 'requested_by' AND r.source_id = 't7'`,
  })
  expect(data).toEqual([{ name: 'Person 7' }])
})

errand(
  'Shorten the only notice period of 30 days to 14',
  2,
  async (call) => {
    const { data } = await call('list_files', { file_type: 'contracts', search: 'notice "30 days"' })
    expect(data[0].path).toBe('2026/c3.md')
    const edits = [{ find: '30 days', replace: '14 days' }]
    await call('edit_file', { file_type: 'contracts', path: data[0].path, edits })
    const { text } = await world.call('GET', '/v1/sales/files/contracts/2026/c3.md')
    expect(text).toBe('# Contract 3\n\nThe notice period is 14 days.\n')
    const other = await world.call('GET', '/v1/sales/files/contracts/2026/c4.md')
    expect(other.text).toContain('90 days')
  },
  () => files,
)

errand(
  'Keep the minutes of the call, and note who was late',
  2,
  async (call) => {
    const minutes = { file_type: 'contracts', path: 'minutes/acme.md' }
    await call('put_file', { ...minutes, text: '# Call\n\n- Jo wants 5 seats.\n' })
    await call('edit_file', {
      ...minutes,
      edits: [{ find: '5 seats.\n', replace: '5 seats.\n- Bo was late.\n' }],
    })
    const history = await read('files/contracts/minutes/acme.md?history')
    expect(history.data).toHaveLength(2)
  },
  () => files,
)

errand('Correct the amounts that were typed as words, as far as they are numbers', 3, async (call) => {
  const { data } = await call('define', {
    record_type: 'deal',
    json_schema: { properties: { quoted: { type: 'string' } } },
  })
  expect(data).toBeUndefined()
  const statements = `UPDATE deal SET quoted = CASE WHEN id = 'd5' THEN 'six thousand' ELSE amount::text END WHERE id IN ('d4', 'd5')`
  await call('sql_write', { statements })
  await call('sql_write', {
    statements: `UPDATE deal SET amount = quoted::numeric + 1 WHERE quoted ~ '^[0-9.]+$'`,
  })
  expect((await dataOf('deal/d4')).amount).toBe(5001)
  expect((await dataOf('deal/d5')).amount).toBe(6000)
})

errand('What would go if we deleted company 7?', 1, async (call) => {
  const answer = await call('sql_write', {
    statements: `DELETE FROM company WHERE id = 'c7'`,
    dry_run: true,
  })
  expect(answer).toMatchObject({
    dry_run: true,
    deletion: {
      records: { by_type: { company: 1 } },
      relationships: { by_type: { deal_company: 2, works_at: 1 } },
      samples: ['company/c7'],
    },
  })
  expect((await dataOf('company/c7')).name).toBe('Company 7')
})

errand('Delete customer 15 with its deals', 2, async (call) => {
  const plan = await call('sql_write', {
    statements: `DELETE FROM deal USING relationships r WHERE r.source_id = deal.id AND r.rel_type = 'deal_company' AND r.target_id = 'c15';
      DELETE FROM company WHERE id = 'c15'`,
  })
  expect(plan.plan.what).toMatch(/^Deletes 3 records \(2 deal, 1 company\)/)
  const done = await call('sql_write', { statements: '', plan_token: plan.plan_token })
  expect(done.data).toEqual([
    { operation: 'delete', count: 2 },
    { operation: 'delete', count: 1 },
  ])
  expect(await rowsOf('deal', { field: 'id', op: 'in', value: ['d15', 'd35'] })).toEqual([])
})

errand('Undo what the import did to deals 21 to 24, and keep what was edited since', 2, async (call) => {
  const operations = times(4, (n) => ({
    type: 'patch_record',
    record_type: 'deal',
    id: `d${n + 21}`,
    data: { stage: 'lost' },
  }))
  const since = new Date().toISOString()
  succeed(await importer('POST', '/v1/sales/batch', { operations }))
  succeed(await world.call('PATCH', '/v1/sales/records/deal/d22', { data: { notes: 'They came back.' } }))
  const plan = await call('undo', { actor: 'importer', since })
  expect(plan.plan).toMatchObject({
    what: expect.stringMatching(/^Undoes 3 changes/),
    skipped: [{ id: 'd22', code: 'overtaken' }],
  })
  await call('undo', { plan_token: plan.plan_token })
  const stages = await Promise.all([21, 22, 23, 24].map(async (n) => (await dataOf(`deal/d${n}`)).stage))
  expect(stages).toEqual(['proposal', 'lost', 'proposal', 'won'])
})

errand('Call the industry of companies their sector, also in the report that counts it', 3, async (call) => {
  const report = (column: string) => ({
    query: `SELECT ${column}, count(*) AS n FROM company WHERE ${column} = 'retail' GROUP BY 1`,
  })
  const rename = { record_type: 'company', migration: [{ op: 'rename', field: 'industry', to: 'sector' }] }
  const before = await call('sql_query', report('industry'))
  const dry = await call('define', { ...rename, dry_run: true })
  expect(dry).toMatchObject({ renamed: { industry: 'sector' } })
  const done = await call('define', rename)
  expect(done.meta.records_rewritten).toBe(dry.meta.records_rewritten)
  const { data } = succeed(await world.call('POST', '/v1/sales/sql', report('sector')))
  expect(data).toEqual([{ sector: 'retail', n: before.data[0].n }])
  const old = await world.call('POST', '/v1/sales/sql', report('industry'))
  expect(old.body.error.details).toMatchObject([{ code: 'unknown_column', hint: 'sector' }])
})

errand(
  'Attach the notes of the call to deal 1',
  1,
  async (call) => {
    await call('put_file', { record: 'deal/d1', path: 'call.md', text: '# Call\n\nThey want 5 seats.\n' })
    const { data } = await read('records/deal/d1/attachments')
    expect(data).toMatchObject([{ filename: 'call.md', status: 'ready' }])
  },
  () => files,
)

test('the errands cost fewer calls and tokens than bare SQL', () => {
  const sum = (of: (each: (typeof spent)[number]) => number) => spent.reduce((all, each) => all + of(each), 0)
  expect(spent).toHaveLength(23)
  expect(sum(({ calls }) => calls) / spent.length).toBeLessThan(BARE_SQL.callsOfAnErrand)
  expect(sum(({ tokens }) => tokens) / spent.length).toBeLessThan(BARE_SQL.tokensOfAnErrand)
})

test('Change the schema of the live base without breaking its readers, in 7 calls at most', {
  tags: 'full',
}, async () => {
  const agent = await world.newToken([
    { base: 'sales', environment: 'preview', permission: 'manage' },
    { base: 'sales', environment: 'production', permission: 'read' },
  ])
  const seen = { calls: 0, tokens: 0 }
  const open = async (token: string, tools: string) => {
    const at = await connect(world.url, token, 'v1', `/mcp?tools=${tools}`)
    seen.tokens += tokensOf(at.getInstructions() ?? '') + tokensOfTools((await at.listTools()).tools)
    const call: Call = async (name, args) => {
      const answer = await at.callTool({ name, arguments: { ...args } })
      const text: string = answer.content[0].text
      expect(answer.isError, text).toBeFalsy()
      seen.calls++
      seen.tokens += tokensOf(JSON.stringify({ name, arguments: args })) + tokensOf(text)
      return answer.structuredContent
    }
    return { call, close: () => at.close() }
  }
  const [own, person] = [
    await open(agent.token, 'define,preview,propose'),
    await open(world.adminToken, 'promote'),
  ]
  const market = { type: 'string', enum: ['EU', 'US'] }
  // The readers go on all the time, with what they know of the type.
  const reads: unknown[] = []
  let isOver = false
  const reading = (async () => {
    while (!isOver) {
      const { data } = succeed(
        await world.call('POST', '/v1/sales/sql', {
          query: 'SELECT count(*) AS deals, sum(amount) AS total FROM deal WHERE stage IS NOT NULL',
        }),
      )
      reads.push(data[0])
      await sleep(20)
    }
  })()

  try {
    const dev = { base_id: 'sales--dev' }
    await own.call('preview', { base_id: 'sales', action: 'create', name: 'dev', copy: 'config_and_sample' })
    const required = ['title', 'market']
    await own.call('define', {
      ...dev,
      record_type: 'deal',
      json_schema: { properties: { market }, required },
      migration: [{ op: 'default', field: 'data.market', value: 'EU' }],
    })
    const deals = (await rowsOf('deal', { field: 'id', op: 'is_not_null' })).length
    const refused = await own.call('propose', dev)
    expect(refused).toMatchObject({ promotable: false, breaks: [{ code: 'records_invalid', count: deals }] })
    await own.call('define', {
      ...dev,
      record_type: 'deal',
      json_schema: { properties: { market: { default: 'EU' } }, required: ['title'] },
    })
    const proposed = await own.call('propose', dev)
    expect(proposed).toMatchObject({ promotable: true, summary: { create: 0, update: 1, delete: 0 } })
    const plan = await person.call('promote', { base_id: 'sales', from: 'sales--dev' })
    expect((await read('record-types/deal')).json_schema.properties).not.toHaveProperty('market')
    await person.call('promote', { base_id: 'sales', plan_token: plan.plan_token })
  } finally {
    isOver = true
    await reading
  }
  expect(new Set(reads.map((row) => JSON.stringify(row))).size).toBe(1)
  expect((await read('record-types/deal')).json_schema.properties.market).toEqual({
    ...market,
    default: 'EU',
  })
  succeed(await world.call('PUT', '/v1/sales/records/deal/fresh', { data: { title: 'New' } }), 201)
  expect((await dataOf('deal/fresh')).market).toBe('EU')
  await own.close()
  await person.close()
  console.info(
    `a schema of a live base, changed by way of a preview: ${seen.calls} calls, ${seen.tokens} tokens`,
  )
  expect(seen.calls).toBeLessThanOrEqual(7)
  expect(seen.tokens).toBeLessThan(3800)
})
