// @module-tag full
/** The tools preview, propose and promote, and what a token without `admin` reaches with them. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../support/answers.ts'
import { holdOpen } from '../support/holding.ts'
import { callTool, connect, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const TOOLS = ['preview', 'propose', 'review', 'promote', 'rollback_promotion']
const typeOf = (properties: object) => ({ json_schema: { type: 'object', properties } })
const put = async (path: string, body: object, status = 201) =>
  succeed(await world.call('PUT', `/v1/${path}`, body), status)
const schemaOf = async (base: string) =>
  succeed(await world.call('GET', `/v1/${base}/record-types/task`)).json_schema.properties

/** A base with a type and a record, and a token that may do everything in its previews and read production. */
async function live() {
  const base = `live${++serial}`
  await put(`bases/${base}`, {})
  await put(`${base}/record-types/task`, typeOf({ title: { type: 'string' } }))
  await put(`${base}/records/task/t1`, { data: { title: 'One', due: 'soon' } })
  const agent = await world.newToken([
    { base, environment: 'preview', permission: 'manage' },
    { base, environment: 'production', permission: 'read' },
  ])
  const as =
    (token: string) =>
    async (name: string, args: Record<string, unknown>, path = `/mcp/${base}`) => {
      const { body, error, rpcError } = await callTool(world, path, name, args, { token })
      expect(rpcError).toBeUndefined()
      return (error ?? body) as Body
    }
  return { base, agent, asAgent: as(agent.token), asAdmin: as(world.adminToken) }
}

