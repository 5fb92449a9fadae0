// @module-tag full
/** Calls that take long as tasks: the extension io.modelcontextprotocol/tasks. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { answering, openReceiver, type Receiver } from '../support/receiver.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { fixtureProvider } from './fixture/provider.ts'

const META = 'io.modelcontextprotocol'
const TASKS = `${META}/tasks`
const DECLARED = { extensions: { [TASKS]: {} } }

let world: World
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  await put('record-types/deal', {})
  const slow = { name: 'wait', type: 'http', url: `${receiver.url}/{{input.title}}`, body: {} }
  const write = { name: 'd', type: 'create_record', record_type: 'deal', data: { title: '{{input.title}}' } }
  await put('actions/slow', { steps: [slow, write], output: '{{steps.d.id}}' })
  await put('actions/quick', { steps: [write] })
  await put('actions/broken', {
    steps: [slow, { name: 'd', type: 'patch_record', record_type: 'deal', id: 'absent', data: {} }],
  })
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})
/** Holds the answers that the runs of a title wait for. Returns what lets them go. */
function hold(title: string): () => void {
  const waiting: (() => void)[] = []
  receiver.on(`/${title}`, (_, response) => void waiting.push(() => response.writeHead(204).end()))
  return () => {
    receiver.on(`/${title}`, answering(204))
    for (const answer of waiting.splice(0)) answer()
  }
}

const put = async (path: string, body: object) =>
  succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
const deals = async (): Promise<string[]> =>
  succeed(await world.call('GET', '/v1/crm/records/deal')).data.map(({ data }: Body) => data.title)

