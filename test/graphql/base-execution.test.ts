/** The executor of queries on a base answers as graphql-js does. */
import { execute, type GraphQLError, parse } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEngine } from '../../src/engine/engine.ts'
import { executeTyped } from '../../src/graphql/base/execute-query.ts'
import { schemaOf } from '../../src/graphql/base/schemas.ts'
import { openContext } from '../../src/graphql/context.ts'
import { succeed } from '../support/answers.ts'
import { engineOptions } from '../support/engine-options.ts'
import { link } from '../support/links.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let engine: Awaited<ReturnType<typeof openEngine>>

beforeAll(async () => {
  world = await openWorld()
  const { call } = world
  const text = { type: 'string' }
  const ticket = {
    title: text,
    amount: { type: 'number' },
    due: { type: 'string', format: 'date' },
    stage: { type: 'string', enum: ['open', 'closed'] },
    tags: { type: 'array', items: text },
    address: { type: 'object', properties: { city: text, geo: { type: 'object', properties: { lat: {} } } } },
    labels: {},
  }
  for (const [id, properties] of Object.entries({ ticket, customer: { name: text } }))
    succeed(
      await call('PUT', `/v1/crm/record-types/${id}`, { json_schema: { type: 'object', properties } }),
      201,
    )
  const toOne = { cardinality: 'many_to_one' }
  const ends = { source_record_types: ['ticket'], target_record_types: ['customer'] }
  succeed(await call('PUT', '/v1/crm/relationship-types/customer', { ...ends, ...toOne }), 201)
  succeed(await call('PUT', '/v1/crm/relationship-types/about', {}), 201)
  const records = [
    ['customer', 'c1', { name: 'Ada' }],
    ['customer', 'c2', {}],
    [
      'ticket',
      't1',
      { title: 'One', amount: 2, due: '2026-01-31', stage: 'open', tags: ['a', 'b'], labels: { a: [null] } },
    ],
    ['ticket', 't2', { address: { city: 'Bern', geo: { lat: 4 } } }],
    ['ticket', 't3', {}],
  ] as const
  for (const [type, id, data] of records)
    succeed(await call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  for (const [relType, source, target] of [
    ['customer', 't1', 'customer/c1'],
    ['customer', 't2', 'customer/c1'],
    ['about', 't1', 'customer/c2'],
    ['about', 't1', 'ticket/t2'],
  ] as const) {
    const [recordType = '', id = ''] = target.split('/')
    const body = link(relType, ['ticket', source], [recordType, id])
    succeed(await call('POST', '/v1/crm/relationships', body), 201)
  }
  engine = await openEngine(await engineOptions(world))
})
afterAll(async () => {
  await engine?.close()
  await world.close()
})

async function both(query: string, variableValues: object): Promise<unknown[]> {
  const session = await engine.authenticate(world.adminToken)
  if (!session) throw new Error('There is no such token')
  const document = parse(query)
  const answers = []
  for (const run of [execute, executeTyped]) {
    const contextValue = openContext(engine, session, 'graphql', 'request')
    const schema = await schemaOf(contextValue, 'crm')
    const { data, errors } = await run({
      ...{ schema, document, contextValue },
      variableValues: variableValues as Record<string, unknown>,
    })
    const told = errors
      ?.map((error: GraphQLError) => JSON.stringify([error.toJSON(), String(error.originalError)]))
      .sort()
    answers.push(JSON.parse(JSON.stringify({ data, errors: told })))
  }
  return answers
}

const FIELDS =
  'id _type _version _status _valid _createdAt _data title amount due stage tags labels address { city geo { lat } }'

/** Queries, and the number of their errors. */
const CORPUS: readonly (readonly [string, number, object?])[] = [
  [`{ ticketRecords(sort: [{ id: ASC }]) { totalCount nodes { ${FIELDS} } } }`, 0],
  ['{ __typename _base a: ticket(id: "t1") { __typename t: title } b: ticket(id: "none") { id } }', 0],
  [
    '{ ticketRecords { edges { cursor node { id } _linkId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
    0,
  ],
  [
    '{ customerRecords(sort: [{ id: ASC }]) { nodes { name customer_of(first: 1) { nodes { id customer { name } } pageInfo { endCursor } } more: customer_of { totalCount } } } }',
    0,
  ],
  [
    '{ ticket(id: "t1") { about { nodes { id _type ... on Ticket { title } ... on Customer { name } } } } }',
    0,
  ],
  [
    '{ ticket(id: "t1") { about { edges { _linkData node { __typename id ...T ... on Customer { name about_of { totalCount } } } } } } } fragment T on Ticket { title }',
    0,
  ],
  [
    'query($yes: Boolean!, $no: Boolean = false) { ticketRecords { nodes { id title @include(if: $yes) stage @skip(if: $yes) ... @include(if: $no) { due } ...T @skip(if: $no) } } } fragment T on Ticket { amount }',
    0,
    { yes: true },
  ],
  [
    '{ ticket(id: "t1") { address { city } address { geo { lat } } ...T } } fragment T on Ticket { address { c: city } }',
    0,
  ],
  ['{ __proto__: ticket(id: "t1") { constructor: title __proto__: id } }', 0],
  [
    '{ a: ticket(id: "t1") { b_c: _history { seq } b: customer { c: id } } a_b: ticket(id: "t2") { c: id } }',
    0,
  ],
  ['{ ticket(id: "t1") { _history(first: 5) { seq operation version at actor { name via } diff } } }', 0],
  [
    '{ ticketAggregate(groupBy: [{ stage: true }, { _createdAt: YEAR }]) { group { stage } count sum { amount } max { due title } countDistinct { title } } }',
    0,
  ],
  ['{ ticket { id } other: ticket(id: "t1") { id } }', 1],
  ['{ ticket(id: "t1") { id } ticketRecords(first: 0) { nodes { id } } }', 1],
  ['{ ticket(id: "t1", externalId: "x") { id } }', 1],
  ['{ customerRecords { nodes { customer_of(first: 5000) { totalCount } } } }', 1],
  ['{ ticketRecords(where: { stage: {} }) { totalCount } }', 1],
  ['query($id: ID!) { ticket(id: $id) { id } }', 1],
  [
    'query($w: Ticket_Where, $n: Int) { ticketRecords(where: $w, first: $n) { nodes { id } } }',
    1,
    { n: 'x' },
  ],
  [
    'query($w: Ticket_Where, $s: [Ticket_Sort!]) { ticketRecords(where: $w, sort: $s) { nodes { id } } }',
    0,
    {
      w: { _or: [{ stage: { eq: 'open' } }, { _not: { customer: { name: { eq: 'Ada' } } } }] },
      s: [{ id: 'DESC' }],
    },
  ],
  ['query($w: Ticket_Where) { ticketRecords(where: $w) { nodes { id } } }', 1, { w: { none: 1 } }],
  [
    'query($s: [Ticket_Sort!]) { ticketRecords(sort: $s) { nodes { id } } }',
    1,
    { s: [{ id: 'DESC', title: 'ASC' }] },
  ],
  ['query A { ticket(id: "t1") { id } } query B { _base }', 1],
  ['mutation { createTicket(data: { title: "New" }, dryRun: true) { ticket { title } operation } }', 0],
]

test.each(CORPUS.map(([query, faults, variables = {}]) => ({ query, faults, variables })))(
  '$query',
  async ({ query, faults, variables }) => {
    const [expected, found] = (await both(query, variables)) as { errors?: unknown[] }[]
    expect(expected?.errors ?? [], JSON.stringify(expected)).toHaveLength(faults)
    expect(found).toEqual(expected)
  },
)
