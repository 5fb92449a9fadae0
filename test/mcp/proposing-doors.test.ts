// @module-tag full
/** A token with a policy of its writes changes nothing of production by any tool of either era, nor by inbound webhooks. */
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../support/answers.ts'
import { holdOpen } from '../support/holding.ts'
import { callTool, connect, DIALECTS } from '../support/mcp.ts'
import { productionRows, WITH_POLICIES } from '../support/policies.ts'
import type { Body, Call } from '../support/server.ts'
import { fillForTools, toolRows } from '../support/tool-samples.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  await fillForTools(world, 'shop')
  succeed(await world.call('POST', '/v1/shop/preview', { name: 'dev' }), 201)
  succeed(await world.call('POST', '/v1/shop/preview', { name: 'drafts', copy: 'on_write' }), 201)
  const step = { name: 'p', type: 'patch_record', record_type: 'deal', id: 'd1', data: { amount: 99 } }
  for (const base of ['shop', 'shop--dev']) {
    succeed(await world.call('PUT', `/v1/${base}/inbound-webhooks/hook`, HOOK), 201)
    for (const id of ['raise', 'own_rights'])
      succeed(await world.call('PUT', `/v1/${base}/actions/${id}`, { steps: [step] }), 201)
    succeed(
      await world.call('PUT', `/v1/${base}/endpoints/desk`, {
        tools: [{ record_type: 'deal', operations: ['get', 'list', 'create', 'update', 'delete'] }],
        actions: ['raise', { id: 'own_rights', run_as: 'action' }],
        batch: { enabled: true },
        undo: true,
      }),
      201,
    )
  }
})
afterAll(() => world.close())

const KEY = 'a-secret-of-the-sender'
const HOOK = {
  ...{ record_type: 'deal', signature: { scheme: 'hmac', header: 'X-Sig' }, secret: KEY },
  mapping: { external_id: '$.id', data: { title: '$.title' } },
}
const rows = () => productionRows(world, 'shop')
const isInternal = (answer: unknown) => JSON.stringify(answer).includes('INTERNAL_ERROR')

const AT_ENDPOINT = [
  ['create_deal', { title: 'at' }],
  ['update_deal', { id: 'd1', amount: 5 }],
  ['batch', { operations: [{ type: 'delete_record', record_type: 'deal', id: 'd2' }] }],
  ['raise', {}],
  ['own_rights', {}],
  ['undo', {}],
  ['delete_deal', { id: 'd2' }],
] as const
const CALLS = [
  ...toolRows('shop').map(({ path, tool, args }) => ({ path, tool, args })),
  ...['shop', 'shop--drafts'].map((base) => ({
    ...{ path: `/mcp/${base}`, tool: 'run_action', args: { id: 'raise' } },
  })),
  ...AT_ENDPOINT.map(([tool, args]) => ({ path: '/mcp/shop/e/desk', tool, args })),
]

test.each(DIALECTS)('no tool of a client of kind %s', async (dialect) => {
  for (const [name, grants] of Object.entries(WITH_POLICIES)) {
    const { token } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
    let done = 0
    for (const [path, calls] of Map.groupBy(CALLS, (each) => each.path)) {
      const client = await connect(world.url, token, dialect, path)
      try {
        for (const { tool, args } of calls) {
          // Rules let notes pass.
          if (tool === 'create_note' && name.startsWith('has rules')) continue
          const before = await rows()
          const answer = await client
            .callTool({ name: tool, arguments: { ...args } })
            .catch((thrown: Error) => ({ isError: true, content: [{ text: thrown.message }] }))
          if (!answer.isError) done++
          expect(isInternal(answer), `${name}: ${path} ${tool} ${JSON.stringify(answer)}`).toBe(false)
          expect(await rows(), `${name}: ${path} ${tool}`).toEqual(before)
        }
        const { prompts } = await client.listPrompts().catch(() => ({ prompts: [] }))
        for (const prompt of prompts)
          await client.getPrompt({ name: prompt.name }).catch((thrown: Error) => thrown.message)
      } finally {
        await client.close()
      }
    }
    expect(done, name).toBeGreaterThan(15)
  }
})