type How = {
  server?: TestServer
  token?: string
  path?: string
  capabilities?: object
  name?: string
  headers?: object
}
const send = async (method: string, params: Body, how: How = {}): Promise<{ status: number; body: Body }> => {
  const { server = world, token = server.adminToken, path = '/mcp/crm', capabilities = DECLARED, name } = how
  const _meta = {
    [`${META}/protocolVersion`]: '2026-07-28',
    [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${META}/clientCapabilities`]: capabilities,
  }
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': name ?? params['name'] ?? params['taskId'] ?? '',
  }
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
  return server.as(token)('POST', path, body, headers)
}
const run = (id: string, title: string, how?: How) =>
  send('tools/call', { name: 'run_action', arguments: { id, input: { title } } }, how)
const got = async (taskId: string, how?: How): Promise<Body> =>
  (await send('tasks/get', { taskId }, how)).body.result
const ended = async (taskId: string): Promise<Body> => {
  for (;;) {
    const task = await got(taskId)
    if (task['status'] !== 'working') return task
    await sleep(50)
  }
}

test.concurrent('a call that takes longer than a second is answered with a task, which tells its progress and its result', async ({
  expect,
}) => {
  const release = hold('long')
  const { result } = (await run('slow', 'long')).body
  expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000 })
  expect(await got(result.taskId)).toMatchObject({
    resultType: 'complete',
    taskId: result.taskId,
    status: 'working',
  })
  await expect.poll(async () => (await got(result.taskId))['statusMessage']).toBe('The action runs.')
  expect(await deals()).not.toContain('long')
  release()
  const task = await ended(result.taskId)
  expect(task).toMatchObject({ resultType: 'complete', status: 'completed' })
  expect(task['result'].structuredContent).toMatchObject({ status: 'succeeded' })
  expect(task['result'].isError).toBeUndefined()
  expect(task['ttlMs']).toBeGreaterThanOrEqual(3_600_000)
  expect(await deals()).toContain('long')
})

test.concurrent('a call that is over within a second is answered with its result', async ({ expect }) => {
  // On a machine that is busy, it may be over later.
  await expect
    .poll(async () => (await run('quick', 'quick')).body.result, { timeout: 20_000 })
    .toMatchObject({ resultType: 'complete', structuredContent: { status: 'succeeded' } })
})

test.concurrent('a client that does not declare the extension waits for the result, and has no tasks', async ({
  expect,
}) => {
  const release = hold('undeclared')
  const answer = run('slow', 'undeclared', { capabilities: {} })
  setTimeout(release, 1500)
  expect((await answer).body.result).toMatchObject({ resultType: 'complete' })
  const id = crypto.randomUUID()
  for (const [method, more] of [
    ['tasks/get'],
    ['tasks/cancel'],
    ['tasks/update', { inputResponses: {} }],
  ] as const) {
    const { status, body } = await send(method, { taskId: id, ...more }, { capabilities: {} })
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: -32021, data: { requiredCapabilities: DECLARED } })
  }
  const { status, body } = await send(
    'subscriptions/listen',
    { notifications: { taskIds: [id] } },
    { capabilities: {} },
  )
  expect(status).toBe(400)
  expect(body.error.code).toBe(-32021)
})

test.concurrent('a call that fails as a task has completed, with the error that it would have had', async ({
  expect,
}) => {
  const release = hold('broken')
  const { result } = (await run('broken', 'broken')).body
  release()
  const task = await ended(result.taskId)
  expect(task['status']).toBe('completed')
  expect(task['result']).toMatchObject({ isError: true })
  expect(JSON.parse(task['result'].content[0].text).error.code).toBe('NOT_FOUND')
})

test.concurrent('a task that is cancelled ends before its next step, and has written nothing', async ({
  expect,
}) => {
  const release = hold('cancelled')
  const { result } = (await run('slow', 'cancelled')).body
  expect((await send('tasks/cancel', { taskId: result.taskId })).body.result).toMatchObject({
    resultType: 'complete',
  })
  expect(await ended(result.taskId)).toMatchObject({ status: 'cancelled' })
  expect(await deals()).not.toContain('cancelled')
  release()
  // An ended task is cancelled in vain.
  expect((await send('tasks/cancel', { taskId: result.taskId })).body.result).toMatchObject({
    resultType: 'complete',
  })
  expect(await got(result.taskId)).toMatchObject({ status: 'cancelled' })
})

test.concurrent('a task is of the token and the address that made the call', async ({ expect }) => {
  const release = hold('mine')
  const { result } = (await run('slow', 'mine')).body
  const taskId = result.taskId
  release()
  await ended(taskId)
  const { token } = await world.newToken([
    { base: 'crm', record_type: '*', environment: '*', permission: 'admin' },
  ])
  for (const [of, how] of [
    [taskId, { token }],
    [taskId, { path: '/mcp/crm?readonly=true' }],
    [taskId, { path: '/mcp' }],
    [crypto.randomUUID(), {}],
    ['1; DROP TABLE plinth.mcp_task', {}],
  ] as const)
    for (const [method, more] of [
      ['tasks/get'],
      ['tasks/cancel'],
      ['tasks/update', { inputResponses: {} }],
    ] as const) {
      const { body } = await send(method, { taskId: of, ...more }, how)
      expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('Unknown task') })
    }
  expect(await got(taskId)).toMatchObject({ status: 'completed' })
})

test.concurrent('a task whose server has ended has failed, and is not kept longer than an hour', async ({
  expect,
}) => {
  const release = hold('lost')
  const { result } = (await run('slow', 'lost')).body
  const set = (column: string, ago: string) =>
    world.database.query(
      `UPDATE plinth.mcp_task SET ${column} = now() - interval '${ago}' WHERE id = '${result.taskId}' RETURNING id`,
    )
  release()
  await ended(result.taskId)
  await world.database.query(
    `UPDATE plinth.mcp_task SET status = 'working', sealed = NULL, message = NULL, updated_at = now() - interval '16 seconds' WHERE id = '${result.taskId}' RETURNING id`,
  )
  const lost = {
    status: 'failed',
    error: { code: -32603, message: 'The server that ran the call has ended.' },
  }
  expect(await got(result.taskId)).toMatchObject(lost)
  expect(await got(result.taskId)).toMatchObject(lost)
  await set('updated_at', '61 minutes')
  expect((await send('tasks/get', { taskId: result.taskId })).body.error.code).toBe(-32602)
  await world.database.query(`SELECT graphile_worker.add_job('sweep_tasks')::text`)
  await expect
    .poll(() => world.database.query(`SELECT id::text FROM plinth.mcp_task WHERE id = '${result.taskId}'`))
    .toEqual([])
})

test.concurrent('who has too many tasks waits for the result', async ({ expect }) => {
  const { token, id } = await world.newToken([
    { base: 'crm', record_type: '*', environment: '*', permission: 'write' },
  ])
  await world.database.query(
    `INSERT INTO plinth.mcp_task (token_id, status) SELECT '${id}', 'completed' FROM generate_series(1, 100) RETURNING id`,
  )
  const release = hold('many')
  const answer = run('slow', 'many', { token })
  setTimeout(release, 1500)
  expect((await answer).body.result).toMatchObject({ resultType: 'complete' })
})

test.concurrent('a task is recorded once, with its end', async ({ expect }) => {
  const { token, id } = await world.newToken([
    { base: 'crm', record_type: '*', environment: '*', permission: 'write' },
  ])
  const release = hold('recorded')
  const { result } = (await run('broken', 'recorded', { token })).body
  release()
  expect(result.resultType).toBe('task')
  const calls = async () => succeed(await world.call('GET', `/v1/crm/calls?token=${id}`)).data
  await expect.poll(calls).toMatchObject([{ tool: 'run_action', outcome: 'NOT_FOUND' }])
  const [call] = await calls()
  expect(call.ms).toBeGreaterThanOrEqual(1000)
})

test.concurrent('what a task answers is stored sealed', async ({ expect }) => {
  const release = hold('discreet')
  const { result } = (await run('slow', 'discreet')).body
  release()
  await ended(result.taskId)
  const rows = await world.database.query(
    `SELECT row_to_json(t)::text AS row FROM plinth.mcp_task t WHERE id = '${result.taskId}'`,
  )
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain('discreet')
})

test.concurrent('a task that asks goes on with the answers, and never uses a name twice', async ({
  expect,
}) => {
  const fixture = await openServer({}, undefined, fixtureProvider())
  const how = { server: fixture, path: '/mcp', capabilities: { ...DECLARED, elicitation: {} } }
  try {
    const { result } = (await send('tools/call', { name: 'asks_twice', arguments: {} }, how)).body
    const taskId = result.taskId
    const asked = async () => {
      await expect
        .poll(async () => (await got(taskId, how))['status'], { timeout: 10_000 })
        .toBe('input_required')
      return Object.keys((await got(taskId, how))['inputRequests'])
    }
    const answer = async (key: string, confirm: boolean) => {
      const inputResponses = { [key]: { action: 'accept', content: { confirm } } }
      expect((await send('tasks/update', { taskId, inputResponses }, how)).body.result).toEqual({
        resultType: 'complete',
        _meta: expect.anything(),
      })
    }
    const first = await asked()
    expect(first).toHaveLength(1)
    await answer('a name of no question', true)
    expect(await asked()).toEqual(first)
    await answer(String(first[0]), true)
    const second = await asked()
    expect(second).toHaveLength(2)
    for (const key of second) expect(first).not.toContain(key)
    // Two answers at the same time are both taken.
    await Promise.all(second.map((key) => answer(key, false)))
    await expect.poll(async () => (await got(taskId, how))['status'], { timeout: 10_000 }).toBe('completed')
    const { result: said } = await got(taskId, how)
    const yes = { action: 'accept', content: { confirm: true } }
    const no = { action: 'accept', content: { confirm: false } }
    expect(JSON.parse(said.content[0].text)).toEqual([yes, { second: no, other: no }])
    // What is cancelled before it asks is cancelled, and not asked.
    const { result: other } = (await send('tools/call', { name: 'asks_twice', arguments: {} }, how)).body
    await send('tasks/cancel', { taskId: other.taskId }, how)
    await expect
      .poll(async () => (await got(other.taskId, how))['status'], { timeout: 10_000 })
      .not.toBe('working')
    expect(await got(other.taskId, how)).toMatchObject({ status: 'cancelled' })
    expect((await got(other.taskId, how))['inputRequests']).toBeUndefined()
  } finally {
    await fixture.close()
  }
})

test.concurrent('the server says that it has tasks to clients of this era only', async ({ expect }) => {
  const { body } = await send('server/discover', {})
  expect(body.result.capabilities.extensions).toMatchObject({ [TASKS]: {} })
  const old = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } }
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: old }
  const { body: legacy } = await world.call('POST', '/mcp/crm', message)
  expect(JSON.stringify(legacy.result.capabilities)).not.toContain('tasks')
})
