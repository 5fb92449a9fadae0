// @module-tag full
// @module-tag sampled
/** Statements of SQL that writes leave the same records, versions and history as the operations of a batch. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

type Step =
  | { does: 'insert'; id: string; n: number | null; tags: string[] | null }
  | { does: 'put'; id: string; n: number }
  | { does: 'update'; id: string; n: number | null; text: string }
  | { does: 'tag'; id: string; tag: string }
  | { does: 'delete'; id: string }

const id = fc.constantFrom('a', 'b', 'c', 'd')
const n = fc.option(fc.integer({ min: -5, max: 5 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant('insert' as const),
    id,
    n,
    tags: fc.option(fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 })),
  }),
  fc.record({ does: fc.constant('put' as const), id, n: fc.integer({ min: -5, max: 5 }) }),
  fc.record({ does: fc.constant('update' as const), id, n, text: fc.string({ maxLength: 8 }) }),
  fc.record({ does: fc.constant('tag' as const), id, tag: fc.string({ maxLength: 4 }) }),
  fc.record({ does: fc.constant('delete' as const), id }),
)

/** A statement, and the operations that do the same. */
type Twin = { sql: (name: (value: unknown) => string) => string; operations: object[] }

/** The statement and the operations of a step, and the records after it. */
function twin(each: Step, records: Map<string, Body>): Twin {
  const on = { record_type: 'item', id: each.id }
  const before = records.get(each.id)
  const put = (data: Body) => {
    records.set(each.id, data)
    return data
  }
  switch (each.does) {
    case 'insert': {
      const data = { ...(each.n !== null && { n: each.n }), ...(each.tags !== null && { tags: each.tags }) }
      return {
        sql: (bind) =>
          `INSERT INTO item (id, n, tags) VALUES (${bind(each.id)}, ${bind(each.n)}, ${bind(each.tags)}) ON CONFLICT (id) DO NOTHING`,
        operations: before ? [] : [{ type: 'create_record', ...on, data: put(data) }],
      }
    }
    case 'put':
      return {
        sql: (bind) =>
          `INSERT INTO item (id, n) VALUES (${bind(each.id)}, ${bind(each.n)}) ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n`,
        operations: [
          before
            ? { type: 'patch_record', ...on, data: { n: put({ ...before, n: each.n })['n'] } }
            : { type: 'create_record', ...on, data: put({ n: each.n }) },
        ],
      }
    case 'update': {
      if (before) put({ ...before, n: each.n ?? undefined, text: each.text })
      return {
        sql: (bind) =>
          `UPDATE item SET n = ${bind(each.n)}, text = ${bind(each.text)} WHERE id = ${bind(each.id)}`,
        operations: before ? [{ type: 'patch_record', ...on, data: { n: each.n, text: each.text } }] : [],
      }
    }
    case 'tag': {
      const tags = [...((before?.['tags'] as string[] | undefined) ?? []), each.tag]
      if (before) put({ ...before, tags })
      return {
        sql: (bind) =>
          `UPDATE item SET tags = coalesce(tags, '[]') || to_jsonb(ARRAY[${bind(each.tag)}]::text[]) WHERE id = ${bind(each.id)}`,
        operations: before ? [{ type: 'patch_record', ...on, data: { tags } }] : [],
      }
    }
    case 'delete':
      records.delete(each.id)
      return {
        sql: (bind) => `DELETE FROM item WHERE id = ${bind(each.id)}`,
        operations: before ? [{ type: 'delete_record', ...on }] : [],
      }
  }
}

let bases = 0

test(
  'statements end in the same state as the operations of a batch',
  async () => {
    await forAll(fc.array(step, { minLength: 1, maxLength: 12 }), 200, async (steps) => {
      const [sql, batch] = [`sql${++bases}`, `batch${bases}`]
      const schema = {
        properties: {
          n: { type: 'integer' },
          text: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
        },
      }
      for (const base of [sql, batch]) {
        succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
        succeed(await world.call('PUT', `/v1/${base}/record-types/item`, { json_schema: schema }), 201)
      }
      const records = new Map<string, Body>()
      const twins = steps.map((each) => twin(each, records))
      const params: unknown[] = []
      const bind = (value: unknown) => `$${params.push(value)}`
      const statements = twins.map((each) => each.sql(bind)).join('; ')
      const at = `/v1/${sql}/sql/execute`
      const first = succeed(await world.call('POST', at, { statements, params }))
      if (first['plan_token']) succeed(await world.call('POST', at, { plan_token: first['plan_token'] }))
      const operations = twins.flatMap((each) => each.operations)
      if (operations.length > 0) succeed(await world.call('POST', `/v1/${batch}/batch`, { operations }))
      const stateOf = async (base: string) => {
        const query = `SELECT id, version, data FROM item ORDER BY id`
        const log = `SELECT id, version, operation, data FROM changes WHERE kind = 'record' ORDER BY seq`
        // A statement that may write waits for its turn.
        const done = await world.call('POST', `/v1/${base}/sql/execute`, { statements: `${query}; ${log}` })
        const [first, second] = succeed(done).data
        return { records: first.rows, changes: second.rows }
      }
      const [found, wanted] = [await stateOf(sql), await stateOf(batch)]
      expect(found.records).toEqual(wanted.records)
      const byId = (rows: Body[]) => rows.map((row) => JSON.stringify(row)).sort()
      expect(byId(found.changes)).toEqual(byId(wanted.changes))
      expect(new Map(found.records.map(({ id, data }: Body) => [id, data]))).toEqual(
        new Map([...records].map(([id, data]) => [id, JSON.parse(JSON.stringify(data))])),
      )
    })
  },
  CASES_TIMEOUT,
)
