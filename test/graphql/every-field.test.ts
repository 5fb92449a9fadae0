/** Has a sample for every field of Query and Mutation, and checks rules that apply to all. */

import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { sampleOf } from '../support/cases.ts'
import { fillGraph, MUTATIONS, QUERIES } from '../support/graph-samples.ts'
import type { Body } from '../support/server.ts'
import { openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'))
const fieldsOf = (type: 'Query' | 'Mutation') =>
  Object.keys(
    (schema.getType(type)?.toConfig() &&
      (type === 'Query' ? schema.getQueryType() : schema.getMutationType())?.getFields()) ||
      {},
  )

let world: World
let upstream: Upstream
let stranger: World['call']
/** Has `admin` on the endpoint `desk` of the base, and no other grant. */
let atDesk: World['call']
let filled: (sample: string, dry: string) => string
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  filled = await fillGraph(world, upstream)
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  atDesk = (await world.newToken([{ endpoint: 'desk', environment: 'production', permission: 'admin' }])).call
  stranger = (await world.newToken([{ base: 'other', permission: 'admin' }])).call
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

const send = async (document: string, call = world.call): Promise<Body> =>
  (await call('POST', '/graphql', { query: document })).body
const logLength = async () => {
  const [row] = await world.database.query<{ n: string }>('SELECT count(*) AS n FROM plinth.change')
  return Number(row?.n)
}

test('every Query and Mutation field has a sample', () => {
  expect(Object.keys(QUERIES).sort()).toEqual(fieldsOf('Query').sort())
  // `importBase` takes a file that the same request has stored, and `ingest` what a signed delivery brought: no request with a token can run it.
  expect([...Object.keys(MUTATIONS), 'ingest', 'importBase'].sort()).toEqual(fieldsOf('Mutation').sort())
})

describe('the GraphQL query', () => {
  test.each(Object.entries(QUERIES))(
    '%s returns data to an administrator',
    { tags: 'full' },
    async (name, sample) => {
      const { data, errors } = await send(`{ ${filled(sample, '')} }`)
      expect(errors).toBeUndefined()
      expect(data[name]).not.toBeNull()
    },
  )

  test.each(sampleOf(Object.entries(QUERIES)))(
    '%s returns no data of the base to a token without a grant on it',
    { tags: 'sampled' },
    async (name, sample) => {
      const { data, errors } = await send(`{ ${filled(sample, '')} }`, stranger)
      if (errors) expect([name, errors[0].extensions.code]).toEqual([name, 'FORBIDDEN'])
      else expect([name, JSON.stringify(data)]).toEqual([name, expect.not.stringMatching(/crm|"a"|"task"/)])
    },
  )
})

/** What an endpoint grant reaches, and what it shows of the base. */
const AT_DESK: Record<string, unknown> = {
  base: { id: 'crm', name: 'crm' },
  bases: { data: [{ id: 'crm' }] },
  calls: { data: [], nextBefore: null },
  usage: [],
  ownToken: expect.objectContaining({ grants: [expect.objectContaining({ endpoint: 'desk' })] }),
  secrets: { data: [] },
  servedEndpoint: { __typename: 'ServedEndpoint' },
  tokens: { data: [expect.anything()] },
}

/** What every token may write: it is about the token itself. */
const OF_ANY_TOKEN = ['createSignInCode']

describe('with a grant on one endpoint', () => {
  test.each(sampleOf(Object.entries(QUERIES)))(
    'the query %s shows nothing else of the base',
    { tags: 'sampled' },
    async (name, sample) => {
      const { data, errors } = await send(`{ ${filled(sample, '')} }`, atDesk)
      if (name in AT_DESK) expect(data[name]).toEqual(AT_DESK[name])
      else expect([name, errors?.[0].extensions.code]).toEqual([name, 'FORBIDDEN'])
    },
  )

  test.each(sampleOf(Object.entries(MUTATIONS).filter(([name]) => !OF_ANY_TOKEN.includes(name))))(
    'the mutation %s is refused and writes nothing',
    { tags: 'sampled' },
    async (name, sample) => {
      const before = await logLength()
      const { errors } = await send(`mutation { ${filled(sample, '')} }`, atDesk)
      expect([name, errors?.[0].extensions.code]).toEqual([name, 'FORBIDDEN'])
      expect(await logLength()).toBe(before)
    },
  )
})

describe('the GraphQL mutation', () => {
  // The token of this server is one of its settings, which no request replaces.
  const runnable = Object.entries(MUTATIONS).filter(([name]) => name !== 'rotateAdminToken')
  test.each(runnable)('%s with dryRun writes nothing to the log', { tags: 'full' }, async (name, sample) => {
    const before = await logLength()
    const { data, errors } = await send(`mutation { ${filled(sample, ', dryRun: true')} }`)
    expect(errors).toBeUndefined()
    expect(data[name]).not.toBeNull()
    expect(await logLength()).toBe(before)
  })

  test.each(sampleOf(Object.entries(MUTATIONS).filter(([name]) => !OF_ANY_TOKEN.includes(name))))(
    '%s is refused without a grant on the base, and writes nothing to the log',
    { tags: 'sampled' },
    async (name, sample) => {
      const before = await logLength()
      const { errors } = await send(`mutation { ${filled(sample, '')} }`, stranger)
      expect([name, errors?.[0].extensions.code]).toEqual([
        name,
        expect.stringMatching(/^(FORBIDDEN|NOT_FOUND)$/),
      ])
      expect(await logLength()).toBe(before)
    },
  )
})
