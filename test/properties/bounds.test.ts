// @module-tag full
// @module-tag sampled
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { openPolicyEngine } from '../support/row-policy.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let policies: Awaited<ReturnType<typeof openPolicyEngine>>
beforeAll(async () => {
  world = await openWorld()
  policies = await openPolicyEngine(world)
})
afterAll(async () => {
  await policies.close()
  await world.close()
})

const TEAMS = ['ours', 'theirs'] as const
const IDS = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'n0', 'n1'] as const
const row = fc.record({
  team: fc.constantFrom(...TEAMS),
  stage: fc.constantFrom('open', 'won', 'lost'),
  amount: fc.integer({ min: 0, max: 9 }),
})
/** Policy filters over hidden fields, shown fields and columns. */
const filters = fc.constantFrom(
  { field: 'data.team', op: 'eq', value: 'ours' },
  { field: 'data.stage', op: 'neq', value: 'won' },
  {
    and: [
      { field: 'data.amount', op: 'lt', value: 6 },
      { field: 'status', op: 'eq', value: 'active' },
    ],
  },
  {
    not: {
      or: [
        { field: 'data.team', op: 'eq', value: 'theirs' },
        { field: 'data.amount', op: 'gt', value: 7 },
      ],
    },
  },
)
const names = fc.constantFrom('stage', 'amount', 'team', 'secret', 'other')
const values = { stage: fc.constantFrom('open', 'won'), amount: fc.integer({ min: 0, max: 9 }) }
const content = fc.oneof(
  { weight: 5, arbitrary: fc.record(values, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.dictionary(names, fc.constantFrom('ours', 'mine', null), { maxKeys: 2 }) },
)
const id = fc.constantFrom(...IDS)
const condition = fc.record({
  field: names.map((name) => `data.${name}`),
  op: fc.constantFrom('eq', 'neq'),
  value: fc.constantFrom('ours', 'open', 3),
})
const operations = fc.oneof(
  fc.record({ name: fc.constant('get' as const), id }),
  fc.record({ name: fc.constant('list' as const), filter: fc.option(condition, { nil: undefined }) }),
  fc.record({ name: fc.constant('list' as const), sort: names.map((name) => `-data.${name}`) }),
  fc.record({ name: fc.constant('create' as const), id, data: content }),
  fc.record({ name: fc.constant('put' as const), id, data: content }),
  fc.record({ name: fc.constant('putByPair' as const), externalId: id, data: content }),
  fc.record({ name: fc.constant('patch' as const), id, merge: content }),
  fc.record({ name: fc.constant('cancel' as const), id }),
  fc.record({ name: fc.constant('restore' as const), id }),
  fc.record({ name: fc.constant('remove' as const), id }),
  fc
    .record({ kind: fc.constantFrom('upsert_record', 'patch_record'), id, data: content })
    .map(({ kind, ...rest }) => ({ name: 'batch' as const, operations: [{ type: kind, ...rest }] })),
)

const FIELDS = ['data.stage', 'data.amount']

test(
  'no sequence of operations under a row-level policy discloses or changes anything that it hides',
  async () => {
    const cases = fc.record({
      rows: fc.array(row, { minLength: 6, maxLength: 6 }),
      filter: filters,
      done: fc.array(operations, { minLength: 4, maxLength: 12 }),
    })
    let serial = 0
    await forAll(cases, 12, async ({ rows, filter, done }) => {
      const type = `bounded${++serial}`
      await fill(type, rows)
      const defaults = { team: 'ours', secret: 'canary of new ones' }
      const through = await policies.through([{ recordType: type, filter, fields: FIELDS, defaults }])
      for (const { name, ...args } of done) {
        const before = await stateOf(type, filter)
        const { body, error } = await through(name, asked(type, args))
        const shown = JSON.stringify([body ?? null, error?.message ?? null, error?.details ?? null])
        // A refusal may quote what the caller sent, but not stored values.
        expect(shown).not.toMatch(/canary|theirs/)
        const after = await stateOf(type, filter)
        expect(after.outside, `${name} ${JSON.stringify(args)}`).toEqual(before.outside)
        for (const [key, held] of after.inside) {
          const known = before.inside.get(key)
          if (known) expect(hiddenOf(held)).toEqual(hiddenOf(known))
        }
        const rowsShown: Body[] = body?.rows ?? (body?.data ? [body] : [])
        for (const each of rowsShown) {
          const record = each.record ?? each
          expect(after.inside.has(record.id)).toBe(true)
          expect(['stage', 'amount']).toEqual(expect.arrayContaining(Object.keys(record.data)))
        }
      }
    })
  },
  CASES_TIMEOUT,
)

function asked(type: string, args: Record<string, unknown>): Record<string, unknown> {
  const { operations: batch } = args
  if (!Array.isArray(batch)) return { type, ...args }
  return { operations: batch.map((each: object) => ({ record_type: type, ...each })) }
}

async function fill(type: string, rows: readonly object[]): Promise<void> {
  succeed(
    await world.call('PUT', `/v1/crm/record-types/${type}`, { indexes: [{ fields: ['data.stage'] }] }),
    201,
  )
  const operations = rows.map((data, n) => ({
    type: 'create_record',
    record_type: type,
    id: `r${n}`,
    external_id: `r${n}`,
    data: { ...data, secret: `canary ${n}` },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
}

/** The records of the type by id, read without the policy: those that match its filter, and the others. */
async function stateOf(type: string, filter: object) {
  const read = async (asks: object): Promise<Map<string, Body>> => {
    const { data } = succeed(
      await world.call('POST', `/v1/crm/records/${type}/query`, { filter: asks, sort: 'id' }),
    )
    return new Map(data.map((record: Body) => [record.id, record]))
  }
  return { inside: await read(filter), outside: await read({ not: filter }) }
}

const hiddenOf = ({ data: { stage: _, amount: __, ...hidden } }: Body) => hidden
