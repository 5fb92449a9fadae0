/** SQL that writes: INSERT, UPDATE, DELETE and SELECT in one transaction, each carried out as the batch does. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let run: (statements: string, more?: object, headers?: Record<string, string>) => ReturnType<World['call']>
let base = 0
let name = ''

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

beforeEach(async () => {
  name = `crm${++base}`
  succeed(await world.call('PUT', `/v1/bases/${name}`, {}), 201)
  const deal = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      amount: { type: 'number' },
      seats: { type: 'integer', default: 1 },
      won: { type: 'boolean' },
      due: { type: 'string', format: 'date' },
      closed: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string' } },
      address: { type: 'object' },
      company: { type: 'string' },
    },
    required: ['title'],
    additionalProperties: true,
  }
  succeed(await world.call('PUT', `/v1/${name}/record-types/deal`, { json_schema: deal }), 201)
  succeed(
    await world.call('PUT', `/v1/${name}/record-types/company`, {
      json_schema: { type: 'object', properties: { name: { type: 'string' }, factor: { type: 'number' } } },
    }),
    201,
  )
  run = (statements, more = {}, headers = {}) =>
    world.call('POST', `/v1/${name}/sql/execute`, { statements, ...more }, headers)
  const rows = [
    {
      type: 'create_record',
      record_type: 'deal',
      id: 'd1',
      data: { title: 'One', amount: 10, tags: ['a'], company: 'c1', address: { city: 'Bern', zip: null } },
    },
    {
      type: 'create_record',
      record_type: 'deal',
      id: 'd2',
      data: { title: 'Two', amount: 20, company: 'c2' },
      external_id: 'x2',
    },
    { type: 'create_record', record_type: 'deal', id: 'd3', data: { title: 'Three' } },
    { type: 'create_record', record_type: 'company', id: 'c1', data: { name: 'Acme', factor: 2 } },
    { type: 'create_record', record_type: 'company', id: 'c2', data: { name: 'Bolt', factor: 3 } },
  ]
  succeed(await world.call('POST', `/v1/${name}/batch`, { operations: rows }))
})

const deal = async (id: string): Promise<Body> =>
  succeed(await world.call('GET', `/v1/${name}/records/deal/${id}`))

test('UPDATE touches only what SET names, and RETURNING shows the rows after it', async () => {
  const done = succeed(
    await run(`UPDATE deal SET amount = amount * 1.1, tags = tags || '["vip"]', won = NULL,
      address = jsonb_set(address, '{zip}', '3000') WHERE id = 'd1' RETURNING id, amount, old.amount AS before, tags, version`),
  )
  expect(done).toEqual({
    data: [
      {
        statement: 0,
        operation: 'update',
        count: 1,
        rows: [{ id: 'd1', amount: 11, before: 10, tags: ['a', 'vip'], version: 2 }],
      },
    ],
    meta: { count: 1 },
  })
  expect((await deal('d1'))['data']).toEqual({
    title: 'One',
    amount: 11,
    tags: ['a', 'vip'],
    company: 'c1',
    address: { city: 'Bern', zip: 3000 },
  })
})

test('INSERT, UPDATE FROM, DELETE and SELECT see what those before them wrote', async () => {
  const done = succeed(
    await run(
      `INSERT INTO deal (id, title, amount, company) VALUES ('d4', 'Four', :amount, 'c1') RETURNING *;
       UPDATE deal d SET amount = d.amount * c.factor FROM company c WHERE c.id = d.company RETURNING d.id, d.amount, c.name;
       SELECT count(*) AS n, sum(amount) AS total FROM deal;
       DELETE FROM deal WHERE id = 'd3' RETURNING id, title;
       SELECT id FROM records WHERE record_type = 'deal' ORDER BY id;
       SELECT operation, count(*) AS n FROM changes WHERE record_type = 'deal' GROUP BY 1 ORDER BY 1`,
      { params: { amount: 40 } },
    ),
  )
  const [inserted, updated, summed, deleted, left, changes] = done.data
  expect(inserted.rows[0]).toMatchObject({
    id: 'd4',
    title: 'Four',
    amount: 40,
    version: 1,
    status: 'active',
  })
  expect(updated.count).toBe(3)
  expect(updated.rows.map(({ id, amount, name }: Body) => [id, amount, name]).sort()).toEqual([
    ['d1', 20, 'Acme'],
    ['d2', 60, 'Bolt'],
    ['d4', 80, 'Acme'],
  ])
  expect(summed.rows).toEqual([{ n: 4, total: 160 }])
  expect(deleted).toMatchObject({ count: 1, rows: [{ id: 'd3', title: 'Three' }] })
  expect(left.rows).toEqual([{ id: 'd1' }, { id: 'd2' }, { id: 'd4' }])
  expect(changes.rows).toEqual([
    { operation: 'create', n: 4 },
    { operation: 'delete', n: 1 },
    { operation: 'update', n: 3 },
  ])
})