test.each(DIALECTS)(
  'a client of kind %s is listed no tool that a change-set or a proposal always refuses',
  async (dialect) => {
    const file = { file_type: 'docs', path: 'listed.md', text: 'x' }
    await callTool(world, '/mcp/shop', 'put_file', file)
    const drafts = `l-${dialect}`
    succeed(await world.call('POST', '/v1/shop/preview', { name: drafts, copy: 'on_write' }), 201)
    const proposing = Object.entries(WITH_POLICIES).map(async ([name, grants]) => {
      const { token } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
      return [name, 'shop', token] as const
    })
    const places = [
      ['admin', `shop--${drafts}`, world.adminToken] as const,
      ...(await Promise.all(proposing)),
    ]
    for (const [name, base, token] of places) {
      const client = await connect(world.url, token, dialect, `/mcp/${base}`)
      const listed = (await client.listTools()).tools.map((each) => each['name'])
      // Of the tool `work`, who proposes has the action that reads.
      const calls = CALLS.filter(({ path, tool }) => path === '/mcp/shop' && listed.includes(tool)).map(
        (each) => (each.tool === 'work' ? { ...each, args: { action: 'wait', record_type: 'deal' } } : each),
      )
      expect(calls.length, name).toBeGreaterThan(12)
      for (const { tool, args } of [...calls, { tool: 'get_file', args: { ...file, text: undefined } }]) {
        const answer = await client.callTool({ name: tool, arguments: { ...args } })
        expect(JSON.stringify(answer), `${name}: ${tool}`).not.toMatch(/proposes_only|not_in_change_sets/)
      }
      for (const tool of [
        'undo',
        'define',
        'configure',
        'put_file',
        ...(base === 'shop' ? [] : ['work', 'record_history']),
      ])
        expect(listed, name).not.toContain(tool)
      expect(client.getInstructions()).not.toMatch(/claim records with work|undo|plan_token|configure/)
      await client.close()
    }
  },
)

test.each(DIALECTS)('a client of kind %s is listed resources of a base with change-sets', async (dialect) => {
  for (const path of ['/mcp', '/mcp/shop--drafts']) {
    const client = await connect(world.url, world.adminToken, dialect, path)
    const { resources } = await client.listResources()
    expect(resources.length).toBeGreaterThan(2)
    for (const { uri } of resources.slice(0, 20))
      expect((await client.readResource({ uri })).contents).toHaveLength(1)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.some(({ name }: Body) => name === 'runs')).toBe(path === '/mcp')
    await client.close()
  }
})

test('propose is listed where it can be called: it shows the whole base', async () => {
  const write = { base: 'shop', permission: 'write', writes: 'propose', environment: '*' } as const
  for (const [type, path, isListed] of [
    ['*', '/mcp/shop', true],
    ['*', '/mcp/shop?types=deal', false],
    ['deal', '/mcp/shop', false],
  ] as const) {
    const { token } = await world.newToken([{ ...write, record_type: type }])
    const client = await connect(world.url, token, 'v1', path)
    const listed = (await client.listTools()).tools.map((each) => each['name'])
    expect(listed.includes('propose'), path).toBe(isListed)
    expect(/propose\b/.test(client.getInstructions() ?? ''), path).toBe(isListed)
    await client.close()
  }
})

