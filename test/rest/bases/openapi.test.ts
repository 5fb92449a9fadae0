/** `GET /v1/{base}/openapi.json`: the description of one base, as the token sees it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
/** Reads `deal`, and writes `company`. It may not see `secret`. */
let narrow: Call
let document: Body

const DEAL = {
  type: 'object',
  required: ['title', 'stage'],
  properties: {
    title: { type: 'string', minLength: 1, description: 'What it is about.' },
    stage: { enum: ['open', 'won'], default: 'open' },
    amount: { type: ['number', 'null'], minimum: 0 },
    tags: { type: 'array', items: { type: 'string' } },
    buyer: { $ref: '#/$defs/person' },
  },
  $defs: { person: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
}

beforeAll(async () => {
  world = await openWorld()
  const types = {
    deal: DEAL,
    company: { properties: { name: { type: 'string' }, notes: { type: 'array' } } },
    secret: {},
    records: {},
    // What generators of clients have stumbled over.
    odd: {
      properties: {
        pick: { enum: [{ a: 1 }, 'b'] },
        fixed: { const: { a: 1 } },
        $ref: { type: 'string' },
        name: { type: 'string' },
      },
      required: ['$ref'],
    },
  }
  for (const [id, json_schema] of Object.entries(types))
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema }), 201)
  const token = await world.newToken([
    { record_type: 'deal', permission: 'read' },
    { record_type: 'company', permission: 'write' },
  ])
  narrow = token.call
  document = succeed(await world.call('GET', '/v1/crm/openapi.json'))
})
afterAll(() => world.close())

const schemaOf = (path: string, of: Body = document) =>
  path.split('/').reduce((node, part) => node?.[part.replaceAll('~1', '/')], of)
const referenced = (text: string) => [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)

test('enums have no objects, and a property named $ref is no reference', async () => {
  const OddData = document.components.schemas.Odd_Data
  expect(Object.keys(OddData.properties)).toEqual(['pick', 'fixed', 'name'])
  expect(JSON.stringify(OddData.properties)).not.toContain('enum')
  expect(OddData.patternProperties).toEqual({ '^\\$ref$': { type: 'string' } })
})

test('lists have the media types of rows', () => {
  const { get } = document.paths['/v1/crm/records/deal']
  expect(Object.keys(get.responses[200].content)).toEqual([
    'application/json',
    'text/csv',
    'application/x-ndjson',
  ])
})

/** Whether the value is valid for a component of the description. */
function isValid(component: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  return ajv.validate({ $ref: `openapi#/components/schemas/${component}` }, value)
}

test('each record type has paths of its own, whose records have its schema', () => {
  expect(document.openapi).toBe('3.1.0')
  const { get, put } = document.paths['/v1/crm/records/deal/{id}']
  expect(get.operationId).toBe('deal.get')
  expect(put.requestBody.content['application/json'].schema.properties.data).toEqual({
    $ref: '#/components/schemas/Deal_Input',
  })
  expect(get.responses[200].content['application/json'].schema.$ref).toBe('#/components/schemas/Deal_One')
  expect(document.components.schemas.Deal_Data).toEqual({
    type: 'object',
    required: ['title', 'stage'],
    properties: {
      title: { type: 'string', minLength: 1, description: 'What it is about.' },
      stage: { type: 'string', enum: ['open', 'won'], description: 'Default: "open"' },
      amount: { type: expect.arrayContaining(['number', 'null']), minimum: 0 },
      tags: { type: 'array', items: { type: 'string' } },
      buyer: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    },
  })
  expect(document.components.schemas.Deal_Input.required).toEqual(['title'])
  expect(document.components.schemas.Company_Input).toEqual({ $ref: '#/components/schemas/Company_Data' })
  expect(document.components.schemas.Company_Data.properties.notes).toEqual({ type: 'array', items: {} })
})

test('what is sent and answered is valid for the description', { tags: 'full' }, async () => {
  const write = { data: { title: 'Anvils', amount: 12.5, buyer: { name: 'Ada' } } }
  expect(isValid('Deal_Input', write.data)).toBe(true)
  const put = succeed(await world.call('PUT', '/v1/crm/records/deal/d1', write), 201)
  expect(isValid('Deal_Put', put)).toBe(true)
  const patch = { stage: 'won', buyer: null }
  expect(isValid('Deal_Patch', patch)).toBe(true)
  expect(
    isValid('Deal_Written', succeed(await world.call('PATCH', '/v1/crm/records/deal/d1', { data: patch }))),
  ).toBe(true)
  expect(isValid('Deal_One', succeed(await world.call('GET', '/v1/crm/records/deal/d1')))).toBe(true)
  const query = { filter: { and: [{ field: 'data.stage', op: 'in', value: ['won'] }] }, limit: 5 }
  expect(isValid('Deal_Filter', query.filter)).toBe(true)
  const { data } = succeed(await world.call('POST', '/v1/crm/records/deal/query', query))
  expect(data.map((record: Body) => isValid('Deal_Found', record))).toEqual([true])
})

