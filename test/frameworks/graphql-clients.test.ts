// @module-tag frameworks
/** GraphQL clients use `/graphql/{base}` as they come from npm. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { link } from '../support/links.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const RUN = join(import.meta.dirname, 'run-graphql-client.mjs')
/** Generated code finds the packages from here. */
const GENERATED = join(import.meta.dirname, 'node_modules/.generated')

let world: World
let directory: string

beforeAll(async () => {
  await mkdir(GENERATED, { recursive: true })
  directory = await mkdtemp(join(GENERATED, 'run-'))
  world = await openWorld()
  const { call } = world
  const text = { type: 'string' }
  const ticket = {
    title: text,
    stage: { type: 'string', enum: ['open', 'closed'] },
    due: { type: 'string', format: 'date' },
    amount: { type: 'number' },
    labels: {},
    address: { type: 'object', properties: { city: text } },
  }
  for (const [id, properties] of Object.entries({ customer: { name: text }, ticket }))
    succeed(
      await call('PUT', `/v1/crm/record-types/${id}`, { json_schema: { type: 'object', properties } }),
      201,
    )
  const ends = { source_record_types: ['ticket'], target_record_types: ['customer'] }
  succeed(
    await call('PUT', '/v1/crm/relationship-types/customer', { ...ends, cardinality: 'many_to_one' }),
    201,
  )
  // A customer has the id of a ticket.
  for (const id of ['c1', 't1'])
    succeed(await call('PUT', `/v1/crm/records/customer/${id}`, { data: { name: `Name ${id}` } }), 201)
  for (const id of ['t1', 't2', 't3']) {
    const data = { title: `Title ${id}`, stage: 'open', address: { city: 'Bern' } }
    succeed(await call('PUT', `/v1/crm/records/ticket/${id}`, { data }), 201)
  }
  for (const [source, target] of [
    ['t1', 'c1'],
    ['t2', 't1'],
  ] as const)
    succeed(
      await call('POST', '/v1/crm/relationships', link('customer', ['ticket', source], ['customer', target])),
      201,
    )
})
afterAll(async () => {
  await world.close()
  await rm(directory, { recursive: true, force: true })
})

const run = promisify(execFile)
async function use(client: string): Promise<Body> {
  const args = [RUN, client, `${world.url}/graphql/crm`, world.adminToken, directory]
  const { stdout } = await run(process.execPath, args, {
    cwd: import.meta.dirname,
    maxBuffer: 2 ** 24,
    timeout: 600_000,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

const address = { city: 'Bern' }
const LIST = [
  { id: 't1', title: 'Changed', address, customer: { id: 'c1', name: 'Name c1' } },
  { id: 't2', title: 'Title t2', address, customer: { id: 't1', name: 'Name t1' } },
  { id: 't3', title: 'Title t3', address, customer: null },
]

test('Apollo Client keeps records apart, shows a change in a list, and requests nothing twice', async () => {
  const { list, keys, requests, warnings } = await use('apollo')
  expect(list).toEqual(LIST)
  expect(keys).toEqual(expect.arrayContaining(['Customer:t1', 'Ticket:t1']))
  expect([requests, warnings]).toEqual([4, []])
})

test('graphcache of urql does so too, and embeds objects within a record', async () => {
  const { list, requests, warnings } = await use('urql')
  expect(list).toEqual(LIST)
  expect(requests).toBe(4)
  const keyless = warnings.filter((text: string) => text.startsWith('Invalid key'))
  expect(keyless.filter((text: string) => !text.includes('`Ticket__address`'))).toEqual([])
})

test('the client preset of GraphQL Code Generator writes code that is strict TypeScript', async () => {
  expect((await use('codegen')).faults).toEqual([])
})

test('relay-compiler compiles a page of a connection', async () => {
  const { code, isMade, text } = await use('relay')
  expect({ code, isMade }, text).toEqual({ code: 0, isMade: true })
})

test('the audit of GraphQL over HTTP has no warning on either address', async () => {
  const { found } = await use('audit')
  expect(found.filter(({ status }: { status: string }) => status !== 'notice')).toEqual([])
})