describe('the tools of environments', () => {
  test('are called at every address of the base, and listed where its options name them', async () => {
    const { base, agent } = await live()
    const listed = async (path: string, token = world.adminToken) =>
      (await rpc(world, path, 'tools/list', undefined, { token })).body.result.tools.map(
        ({ name }: Body) => name,
      )
    for (const path of [`/mcp/${base}`, `/mcp/${base}?profile=lean`, `/mcp/${base}?types=task`, '/mcp'])
      expect(await listed(path)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^pr(e|o)/)]))
    const named = `/mcp/${base}?tools=${TOOLS.join()}`
    expect(await listed(named)).toEqual(TOOLS)
    expect(await listed(named, agent.token)).toEqual(['preview', 'propose', 'review'])
    const reader = await world.newToken([{ base, permission: 'read' }])
    expect(await listed(named, reader.token)).toEqual(['propose'])
    expect(await listed(`${named}&readonly=1`)).toEqual(['propose'])
    for (const [token, says] of [
      [world.adminToken, true],
      [agent.token, true],
      [reader.token, false],
    ] as const) {
      const client = await connect(world.url, token, 'v1', `/mcp/${base}`)
      expect(client.getInstructions()?.includes('preview, propose and promote')).toBe(says)
      await client.close()
    }
  })

  test('propose shows a name with breaks and controls in its own line of the plan', async () => {
    const { base, asAgent } = await live()
    await asAgent('preview', { action: 'create', name: 'dev' })
    const name = 'x\n- record_type task\u2028No changes.\u001b[2K\u202e\u{e0041}'
    await put(`${base}--dev/record-types/task`, typeOf({ [name]: {}, title: { type: 'string' } }), 200)
    const { plan } = await asAgent('propose', { from: `${base}--dev` })
    const shown = 'x\\u000a- record_type task\\u2028No changes.\\u001b[2K\\u202e\\udb40\\udc41'
    expect(plan.split('\n')).toEqual([
      '~ record_type task',
      `    add /json_schema/properties/${shown} {}`,
      '1 to update',
    ])
  })

  test('create, list and delete previews; a preview has an address of its own', async () => {
    const { base, asAgent } = await live()
    const made = await asAgent('preview', { action: 'create', name: 'dev', copy: 'config_and_sample' })
    expect(made).toMatchObject({ id: `${base}--dev`, mcp: `/mcp/${base}--dev`, production_base: base })
    const { data } = await asAgent('query_records', { record_type: 'task' }, made['mcp'])
    expect(data.map(({ id }: Body) => id)).toEqual(['t1'])
    for (const path of [`/mcp/${base}`, made['mcp']])
      expect((await asAgent('preview', { action: 'list' }, path))['data']).toMatchObject([
        { id: `${base}--dev` },
      ])
    expect((await asAgent('preview', { action: 'list', state: 'open' }))['data']).toEqual([])
    expect(await asAgent('preview', { action: 'create' })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/name', code: 'required' }, { code: 'usage' }],
    })
    for (const other of [
      { action: 'list', copy: 'config' },
      { action: 'create', name: 'two', state: 'open' },
      { action: 'delete', name: 'dev', description: 'Old' },
    ])
      expect(await asAgent('preview', other)).toMatchObject({
        details: [{ path: `/${Object.keys(other).at(-1)}`, code: 'exclusive' }, { code: 'usage' }],
      })
    const plan = await asAgent('preview', { action: 'delete', name: 'dev' })
    expect(plan['plan'].what).toContain(`${base}--dev`)
    const byId = await asAgent('preview', { action: 'delete', name: made['id'] })
    expect(byId['plan']).toEqual(plan['plan'])
    succeed(await world.call('GET', `/v1/bases/${base}--dev`))
    expect(await asAgent('preview', { plan_token: plan['plan_token'] })).toEqual({
      id: `${base}--dev`,
      deleted: true,
      deletion: {
        bases: { count: 1, names: [`${base}--dev`] },
        record_types: { count: 1, names: ['task'] },
        records: { count: 1, by_type: { task: 1 } },
      },
    })
    expectFailure(await world.call('GET', `/v1/bases/${base}--dev`), 'NOT_FOUND')
  })

  test('an agent proposes changes of records in a change-set, and a person promotes them', async () => {
    const { base, agent, asAgent, asAdmin } = await live()
    const { id, mcp } = await asAgent('preview', { action: 'create', copy: 'on_write' })
    expect(id).toMatch(new RegExp(`^${base}--p-\\w{6}$`))
    const at = { token: agent.token }
    const { text, body } = await callTool(world, mcp, 'update_task', { id: 't1', title: 'Two' }, at)
    expect(text).toMatch(new RegExp(`^Proposed in ${id} \\(1 record\\)\\. Others see it once`))
    expect(body).toMatchObject({ id: 't1', change_set: id })
    const { data } = await asAgent('query_records', { record_type: 'task' }, mcp)
    expect(data).toMatchObject([{ id: 't1', data: { title: 'Two' } }])
    const live1 = await asAgent('query_records', { record_type: 'task' })
    expect(live1['data']).toMatchObject([{ id: 't1', data: { title: 'One' } }])
    expect(await asAgent('propose', {}, mcp)).toMatchObject({
      ...{
        from: id,
        revision: 1,
        promotable: true,
        changes: [{ kind: 'record', id: 'task/t1', op: 'update', title: 'One' }],
      },
      plan: '~ record task/t1 "One"\n    replace /data/title "One" → "Two"\n1 to update',
    })
    expect(await asAgent('promote', { from: id })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await asAgent('propose', { revision: 1 }, mcp)).toMatchObject({
      details: [{ path: '/revision', code: 'unknown_key', message: 'Unknown field "revision".' }, {}],
    })
    const resolve = [{ record_type: 'task', id: 't1', take: 'preview' }]
    for (const apart of [{ title: 'The survey' }, { comment: 'Signed.' }, { submit: true, resolve }])
      expect(await asAgent('propose', apart, mcp)).toMatchObject({
        details: [{ path: `/${Object.keys(apart).at(-1)}`, code: 'exclusive' }, { code: 'usage' }],
      })
    expect(await asAgent('propose', {}, mcp)).toMatchObject({ status: 'open' })
    const proposal = await asAgent('propose', { submit: true, title: 'The survey', comment: 'Signed.' }, mcp)
    expect(proposal).toMatchObject({
      ...{ status: 'submitted', reviews: [], review_request: { state: 'open', title: 'The survey' } },
      next: expect.stringMatching(/^One person decides, whose token may promote here, and who did not ask\./),
    })
    expect(proposal).not.toHaveProperty('approvals')
    const rules = (approvals: number) =>
      world.call('PUT', `/v1/bases/${base}`, { settings: { change_sets: { approvals } } })
    succeed(await rules(2))
    expect(await asAgent('propose', {}, mcp)).toMatchObject({
      approvals: { needed: 2, given: 0 },
      next: expect.stringMatching(/^2 people approve this revision, .*: the last of them promotes\./),
    })
    succeed(await rules(0))
    const said = { verdict: 'request_changes', text: 'Say it in words.' }
    expect(await asAdmin('review', { from: id, ...said, dry_run: true })).toMatchObject({ dry_run: true })
    expect(await asAgent('review', { from: id, ...said })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await asAdmin('review', { from: id, ...said })).toMatchObject(said)
    expect(await asAgent('propose', {}, mcp)).toMatchObject({
      ...{ status: 'changes_requested', reviews: [{ ...said, is_stale: false, revision: 1 }] },
      review_request: { state: 'sent_back', decision: { note: 'Say it in words.' } },
      next: expect.stringMatching(/^It was sent back: .* submit: true\.$/),
    })
    const asked = await asAdmin('promote', { from: id })
    expect(asked['plan'].what).toContain(id)
    expect(await asAdmin('promote', { plan_token: asked['plan_token'] })).toMatchObject({
      changes: [{ kind: 'record', id: 'task/t1', op: 'update' }],
    })
    const after = await asAgent('query_records', { record_type: 'task' })
    expect(after['data']).toMatchObject([{ data: { title: 'Two' } }])
  })

  test('promote takes a deletion that grew once `resolve` says so', async () => {
    const { base, asAgent, asAdmin } = await live()
    await put(`${base}/relationship-types/parent`, {
      ...{ source_record_types: ['task'], target_record_types: ['task'], on_delete: 'cascade' },
    })
    const { id: from, mcp } = await asAgent('preview', { action: 'create', copy: 'on_write' })
    await asAgent('delete_record', { record_type: 'task', id: 't1' }, mcp)
    const relationships = [{ rel_type: 'parent', record_type: 'task', id: 't1' }]
    await put(`${base}/records/task/child`, { data: {}, relationships })
    const refused = await asAdmin('promote', { from })
    expect(refused).toMatchObject({ details: [{ path: '/task/t1', code: 'cascade_grew' }] })
    const resolve = [{ record_type: 'task', id: 't1', take: 'preview' }]
    const { plan_token } = await asAdmin('promote', { from, resolve })
    succeed(await world.call('GET', `/v1/${base}/records/task/t1`))
    expect(await asAdmin('promote', { plan_token })).toMatchObject({
      changes: [{ id: 'task/t1', op: 'delete' }],
    })
    for (const id of ['t1', 'child'])
      expectFailure(await world.call('GET', `/v1/${base}/records/task/${id}`), 'NOT_FOUND')
  })

  test('propose shows the changes, what both sides changed, and what records break; it changes nothing', async () => {
    const { base, asAgent } = await live()
    const dev = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    const at = `/mcp/${dev}`
    await asAgent('define', { record_type: 'task', ...typeOf({ due: { type: 'string' } }) }, at)
    expect(await asAgent('propose', {}, at)).toMatchObject({
      from: dev,
      base_id: base,
      changes: [{ kind: 'record_type', id: 'task', op: 'update' }],
      summary: { create: 0, update: 1, delete: 0 },
      conflicts: [],
      breaks: [],
      promotable: true,
      plan: '~ record_type task\n    add /json_schema/properties/due {"type":"string"}\n1 to update',
    })
    await asAgent(
      'define',
      { record_type: 'task', ...typeOf({ due: { type: 'string', format: 'date' } }) },
      at,
    )
    const broken = await asAgent('propose', { from: dev })
    expect(broken).toMatchObject({
      promotable: false,
      plan: expect.stringContaining('! /record_type/task/json_schema: 1 record would not be valid.'),
      breaks: [
        {
          path: '/record_type/task/json_schema',
          code: 'records_invalid',
          count: 1,
          samples: [{ id: 't1', path: '/data/due' }],
        },
      ],
    })
    await put(`${base}/record-types/task`, { description: 'Changed in production' }, 200)
    expect((await asAgent('propose', { from: dev }))['conflicts']).toMatchObject([
      { kind: 'record_type', id: 'task' },
    ])
    expect(await schemaOf(base)).toBeUndefined()
    expect(await asAgent('propose', {})).toMatchObject({
      details: [{ path: '/from', code: 'required' }, { code: 'usage' }],
    })
    const blind = await world.newToken([{ base, environment: 'preview', permission: 'admin' }])
    const { error } = await callTool(world, at, 'propose', {}, { token: blind.token })
    expect(error['code']).toBe('FORBIDDEN')
  })

  test('propose waits for no writer, and no writer for it', async () => {
    const { base, asAgent } = await live()
    const from = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    const dated = typeOf({ due: { type: 'string', format: 'date' } })
    await asAgent('define', { record_type: 'task', ...dated }, `/mcp/${from}`)
    // The locks of writers of records, on the type and on the record.
    const writer = await holdOpen(world.database)
    for (const table of ['record_type', 'record'])
      await writer.query(`SELECT 1 FROM plinth.${table} WHERE base_id = $1 FOR NO KEY UPDATE`, [base])
    expect((await asAgent('propose', { from }))['breaks']).toMatchObject([{ count: 1 }])
    expect(await writer.waiting()).toEqual([])
    await writer.end()
    const [before] = await world.database.query('SELECT max(seq) AS seq FROM plinth.change')
    await asAgent('propose', { from })
    expect(await world.database.query('SELECT max(seq) AS seq FROM plinth.change')).toEqual([before])
    expect(succeed(await world.call('GET', `/v1/${base}/records/task/t1`)).valid).toBeUndefined()
  })

  test('propose with prune names types that have records or relationships', async () => {
    const { base, asAgent, asAdmin } = await live()
    await put(`${base}/relationship-types/next`, {})
    await put(`${base}/records/task/t2`, { data: {} })
    await put(`${base}/relationships/l`, {
      rel_type: 'next',
      source_record_type: 'task',
      source_id: 't1',
      target_record_type: 'task',
      target_id: 't2',
    })
    await asAgent('preview', { action: 'create', name: 'dev' })
    for (const path of ['relationship-types/next', 'record-types/task'])
      succeed(await world.call('DELETE', `/v1/${base}--dev/${path}`))
    const from = `${base}--dev`
    expect(await asAgent('propose', { from })).toMatchObject({
      changes: [],
      kept: [
        { kind: 'record_type', id: 'task' },
        { kind: 'relationship_type', id: 'next' },
      ],
      plan: 'No changes.\n2 kept: record_type task, relationship_type next. Send prune to delete them.',
    })
    const { breaks } = await asAgent('propose', { from, prune: true })
    expect(breaks.map(({ path, code }: Body) => [path, code])).toEqual([
      ['/record_type/task', 'force_required'],
      ['/relationship_type/next', 'force_required'],
    ])
    expect(await asAdmin('promote', { from, prune: true })).toMatchObject({
      code: 'CONFLICT',
      details: [{ code: 'force_required' }],
    })
  })

  test('promote returns a plan, and does it with the token alone', async () => {
    const { base, asAgent, asAdmin } = await live()
    const from = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    await asAgent('define', { record_type: 'task', ...typeOf({ due: { type: 'string' } }) }, `/mcp/${from}`)
    const plan = await asAdmin('promote', { from })
    expect(plan).toMatchObject({
      plan: {
        what: `Promotes 1 change from ${from} to ${base}: update record_type task.`,
        changes: [{ kind: 'record_type', id: 'task' }],
      },
      next: expect.stringContaining('Nothing is promoted yet'),
    })
    expect(Object.keys(await schemaOf(base))).toEqual(['title'])
    await asAgent('define', { record_type: 'task', ...typeOf({ more: {} }) }, `/mcp/${from}`)
    expect(await asAdmin('promote', { plan_token: plan['plan_token'] })).toMatchObject({
      details: [{ code: 'plan_stale' }],
    })
    const again = await asAdmin('promote', {}, `/mcp/${from}`)
    const done = await asAdmin('promote', { plan_token: again['plan_token'] }, `/mcp/${from}`)
    expect(done).toMatchObject({ kind: 'promotion', status: 'applied' })
    expect(Object.keys(await schemaOf(base)).sort()).toEqual(['due', 'more', 'title'])
    expect(await asAdmin('promote', { from })).toMatchObject({ id: null, changes: [], status: 'applied' })
    expect(await asAdmin('promote', { from, dry_run: true })).toMatchObject({ dry_run: true })
  })

  test('the plan of promote names first what it takes from production', async () => {
    const { base, asAgent, asAdmin } = await live()
    const from = `${base}--dev`
    for (const id of ['note', 'both', 'old']) await put(`${base}/record-types/${id}`, {})
    await put(`${base}/records/old/o1`, { data: {} })
    await asAgent('preview', { action: 'create', name: 'dev' })
    for (const id of ['a1', 'a2']) await put(`${from}/record-types/${id}`, {})
    await put(`${from}/record-types/note`, { description: 'changed' }, 200)
    await put(`${from}/record-types/task`, typeOf({}), 200)
    for (const at of [base, from]) await put(`${at}/record-types/both`, { description: at }, 200)
    succeed(await world.call('DELETE', `/v1/${from}/record-types/old`))
    const migration = { task: [{ op: 'drop', field: 'data.title' }] }
    const { plan } = await asAdmin('promote', { from, force: true, prune: true, migration })
    const first = [
      'delete record_type old with its data',
      'update record_type both (replaces a change of production)',
      'update record_type task (rewrites records)',
      'update record_type note',
      'create record_type a1',
    ]
    expect(plan.what).toBe(`Promotes 6 changes from ${from} to ${base}: ${first.join(', ')}, ….`)
    expect(plan.meta.records_rewritten).toEqual({ task: 1 })
  })

  test('rollback undoes a promotion once, for a token that may promote, and a dry run changes nothing', async () => {
    const { base, asAgent, asAdmin } = await live()
    const from = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    await asAgent('define', { record_type: 'task', ...typeOf({ due: {} }) }, `/mcp/${from}`)
    const { plan_token } = await asAdmin('promote', { from })
    const { id: promotion_id } = await asAdmin('promote', { plan_token })
    expect(await asAgent('rollback_promotion', { promotion_id })).toMatchObject({ code: 'FORBIDDEN' })
    const undone = {
      ...{ kind: 'rollback', from, base_id: base, status: 'applied' },
      changes: [{ kind: 'record_type', id: 'task', op: 'update' }],
    }
    expect(await asAdmin('rollback_promotion', { promotion_id, dry_run: true })).toMatchObject({
      dry_run: true,
      ...undone,
    })
    expect(Object.keys(await schemaOf(base)).sort()).toEqual(['due', 'title'])
    expect(await asAdmin('rollback_promotion', { promotion_id }, `/mcp/${from}`)).toMatchObject(undone)
    expect(Object.keys(await schemaOf(base))).toEqual(['title'])
    expect(await asAdmin('rollback_promotion', { promotion_id })).toMatchObject({
      details: [{ code: 'rolled_back' }],
    })
    expect(await asAdmin('rollback_promotion', { promotion_id: 'absent' })).toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  test('promote returns the secret of a new trigger in the answer that makes it, and nowhere else', {
    tags: 'full',
  }, async () => {
    const { base, asAgent, asAdmin } = await live()
    const from = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    await put(`${from}/triggers/hook`, { url: 'https://example.com/hook', enabled: false })
    const plan = await asAdmin('promote', { from })
    const dry = await asAdmin('promote', { from, dry_run: true })
    expect(dry['secrets']).toEqual([{ kind: 'trigger', id: 'hook', secret: null }])
    expect(dry).not.toHaveProperty('note')
    const done = await asAdmin('promote', { plan_token: plan['plan_token'] })
    const [{ secret }] = done['secrets']
    expect(done).toMatchObject({
      secrets: [{ kind: 'trigger', id: 'hook', secret: expect.stringMatching(/^whsec_/) }],
      note: expect.stringContaining('only in this answer'),
    })
    const promotions = succeed(await world.call('GET', `/v1/${base}/promotions`))
    const log = succeed(await world.call('GET', `/v1/${base}/changes?include=before`))
    expect(JSON.stringify([plan, dry, promotions, log, await asAdmin('changes', {})])).not.toContain(secret)
    expect(JSON.stringify([plan, dry])).not.toContain('whsec_')
    expect(await asAdmin('promote', { plan_token: plan['plan_token'] })).not.toHaveProperty('secrets')
    const nothing = await asAdmin('promote', { from })
    expect([nothing['secrets'], nothing['note']]).toEqual([undefined, undefined])
  })

  test.each([
    ['accepts', (choice: string) => ({ action: 'accept' as const, content: { choice } }), true],
    ['declines', () => ({ action: 'decline' as const }), false],
  ])('promote asks the person where the client can, who %s', async (_, answer, isDone) => {
    const { base, asAgent } = await live()
    const from = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev' })
    await asAgent('define', { record_type: 'fresh' }, `/mcp/${from}`)
    const questions: string[] = []
    const client = new Client({ name: 'asked', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message)
      const { choice } = (params as Body)['requestedSchema'].properties
      expect(choice.enum[0]).toBe('Promote nothing')
      return answer(choice.enum[1])
    })
    const requestInit = { headers: { authorization: `Bearer ${world.adminToken}` } }
    const at = new URL(`/mcp/${base}`, world.url)
    await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as Transport)
    const result: Body = await client.callTool({ name: 'promote', arguments: { from } })
    await client.close()
    expect(questions).toEqual([`Promote 1 change from ${from} to ${base}: create record_type fresh?`])
    expect(Boolean(result['isError'])).toBe(!isDone)
    expect((await world.call('GET', `/v1/${base}/record-types/fresh`)).status).toBe(isDone ? 200 : 404)
  })
})