test('what the schema excludes is not valid for the description', { tags: 'full' }, () => {
  expect(isValid('Deal_Input', { title: '' })).toBe(false)
  expect(isValid('Deal_Input', {})).toBe(false)
  expect(isValid('Deal_Patch', { stage: 'lost' })).toBe(false)
  for (const filter of [
    { field: 'data.stagee', op: 'eq', value: 'won' },
    { field: 'data.stage', op: 'eq', value: 'lost' },
    { field: 'data.amount', op: 'like', value: '1%' },
    { or: [{ field: 'data.amount', op: 'gt', value: 'many' }] },
  ])
    expect([filter, isValid('Deal_Filter', filter)]).toEqual([filter, false])
})

test('every reference resolves, every component is used, and every operation has an id of its own', () => {
  const used = new Set(referenced(JSON.stringify(document)))
  for (const path of used) expect(schemaOf(path), path).toBeDefined()
  for (const kind of ['schemas', 'parameters', 'responses'])
    for (const name of Object.keys(document.components[kind]))
      expect(used.has(`components/${kind}/${name}`), `${kind}/${name}`).toBe(true)
  const ids = Object.values<Body>(document.paths).flatMap((item) =>
    Object.values<Body>(item).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  expect(JSON.stringify(document)).not.toMatch(/[\uE000-\uE002]/)
})

test('a token sees the types that it may read, and the writes that it may do', { tags: 'full' }, async () => {
  const seen = succeed(await narrow('GET', '/v1/crm/openapi.json'))
  expect(JSON.stringify(seen)).not.toMatch(/secret/i)
  const methods = (path: string) => Object.keys(seen.paths[path]).sort()
  expect(methods('/v1/crm/records/deal/{id}')).toEqual(['get'])
  expect(methods('/v1/crm/records/company/{id}')).toEqual(['delete', 'get', 'patch', 'put'])
  expect(seen.components.schemas.Deal_Input).toBeUndefined()
  const target = (path: string, method: string) => {
    const [{ $ref }] = seen.paths[path][method].parameters
    return schemaOf($ref.slice(2), seen).schema.enum
  }
  expect(target('/v1/crm/records/{record_type}/{id}/history', 'get')).toEqual(['company', 'deal'])
  expect(target('/v1/crm/records/{record_type}/{id}/attachments', 'post')).toEqual(['company'])
  expect(seen.paths['/v1/crm/records/company/claim'].post.operationId).toBe('company.claim')
  expect(seen.paths['/v1/crm/records/deal/claim']).toBeUndefined()
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const { call: none } = await world.newToken([{ base: 'other', permission: 'read' }])
  expectFailure(await none('GET', '/v1/crm/openapi.json'), 'FORBIDDEN')
  expectFailure(await world.call('GET', '/v1/absent/openapi.json'), 'NOT_FOUND')
})

test('the description has an ETag, which changes with a type', { tags: 'full' }, async () => {
  const first = await world.call('GET', '/v1/crm/openapi.json')
  const etag = first.headers.get('etag') ?? expect.fail('no ETag')
  const again = await world.call('GET', '/v1/crm/openapi.json', undefined, { 'if-none-match': etag })
  expect([again.status, again.text]).toEqual([304, ''])
  succeed(await world.call('PATCH', '/v1/crm/record-types/company', { description: 'Whom we sell to.' }))
  const next = await world.call('GET', '/v1/crm/openapi.json', undefined, { 'if-none-match': etag })
  expect(next.status).toBe(200)
  expect(next.body.tags).toContainEqual({ name: 'company', description: 'Whom we sell to.' })
})

test('a base without record types has a description without paths', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/bases/bare', {}), 201)
  const { paths, components } = succeed(await world.call('GET', '/v1/bare/openapi.json'))
  expect(paths).toEqual({})
  expect(Object.keys(components.schemas).sort()).toEqual(['Error', 'ErrorDetail'])
})