test('no inbound webhook of production is theirs to make, change, read the secret of or repeat', async () => {
  for (const [name, grants] of Object.entries(WITH_POLICIES)) {
    const { call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
    const before = await rows()
    const at = '/v1/shop/inbound-webhooks'
    for (const send of [
      () => call('PUT', `${at}/own`, HOOK),
      () => call('PUT', `${at}/hook`, { ...HOOK, secret: 'mine' }),
      () => call('PATCH', `${at}/hook`, { secret: 'another-secret-of-it' }),
      () => call('POST', `${at}/hook/rotate-secret`),
      () => call('DELETE', `${at}/hook`),
      () => call('PUT', '/v1/shop/triggers/own', { url: 'https://hooks.invalid/' }),
      () => call('PUT', '/v1/shop/actions/raise', { steps: [] }),
      () => call('PUT', '/v1/shop/endpoints/desk', { tools: [] }),
    ])
      expectFailure(await send(), 'FORBIDDEN')
    expect((await call('GET', `${at}/hook`)).text, name).not.toContain(KEY)
    expect(await rows(), name).toEqual(before)
  }
})

test('no delivery of production is theirs to repeat, and one of a preview is repeated there', async () => {
  for (const base of ['shop', 'shop--dev'])
    expectFailure(await deliver(world.as(null), base, 'hook', { title: 'nameless' }), 'VALIDATION_ERROR')
  const failedIn = async (base: string): Promise<string> =>
    succeed(await world.call('GET', `/v1/${base}/inbound-webhooks/hook/deliveries?status=failed`)).data[0].id
  const [id, inPreview] = [await failedIn('shop'), await failedIn('shop--dev')]
  // From now on, the delivery would write.
  const mended = { ...HOOK, mapping: { data: { title: '$.title' } } }
  for (const base of ['shop', 'shop--dev'])
    succeed(await world.call('PUT', `/v1/${base}/inbound-webhooks/hook`, mended))
  const tokens = await Promise.all(
    Object.entries(WITH_POLICIES).map(async ([name, grants]) => ({
      name,
      ...(await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)),
    })),
  )
  const before = await rows()
  for (const { token, call } of tokens) {
    for (const base of ['shop', 'shop--drafts'])
      for (const send of [
        () => call('POST', `/v1/${base}/inbound-webhooks/hook/deliveries/${id}/replay`),
        () => call('POST', `/v1/${base}/deliveries/replay`, { status: 'failed' }),
        () => call('POST', `/v1/${base}/deliveries/replay`, { status: 'dead', direction: 'out' }),
        () => call('POST', `/v1/${base}/triggers/any/deliveries/any/replay`),
        () => call('POST', `/v1/${base}/triggers/any/test`),
      ])
        expectFailure(await send(), 'FORBIDDEN')
    const client = await connect(world.url, token, 'modern', '/mcp/shop')
    const act = { kind: 'inbound_webhook', id: 'hook', act: 'replay', delivery_id: id }
    const answer = await client
      .callTool({ name: 'configure', arguments: act })
      .catch(() => ({ isError: true }))
    expect(answer.isError).toBe(true)
    await client.close()
  }
  const manager = tokens.find(({ name }) => name === 'proposes, and manages previews')
  const at = `/v1/shop--dev/inbound-webhooks/hook/deliveries/${inPreview}/replay`
  expect((await manager?.call('POST', at))?.body).toMatchObject({ status: 'succeeded' })
  expect(await rows()).toEqual(before)
  succeed(await world.call('PUT', '/v1/shop/inbound-webhooks/hook', HOOK))
})

