/** A query that comes again is executed without yoga. What clients see is the same. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Answer, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const ACCEPT = { json: 'application/json', graphql: 'application/graphql-response+json', all: '*/*' }
const IN_BASE = '/graphql/crm'

let world: World

beforeAll(async () => {
  world = await openWorld()
  const properties = { title: { type: 'string' }, amount: { type: 'number' } }
  succeed(
    await world.call('PUT', '/v1/crm/record-types/task', { json_schema: { type: 'object', properties } }),
    201,
  )
  for (const id of ['t1', 't2'])
    succeed(await world.call('PUT', `/v1/crm/records/task/${id}`, { data: { title: `Title ${id}` } }), 201)
})
afterAll(() => world.close())

/** What an answer says, without what differs from one request to the next. */
const said = ({ status, text, headers }: Answer) => ({
  status,
  type: headers.get('content-type'),
  body: text.replace(/"request_id":"[^"]*"/g, ''),
})

/** The answers to a request that comes three times. */
async function thrice(
  path: string,
  body: object,
  accept = ACCEPT.json,
  call: Call = world.call,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const _ of [1, 2, 3]) answers.push(await call('POST', path, body, { accept }))
  return answers
}

const RECORD = 'query Get($id: String!) { record(base: "crm", recordType: "task", id: $id) { id data } }'
const TASK = 'query Get($id: ID!) { task(id: $id) { id title } }'

const CASES: readonly (readonly [string, string, object])[] = [
  ['a record', '/graphql', { query: RECORD, variables: { id: 't1' } }],
  ['a record of the base', IN_BASE, { query: TASK, variables: { id: 't1' } }],
  ['an absent record', '/graphql', { query: RECORD, variables: { id: 'none' } }],
  ['an absent record of the base', IN_BASE, { query: TASK, variables: { id: 'none' } }],
  ['a variable of another type', '/graphql', { query: RECORD, variables: { id: 7 } }],
  ['a variable of another type, in the base', IN_BASE, { query: TASK, variables: { id: {} } }],
  ['no variables', IN_BASE, { query: TASK }],
  ['variables that are a list', IN_BASE, { query: TASK, variables: [] }],
  ['the name of the operation', IN_BASE, { query: TASK, variables: { id: 't1' }, operationName: 'Get' }],
  ['another name', '/graphql', { query: RECORD, variables: { id: 't1' }, operationName: 'Other' }],
  ['a parameter that does not exist', '/graphql', { query: RECORD, variables: { id: 't1' }, more: 1 }],
  ['two operations', IN_BASE, { query: `${TASK} query B { _base }`, operationName: 'B' }],
  ['a document that is not valid', IN_BASE, { query: '{ task(id: "t1") { none } }' }],
  ['a text that is not GraphQL', '/graphql', { query: '{ record(' }],
  ['the schema', '/graphql', { query: '{ __type(name: "Query") { name } }' }],
  ['the schema of the base', IN_BASE, { query: '{ __type(name: "Task") { name } }' }],
  [
    'an error beside data',
    '/graphql',
    {
      query:
        '{ a: record(base: "none", recordType: "t", id: "x") { id } b: records(base: "crm", recordType: "task") { data { id } } }',
    },
  ],
  [
    'a key that is the prototype',
    IN_BASE,
    { query: '{ __proto__: task(id: "t1") { __typename constructor: title } }' },
  ],
]

for (const [name, path, body] of CASES)
  test(`the answer to a repeated request is that to the first: ${name}`, async () => {
    for (const accept of Object.values(ACCEPT)) {
      const [first, ...others] = (await thrice(path, body, accept)).map(said)
      for (const other of others) expect(other).toEqual(first)
    }
  })

test('a mutation that comes again writes again', async () => {
  const query = 'mutation { createTask(data: { title: "again" }) { task { id } } }'
  const ids = (await thrice(IN_BASE, { query })).map(({ body, text }) => {
    expect(body.errors, text).toBeUndefined()
    return body.data.createTask.task.id as string
  })
  expect(new Set(ids).size).toBe(3)
})

test('a repeated query costs what its variables ask for', { tags: 'full' }, async () => {
  for (const [path, query] of [
    [
      '/graphql',
      `query Page($n: Int = 1000) { ${'abcdefgh'
        .split('')
        .map((key) => `${key}: records(base: "crm", recordType: "task", limit: $n) { data { id } }`)
        .join(' ')} }`,
    ],
    [
      IN_BASE,
      `query Page($n: Int = 1000) { taskRecords(first: $n) { nodes { ${'abc'
        .split('')
        .map((key) => `${key}: _history(first: $n) { version }`)
        .join(' ')} } } }`,
    ],
  ] as const) {
    const [answer] = await thrice(path, { query, variables: { n: 1 } })
    expect.soft(answer?.body.errors, answer?.text).toBeUndefined()
    for (const variables of [{}, { n: 1000 }, {}]) {
      const { status, body } = await world.call('POST', path, { query, variables })
      expect(status).toBe(400)
      expect(body.errors[0].message).toContain('The cost of the query is over the limit')
    }
    // A size that is null is the default of the argument, not that of the variable.
    for (const n of [null, undefined]) {
      const { status } = await world.call('POST', path, { query, variables: { n } })
      expect(status).toBe(n === null ? 200 : 400)
    }
    // A size that has no text is refused as one of any other type is.
    for (const n of [{ toString: null, valueOf: null }, [{ toString: null }], 'x']) {
      const { status, body } = await world.call('POST', path, { query, variables: { n } })
      expect([status, body.errors[0].extensions.code]).toEqual([400, 'VALIDATION_ERROR'])
    }
  }
})
