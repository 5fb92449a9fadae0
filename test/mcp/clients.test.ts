import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonOf } from '../support/mcp.ts'
import { type Door, DRIVERS, type Driver, inspect } from '../support/mcp-drivers.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/crm/record-types/task', {
    json_schema: {
      type: 'object',
      properties: { title: { type: 'string' }, state: { enum: ['open', 'done'] } },
      required: ['title'],
      additionalProperties: false,
    },
  })
})
afterAll(() => server.close())

/** Clients that start a process for each call. */
const COMMANDS = ['Inspector legacy', 'Inspector modern', 'mcporter']
/** Tested with other protocol versions, and over stdio by mcporter. */
const SKIPPED = [
  'http Inspector auto',
  ...['legacy', 'auto', 'modern'].map((era) => `stdio Inspector ${era}`),
]
const CASES = (['http', 'stdio'] as const)
  .flatMap((way) => Object.entries(DRIVERS).map(([name, open]) => ({ way, name, open })))
  .filter(({ way, name }) => !SKIPPED.includes(`${way} ${name}`))
  .map((each) => ({ ...each, tags: COMMANDS.includes(each.name) ? ['full'] : [] }))

for (const { name, way, open, tags } of CASES)
  describe(`${name} over ${way}`, { tags }, () => {
    let driver: Driver
    beforeAll(async () => {
      const door: Door = { way, url: server.url, token: server.adminToken, base: 'crm' }
      driver = await open(door)
    })
    afterAll(() => driver?.close())

    test('lists the tools', { tags: 'full' }, async () => {
      const names = await driver.list()
      expect(names).toEqual(expect.arrayContaining(['list_types', 'query_records', 'create_task']))
      expect(names).not.toContain('put_base')
    })

    test('creates a record and reads it back', async () => {
      const made = await driver.call('create_task', { title: 'ü "quoted"\n', state: 'open' })
      expect(made).toMatchObject({ isError: false, body: { version: 1, operation: 'created' } })
      const read = await driver.call('get_record', { record_type: 'task', id: made.body.id })
      expect(read).toMatchObject({ isError: false, body: { data: { title: 'ü "quoted"\n', state: 'open' } } })
      expect(jsonOf(read.text)).toEqual(read.body)
    })

    test('gets the allowed values in an error and succeeds with one of them', { tags: 'full' }, async () => {
      const { isError, text } = await driver.call('create_task', { title: 'a', state: 'opne' })
      expect(isError).toBe(true)
      const { error } = JSON.parse(text) as Body
      expect(error.details[0]).toMatchObject({ path: '/state', allowed: ['open', 'done'] })
      const [state] = error.details[0].allowed
      const mended = await driver.call('create_task', { title: 'a', state })
      expect(mended).toMatchObject({ isError: false, body: { data: { state: 'open' } } })
    })
  })

test('the Inspector reports no tool as non-portable, but for arguments that take values of any type', {
  tags: 'full',
}, async () => {
  const door: Door = { way: 'http', url: server.url, token: server.adminToken, base: 'crm' }
  const { code, err } = await inspect(door, 'modern', ['--method', 'tools/list', '--strict'])
  const issues = [...err.matchAll(/Path: (\S+)\n\s+Issue: (.*?)[,—]/g)].map(
    ([, path, issue]) => `${path} ${issue}`,
  )
  const anyValue = (path: string) =>
    `inputSchema.properties.${path} Schema carries no validation keyword at all`
  expect([code, issues]).toEqual([0, [anyValue('group_by.items'), anyValue('params'), anyValue('params')]])
  expect(err).toMatch(/^0 errors, 3 warnings/m)
})
