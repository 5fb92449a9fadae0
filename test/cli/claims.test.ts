// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
})
afterAll(() => world.close())

const run = (...args: string[]) => plinth(args, settings)

test('the CLI claims a record, extends and completes the claim, and waits for records', async () => {
  const type = await world.newType()
  const put = (id: string) =>
    world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: { status: 'open', id } })
  succeed(await put('a'), 201)
  succeed(await put('b'), 201)
  const open = '{"field":"data.status","op":"eq","value":"open"}'

  const claimed = await run('claim', type, '--filter', open, '--sort', '-data.id', '--lease-seconds', '60')
  expect(claimed.out).toMatch(/^claim\texpires_at\tid\t.*\n\S+\t\S+\tb\t/)
  const id = claimed.out.split('\n')[1]?.split('\t')[0] ?? ''
  expect((await run('claims', 'heartbeat', id, '--lease-seconds', '90')).code).toBe(0)
  expect((await run('claims', 'list', '--status', 'active')).out).toMatch(
    new RegExp(`${id}\t${type}\tb\tactive\tadmin\t\\S+\t1\t`),
  )
  expect((await run('claims', 'complete', id)).out).toContain('completed')
  expect((await run('claims', 'get', id)).out).toContain('completed')
  expect(await run('claims', 'release', id)).toMatchObject({ code: 1, out: '' })

  const [again] = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`)).data
  const list = ['--claim-id', again.claim.id, '--claim-id', 'none']
  expect((await run('claims', 'heartbeat', '--claim-id', again.claim.id)).code).toBe(0)
  const done = await run('claims', 'release', ...list)
  expect(done.code).toBe(1)
  expect(done.out).toContain('released')
  expect(done.out).toContain('claim_not_found')

  const found = await run('wait', type, '--filter', open, '--sort', 'id', '--limit', '1', '--fields', 'id')
  expect(found).toEqual({ code: 0, out: 'id\na\n', err: '' })
  const nothing = await run(
    'wait',
    type,
    '--filter',
    '{"field":"id","op":"eq","value":"c"}',
    '--timeout',
    '0',
    '--json',
  )
  expect(JSON.parse(nothing.out).data).toEqual([])
})

test('`claim --patch` writes the data of what it claims, or claims nothing', async () => {
  const type = await world.newType({
    json_schema: { properties: { status: { enum: ['open', 'doing'] } }, additionalProperties: false },
  })
  const path = `/v1/crm/records/${type}/a`
  succeed(await world.call('PUT', path, { data: { status: 'open' } }), 201)
  const refused = await run('claim', type, '--patch', '{"status":"gone"}')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(succeed(await world.call('GET', path))).toMatchObject({ version: 1, data: { status: 'open' } })
  const { out } = await run('claim', type, '--patch', '{"status":"doing"}', '--json')
  expect(JSON.parse(out).data[0].record).toMatchObject({ id: 'a', version: 2, data: { status: 'doing' } })
  expect(succeed(await world.call('GET', path)).data).toEqual({ status: 'doing' })
})