test('a call that becomes a task proposes as the call does, whatever it waits for', async () => {
  for (const name of ['proposes', 'has rules for other types']) {
    const grants = WITH_POLICIES[name] ?? []
    const { token, call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
    const { change_set } = succeed(await call('PATCH', '/v1/shop/records/deal/d1', { data: { amount: 12 } }))
    const before = await rows()
    const held = await holdOpen(world.database)
    await held.query('SELECT FROM plinth.change_set WHERE base_id = $1 FOR UPDATE', [change_set])
    await held.query(`SELECT FROM plinth.record WHERE base_id = 'shop' FOR UPDATE`)
    const operations = [{ type: 'patch_record', record_type: 'deal', id: 'd1', data: { amount: 13 } }]
    const { result } = (await send(token, 'tools/call', { name: 'batch', arguments: { operations } })).body
    expect(result, name).toMatchObject({ resultType: 'task', status: 'working' })
    await held.end()
    const task = async () => (await send(token, 'tasks/get', { taskId: result.taskId })).body.result
    await expect.poll(async () => (await task()).status, { timeout: 20_000 }).toBe('completed')
    expect((await task()).result.structuredContent).toMatchObject({ change_set })
    expect(await rows(), name).toEqual(before)
    const other = await world.newToken([{ base: 'shop', permission: 'admin' }])
    expect((await send(other.token, 'tasks/get', { taskId: result.taskId })).body.error).toBeDefined()
  }
})

/** Answers what a task or a call asks, as nobody but its client could: with the last choice, which confirms, or another. */
const accepting = (requests: Record<string, Body>, choice: number): Body =>
  Object.fromEntries(
    Object.entries(requests).map(([key, { params }]) => [
      key,
      {
        action: 'accept',
        content: { choice: params['requestedSchema'].properties.choice.enum.at(choice) },
      },
    ]),
  )

/** The end of a call that may go on as a task and may ask: each question is answered by the client itself. */
async function endOf(token: string, path: string, call: Body, choice = -1): Promise<Body> {
  let { result, error } = (await send(token, 'tools/call', call, path)).body
  for (;;) {
    if (error) return { error }
    const { taskId, inputRequests, requestState } = result
    if (taskId === undefined && inputRequests === undefined) return result
    if (taskId === undefined) {
      const answers = { inputResponses: accepting(inputRequests, choice), requestState }
      ;({ result, error } = (await send(token, 'tools/call', { ...call, ...answers }, path)).body)
    } else {
      const { status, result: done, ...task } = (await send(token, 'tasks/get', { taskId }, path)).body.result
      if (status === 'completed') return { ...done, taskId }
      if (status === 'failed' || status === 'cancelled') return { ...task, status, taskId }
      if (status === 'input_required')
        await send(
          token,
          'tasks/update',
          { taskId, inputResponses: accepting(task.inputRequests, choice) },
          path,
        )
      await sleep(100)
    }
  }
}

const PATCH_MANY = ['d1', 'd2'].map((id) => ({
  ...{ type: 'patch_record', record_type: 'deal', id, data: { amount: 77 } },
}))
const DELETE_MANY = ['d1', 'd2'].map((id) => ({ type: 'delete_record', record_type: 'deal', id }))

test('no import, promotion or approval does as a task what it does not at once, whoever confirms it', async () => {
  for (const [name, grants] of Object.entries(WITH_POLICIES)) {
    const { token, call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
    const patched = await call('PATCH', '/v1/shop/records/deal/d1', { data: { amount: 21 } })
    const from = patched.body?.change_set ?? 'shop--drafts'
    const before = await rows()
    const held = await holdOpen(world.database)
    await held.query(`SELECT FROM plinth.change_set WHERE base_id LIKE 'shop--%' FOR UPDATE`)
    await held.query(`SELECT FROM plinth.record WHERE base_id = 'shop' FOR UPDATE`)
    await held.query(`SELECT FROM plinth.review_request WHERE base_id = 'shop' FOR UPDATE`)
    const calls = (
      [
        ['/mcp/shop', 'batch', { operations: PATCH_MANY }],
        ['/mcp/shop', 'batch', { operations: DELETE_MANY }],
        [`/mcp/${from}`, 'batch', { operations: PATCH_MANY }],
        ['/mcp/shop/e/desk', 'batch', { operations: DELETE_MANY }],
        ['/mcp/shop/e/desk', 'own_rights', {}],
        ['/mcp/shop', 'promote', { from, force: true }],
        ['/mcp/shop', 'propose', { from, submit: true, comment: 'please' }],
        ['/mcp/shop', 'review', { from, verdict: 'approve', revision: 1 }],
      ] as const
    ).map(([path, tool, args]) => ({ path, tool, end: endOf(token, path, { name: tool, arguments: args }) }))
    await sleep(2500)
    await held.end()
    const ended: Body[] = []
    for (const { path, tool, end } of calls) {
      const answer = await end
      ended.push(answer)
      expect(isInternal(answer), `${name}: ${path} ${tool} ${JSON.stringify(answer)}`).toBe(false)
      if (tool === 'promote') expect(answer['isError'] ?? answer['error'], name).toBeTruthy()
    }
    expect(await rows(), name).toEqual(before)
    const kept = ended.filter(({ taskId }) => taskId !== undefined)
    expect(kept.length, name).toBeGreaterThan(0)
    const twin = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
    for (const other of [twin.token, world.adminToken])
      for (const { taskId } of kept)
        for (const { path } of calls)
          for (const [method, more] of [
            ['tasks/get', {}],
            ['tasks/cancel', {}],
            ['tasks/update', { inputResponses: {} }],
          ] as const)
            expect((await send(other, method, { taskId, ...more }, path)).body.error).toBeDefined()
  }
})

test('the task of a promotion asks who may promote, and ends with what they chose', async () => {
  succeed(await world.call('POST', '/v1/shop/preview', { name: 'waits', copy: 'on_write' }), 201)
  const data = { title: 'promoted by a task' }
  succeed(await world.call('PUT', '/v1/shop--waits/records/deal/waits', { data }), 201)
  const promote = async (choice: 0 | 1) => {
    const held = await holdOpen(world.database)
    await held.query(`SELECT FROM plinth.change_set WHERE base_id = 'shop--waits' FOR UPDATE`)
    const call = { name: 'promote', arguments: { from: 'shop--waits' } }
    const end = endOf(world.adminToken, '/mcp/shop', call, choice)
    await sleep(1500)
    await held.end()
    const { taskId, ...ended } = await end
    expect(taskId).toBeDefined()
    return ended
  }
  expect(await promote(0)).toMatchObject({ isError: true })
  expect((await world.call('GET', '/v1/shop/records/deal/waits')).status).toBe(404)
  expect(await promote(1)).toMatchObject({ structuredContent: { from: 'shop--waits', kind: 'promotion' } })
  expect(succeed(await world.call('GET', '/v1/shop/records/deal/waits')).data).toEqual(data)
})

test('a task that is cancelled within its write has proposed what its result says', async () => {
  const grants = WITH_POLICIES['proposes'] ?? []
  const { token, call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
  const { change_set } = succeed(await call('PATCH', '/v1/shop/records/deal/d1', { data: { amount: 31 } }))
  const before = await rows()
  const amount = async () => succeed(await call('GET', '/v1/shop/records/deal/d1')).data.amount
  const held = await holdOpen(world.database)
  await held.query('SELECT FROM plinth.change_set WHERE base_id = $1 FOR UPDATE', [change_set])
  const patching = { name: 'batch', arguments: { operations: PATCH_MANY } }
  const { taskId } = (await send(token, 'tools/call', patching)).body.result
  await send(token, 'tasks/cancel', { taskId })
  await sleep(1500)
  await held.end()
  const task = async () => (await send(token, 'tasks/get', { taskId })).body.result
  await expect.poll(async () => (await task()).status, { timeout: 10_000 }).toBe('completed')
  expect((await task()).result.structuredContent).toMatchObject({ change_set })
  expect(await amount()).toBe(77)
  expect(await rows()).toEqual(before)
})

test('what a webhook of a preview takes stays there, whoever made it; a change-set has none', async () => {
  const grants = WITH_POLICIES['proposes, and manages previews'] ?? []
  const { call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
  const before = await rows()
  succeed(await call('PUT', '/v1/shop--dev/inbound-webhooks/own', HOOK), 201)
  expectFailure(await call('PUT', '/v1/shop--drafts/inbound-webhooks/own', HOOK), 'FORBIDDEN')
  for (const [base, status] of [
    ['shop--dev', 200],
    ['shop--drafts', 401],
    ['shop', 401],
  ] as const)
    expect([base, (await deliver(world.as(null), base, 'own')).status]).toEqual([base, status])
  succeed(await world.call('GET', '/v1/shop--dev/records/deal?sort=id'))
  expect(await rows()).toEqual(before)
})

test('a delivery to a webhook of production is the write of its sender, past what others have drafted', async () => {
  const grants = WITH_POLICIES['proposes'] ?? []
  const { call } = await world.newToken(grants.map((each) => ({ base: 'shop', ...each })) as never)
  const own = { external_id: 'i1', data: { title: 'drafted' } }
  const made = succeed(await call('PUT', '/v1/shop/records/deal/of-agent', own), 201)
  const { data } = succeed(await deliver(world.as(null), 'shop', 'hook'))
  expect(data).toMatchObject([{ operation: 'created' }])
  expect(succeed(await world.call('GET', `/v1/shop/records/deal/${data[0].id}`)).data.title).toBe('delivered')
  expect(succeed(await call('GET', '/v1/shop/records/deal/of-agent')).data.title).toBe('drafted')
  // The draft has the same external id by now.
  const { breaks } = succeed(await world.call('POST', '/v1/shop/promote/proposal', { from: made.change_set }))
  expect(breaks).toMatchObject([{ code: 'duplicate_external_id' }])
})

const META = 'io.modelcontextprotocol'
function send(token: string, method: string, params: Body, path = '/mcp/shop') {
  const _meta = {
    [`${META}/protocolVersion`]: '2026-07-28',
    [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${META}/clientCapabilities`]: { extensions: { [`${META}/tasks`]: {} }, elicitation: {} },
  }
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': params['name'] ?? params['taskId'],
  }
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
  return world.as(token)('POST', path, body, headers)
}

function deliver(call: Call, base: string, hook: string, body: object = { id: 'i1', title: 'delivered' }) {
  const signature = createHmac('sha256', KEY).update(JSON.stringify(body)).digest('hex')
  return call('POST', `/inbound/default/${base}/${hook}/ingest`, body, { 'x-sig': signature })
}