describe('a token with manage in previews and read on production', () => {
  test('does all of the work in a preview and none of the promotion, on REST and MCP', {
    tags: 'full',
  }, async () => {
    const { base, agent, asAgent, asAdmin } = await live()
    const dev = `${base}--dev`
    const at = `/mcp/${dev}`
    const rest = async (method: string, path: string, body?: unknown, status = 200) =>
      succeed(await agent.call(method, `/v1/${path}`, body), status)
    await asAgent('preview', { action: 'create', name: 'dev', copy: 'config_and_sample' })
    await asAgent('define', { record_type: 'task', ...typeOf({ done: { type: 'boolean' } }) }, at)
    await asAgent('upsert_record', { record_type: 'task', id: 't2', data: { done: true } }, at)
    await rest(
      'PUT',
      `${dev}/endpoints/desk`,
      { tools: [{ record_type: 'task', operations: ['list'] }] },
      201,
    )
    await rest(
      'PUT',
      `${dev}/seeds/demo`,
      { records: [{ record_type: 'task', external_id: 'a', data: {} }] },
      201,
    )
    await rest('POST', `${dev}/seeds/demo/reset`)
    const config = await rest('GET', `${dev}/config`)
    await rest('PUT', `${dev}/config`, config)
    await rest('POST', `${base}/config/diff`, { ...config, base, hash: undefined })
    await asAgent('propose', {}, at)

    const before = succeed(await world.call('GET', `/v1/${base}/config`)).hash
    const { id } = succeed(await world.call('POST', `/v1/${base}/promote`, { from: dev, dry_run: true }))
    for (const body of [{ from: dev }, { from: dev, dry_run: true }, { from: dev, force: true }])
      expectFailure(await agent.call('POST', `/v1/${base}/promote`, body), 'FORBIDDEN')
    for (const promotion_id of [id, 'absent'])
      expectFailure(await agent.call('POST', `/v1/${base}/promote/rollback`, { promotion_id }), 'FORBIDDEN')
    for (const [path, args] of [
      [at, {}],
      [at, { dry_run: true }],
      [`/mcp/${base}`, { from: dev }],
      ['/mcp', { base_id: base, from: dev }],
    ] as const)
      expect(await asAgent('promote', args, path)).toMatchObject({ code: 'FORBIDDEN' })
    const { plan_token } = await asAdmin('promote', { from: dev })
    expect(await asAgent('promote', { plan_token })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await asAgent('define', { record_type: 'other' })).toMatchObject({ code: 'FORBIDDEN' })
    expectFailure(await agent.call('PUT', `/v1/${base}/record-types/other`, {}), 'FORBIDDEN')
    expect(succeed(await world.call('GET', `/v1/${base}/config`)).hash).toBe(before)
    await rest('DELETE', `bases/${dev}?confirm=${dev}`)
  })

  test('a token and an endpoint can be bound to the address of a preview', { tags: 'full' }, async () => {
    const { base, asAgent } = await live()
    const dev = `${base}--dev`
    await asAgent('preview', { action: 'create', name: 'dev', copy: 'config_and_sample' })
    const endpoint = { tools: [{ record_type: 'task', operations: ['list'] }] }
    await put(`${dev}/endpoints/desk`, endpoint)
    const bound = await world.newToken([{ base: dev, permission: 'write' }])
    const ofEndpoint = await world.newToken([{ base: dev, endpoint: 'desk', permission: 'read' }])
    const call = (path: string, name: string, args: Record<string, unknown>, token: string) =>
      callTool(world, path, name, args, { token })
    expect(
      (await call(`/mcp/${dev}`, 'get_record', { record_type: 'task', id: 't1' }, bound.token)).body,
    ).toMatchObject({ id: 't1' })
    expect((await call(`/mcp/${dev}/e/desk`, 'list_task', {}, ofEndpoint.token)).body['data']).toHaveLength(1)
    for (const { token } of [bound, ofEndpoint]) {
      const { status } = await world.as(token)('POST', `/mcp/${base}`, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
      })
      expect(status).toBe(403)
    }
  })
})
