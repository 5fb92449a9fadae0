/** The tools configuration, configure and run_action. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, connect, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['deal', 'task'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
})
afterAll(() => world.close())

const TOOLS = ['configuration', 'configure', 'run_action']
const call = (name: string, args: Body, token = world.adminToken, path = '/mcp/crm') =>
  callTool(world, path, name, args, { token })
const rest = async (path: string) => succeed(await world.call('GET', `/v1/crm/${path}`))
const WIN = {
  input_schema: { properties: { deal: { type: 'string' } }, required: ['deal'] },
  steps: [{ name: 'task', type: 'create_record', record_type: 'task', data: { of: '{{input.deal}}' } }],
  output: { task: '{{steps.task.id}}' },
}

describe('the tools of configuration', () => {
  test('are called at every address of the base, and listed where its options name them', {
    tags: 'full',
  }, async () => {
    const listed = async (path: string, token = world.adminToken) =>
      (await rpc(world, path, 'tools/list', undefined, { token })).body.result.tools.map(
        ({ name }: Body) => name,
      )
    for (const path of ['/mcp/crm', '/mcp/crm?profile=lean', '/mcp'])
      expect((await listed(path)).filter((name: string) => TOOLS.includes(name))).toEqual([])
    const named = `/mcp/crm?tools=${TOOLS.join()}`
    expect(await listed(named)).toEqual(TOOLS)
    expect(await listed(`${named}&readonly=1`)).toEqual(['configuration'])
    const writer = await world.newToken([{ permission: 'write' }])
    expect(await listed(named, writer.token)).toEqual(['configuration', 'run_action'])
    const lean = await call('configuration', { kind: 'trigger' }, world.adminToken, '/mcp/crm?profile=lean')
    expect(lean.body.data).toEqual([])
    const narrowed = await call('configuration', { kind: 'trigger' }, world.adminToken, '/mcp/crm?types=deal')
    expect(narrowed.error.code).toBe('FORBIDDEN')
    const anywhere = await call('configuration', { base_id: 'crm', kind: 'seed' }, world.adminToken, '/mcp')
    expect(anywhere.body.data).toEqual([])
  })

  test('are named by the instructions for a token that may use them, and by an error about a similar name', {
    tags: 'full',
  }, async () => {
    const writer = await world.newToken([{ permission: 'write' }])
    for (const [token, says] of [
      [world.adminToken, true],
      [writer.token, false],
    ] as const) {
      const client = await connect(world.url, token, 'v1', '/mcp/crm')
      expect(client.getInstructions()?.includes('configure and run_action')).toBe(says)
      await client.close()
    }
    for (const [name, meant] of [
      ['put_trigger', 'configure'],
      ['create_webhook', 'configure'],
      ['rotate_secret', 'configure'],
      ['list_actions', 'configuration'],
      ['list_deliveries', 'configuration'],
      ['execute_action', 'run_action'],
    ] as const)
      expect((await call(name, {})).rpcError.message).toContain(`"${meant}"`)
  })

  test.each([
    ['trigger', 'triggers', { url: 'https://hooks.example.com/x', record_types: ['deal'] }],
    ['inbound_webhook', 'inbound-webhooks', { record_type: 'deal', signature: { scheme: 'github' } }],
    ['action', 'actions', WIN],
    ['endpoint', 'endpoints', { tools: [{ record_type: 'deal', operations: ['get'] }] }],
    ['toolset', 'toolsets', { tools: [{ record_type: 'deal', operations: ['get'] }] }],
    ['file_type', 'file-types', { storage: { max_bytes: 1000 } }],
  ] as const)('create, change, read and delete a %s as REST does', async (kind, path, fields) => {
    const made = await call('configure', { kind, id: 'mine', fields })
    expect(made.body).toMatchObject({ id: 'mine', operation: 'created', version: 1 })
    for (const name of Object.keys(fields)) expect(made.body[name]).not.toEqual((fields as Body)[name])
    const stored = await rest(`${path}/mine`)
    expect((await call('configuration', { kind, id: 'mine' })).body).toEqual(stored)
    expect((await call('configuration', { kind })).body.data).toEqual([stored])
    const changed = await call('configure', {
      ...{ kind, id: 'mine', fields: { name: 'Renamed' }, expected_version: 1 },
    })
    expect(changed.body).toMatchObject({ operation: 'updated', version: 2 })
    expect(await rest(`${path}/mine`)).toEqual({
      ...{ ...stored, name: 'Renamed', version: 2, updated_at: expect.any(String) },
    })
    const late = await call('configure', {
      ...{ kind, id: 'mine', fields: { name: 'Late' }, expected_version: 1 },
    })
    expect(late.error.code).toBe('CONFLICT')
    const tried = await call('configure', { kind, id: 'mine', act: 'delete', dry_run: true })
    expect(tried.body).toMatchObject({ deleted: true, dry_run: true })
    expect(await rest(`${path}/mine`)).toMatchObject({ name: 'Renamed' })
    const gone = await call('configure', { kind, id: 'mine', act: 'delete' })
    const confirmed = gone.body.plan_token
      ? await call('configure', { plan_token: gone.body.plan_token })
      : gone
    expect(confirmed.body).toMatchObject({ id: 'mine', deleted: true })
    expect((await call('configuration', { kind, id: 'mine' })).error.code).toBe('NOT_FOUND')
  })

  test('show a secret once, and act on a trigger and its deliveries', { tags: 'full' }, async () => {
    const fields = { url: 'https://hooks.example.com/y', record_types: ['deal'], enabled: false }
    const made = await call('configure', { kind: 'trigger', id: 'sends', fields })
    expect(made.body.secret).toMatch(/^whsec_/)
    const shown = await call('configuration', { kind: 'trigger', id: 'sends' })
    expect(shown.body.secret).toBe('<redacted>')
    const rotated = await call('configure', { kind: 'trigger', id: 'sends', act: 'rotate_secret' })
    expect(rotated.body.secret).toMatch(/^whsec_/)
    expect(rotated.body.secret).not.toBe(made.body.secret)
    const sent = await call('configure', { kind: 'trigger', id: 'sends', act: 'test' })
    expect(sent.body).toMatchObject({ event: 'trigger.test', status: 'pending' })
    const log = await call('configuration', { kind: 'trigger', id: 'sends', log: true })
    expect(log.body.data).toMatchObject([{ id: sent.body.id, event: 'trigger.test' }])
    const unknown = await call('configure', {
      ...{ kind: 'trigger', id: 'sends', act: 'replay', delivery_id: 'none' },
    })
    expect(unknown.error.code).toBe('NOT_FOUND')
    await call('configure', { kind: 'trigger', id: 'sends', act: 'delete' })
  })

  test('apply, reset and clear a seed in a preview, and not in production', { tags: 'full' }, async () => {
    succeed(await world.call('POST', '/v1/crm/preview', { name: 'seeded' }), 201)
    const at = '/mcp/crm--seeded'
    const seed = (args: Body, path = at) =>
      call('configure', { kind: 'seed', id: 'demo', ...args }, world.adminToken, path)
    const records = [{ record_type: 'task', external_id: 'a', data: { n: 1 } }]
    expect((await seed({ fields: { records } })).error).toBeUndefined()
    expect((await seed({ act: 'apply', dry_run: true })).body).toMatchObject({ dry_run: true })
    expect((await seed({ act: 'apply' })).body).toMatchObject({ id: 'demo', records: { created: 1 } })
    expect((await seed({ act: 'reset' })).body).toMatchObject({ records: { unchanged: 1 } })
    expect((await seed({ act: 'clear' })).body).toMatchObject({ records: { deleted: 1 } })
    expect((await seed({ act: 'apply' }, '/mcp/crm')).error.code).toBe('FORBIDDEN')
    const trigger = await call('configure', { kind: 'trigger', id: 'demo', act: 'apply' })
    expect(trigger.error.details[0]).toMatchObject({ path: '/act', code: 'enum' })
  })

  test('run an action, and show its runs', { tags: 'full' }, async () => {
    await call('configure', { kind: 'action', id: 'win', fields: WIN })
    const writer = await world.newToken([{ permission: 'write' }])
    const { body } = await call('run_action', { id: 'win', input: { deal: 'd1' } }, writer.token)
    expect(body).toMatchObject({ status: 'succeeded', output: { task: expect.any(String) } })
    expect((await rest(`records/task/${body.output.task}`)).data).toEqual({ of: 'd1' })
    const refused = await call('run_action', { id: 'win', input: {} }, writer.token)
    expect(refused.error.details[0]).toMatchObject({ path: '/input/deal', code: 'required' })
    const reader = await world.newToken([{ permission: 'read' }])
    expect((await call('run_action', { id: 'win', input: { deal: 'd2' } }, reader.token)).error.code).toBe(
      'FORBIDDEN',
    )
    const log = await call('configuration', { kind: 'action', id: 'win', log: true }, reader.token)
    expect(log.body.data).toMatchObject([{ id: body.run_id, status: 'succeeded', input: { deal: 'd1' } }])
    const none = { kind: 'action', id: 'win', log: true, status: 'failed' }
    expect((await call('configuration', none)).body.data).toEqual([])
  })

  test('refuse what does not fit, and a token that may not', { tags: 'full' }, async () => {
    const bad = await call('configure', { kind: 'trigger', id: 't', fields: { url: 'http://127.0.0.1/' } })
    expect(bad.error.details[0]).toMatchObject({ path: '/fields/url', code: 'blocked_address' })
    const odd = await call('configure', { kind: 'trigger', id: 't', fields: { urll: 'https://e.com' } })
    expect(odd.error.details[0]).toMatchObject({ path: '/fields/urll', code: 'unknown_key', hint: 'url' })
    for (const [args, path] of [
      [{ kind: 'trigger', id: 't' }, '/fields'],
      [{ kind: 'trigger', id: 't', fields: {}, act: 'delete' }, '/fields'],
      [{ kind: 'action', id: 't', act: 'test' }, '/act'],
      [{ kind: 'trigger', id: 't', act: 'replay' }, '/delivery_id'],
      [{ kind: 'trigger', id: 't', act: 'test', delivery_id: 'x' }, '/delivery_id'],
      [{ kind: 'trigger', id: 't', act: 'delete', delivery_id: 'x' }, '/delivery_id'],
      [{ kind: 'record_type', id: 't', fields: {} }, '/kind'],
    ] as const)
      expect((await call('configure', args)).error.details[0].path).toBe(path)
    for (const other of [{ status: 'dead' }, { id: 't', limit: 3 }, { id: 't', cursor: 'x' }])
      expect((await call('configuration', { kind: 'trigger', ...other })).error.details[0]).toMatchObject({
        ...{ path: `/${Object.keys(other).at(-1)}`, code: 'exclusive' },
      })
    const noLog = await call('configuration', { kind: 'seed', id: 'x', log: true })
    expect(noLog.error.details[0]).toMatchObject({
      path: '/kind',
      allowed: expect.arrayContaining(['action']),
    })
    const writer = await world.newToken([{ permission: 'write' }])
    expect((await call('configure', { kind: 'trigger', id: 't', fields: {} }, writer.token)).error.code).toBe(
      'FORBIDDEN',
    )
    const limited = await world.newToken([{ record_type: 'deal', permission: 'manage' }])
    for (const [name, args] of [
      ['configuration', { kind: 'trigger' }],
      ['configure', { kind: 'trigger', id: 't', fields: { url: 'https://e.com' } }],
      ['run_action', { id: 'win', input: { deal: 'd' } }],
    ] as const)
      expect((await call(name, args, limited.token)).error.code).toBe('FORBIDDEN')
    expect((await world.call('GET', '/v1/crm/triggers/t')).status).toBe(404)
  })

  test('define takes the sources of a record type', async () => {
    const sources = [
      {
        name: 'up',
        list: { url: 'https://up.example.com/items' },
        field_mapping: { to_plinth: { external_id: '$.id' } },
      },
    ]
    const made = await call('define', { record_type: 'item', sources })
    expect(made.error).toBeUndefined()
    expect(made.body).toMatchObject({ operation: 'created', sources: [{ name: 'up' }] })
    expect(await rest('record-types/item')).toMatchObject({ sources: [{ name: 'up' }] })
  })
})
