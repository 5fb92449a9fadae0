// @module-tag full
/** Triggers that run an action: once for each change, with its limits, and on the trace. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../../support/query-plans.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld({ PLINTH_WEBHOOK_SCHEDULE: '0.05', PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
})
afterAll(() => world.close())

const call: World['call'] = (...args) => world.call(...args)

/** A trigger on a new record type, and the action that it runs. `$type` is the type, `$out` one that it writes. */
async function newPair(steps: object[], more: object = {}) {
  const [type, out] = [await world.newType(), await world.newType()]
  const id = `pair${++serial}`
  const named = (value: object) =>
    JSON.parse(JSON.stringify(value).replaceAll('$type', type).replaceAll('$out', out))
  const [trigger, action] = [`/v1/crm/triggers/${id}`, `/v1/crm/actions/${id}`]
  succeed(await call('PUT', action, named({ steps })), 201)
  succeed(await call('PUT', trigger, named({ record_types: ['$type'], action: id, ...more })), 201)
  const deliveries = async (): Promise<Body[]> => succeed(await call('GET', `${trigger}/deliveries`)).data
  return {
    ...{ id, type, out, trigger, action, deliveries },
    putAction: async (next: object[]) => succeed(await call('PUT', action, named({ steps: next }))),
    put: async (record: string, data: object) =>
      expect((await call('PUT', `/v1/crm/records/${type}/${record}`, { data })).status).toBeLessThan(300),
    runs: async (): Promise<Body[]> => succeed(await call('GET', `${action}/runs`)).data,
    written: async (): Promise<Body[]> => succeed(await call('GET', `/v1/crm/records/${out}`)).data,
    /** Waits until so many deliveries have ended, and none is left. */
    ended: (count: number): Promise<Body[]> =>
      eventually(async () => {
        const found = await deliveries()
        const isOver = found.every(({ status }) => status === 'succeeded' || status === 'dead')
        return found.length === count && isOver ? found : undefined
      }),
  }
}
const COPY = {
  ...{ name: 'a', type: 'create_record', record_type: '$out' },
  data: { of: '{{input.record.id}}', was: '{{input.previous.version}}', seq: '{{input.change_seq}}' },
}

test('an action runs once for each change, and the trace goes both ways', { tags: 'full' }, async () => {
  const pair = await newPair([COPY])
  await pair.put('r1', { n: 1 })
  await pair.put('r1', { n: 2 })
  expectFailure(await call('PUT', `/v1/crm/records/${pair.type}/r1`, { data: 7 }), 'VALIDATION_ERROR')
  const [second, first] = await pair.ended(2)
  const runs = await pair.runs()
  expect(runs.map(({ cause, status, actor }) => [cause, status, actor])).toEqual(
    [second, first].map((delivery) => [
      delivery?.id,
      'succeeded',
      { token_id: null, name: pair.id, via: 'trigger' },
    ]),
  )
  expect(runs[1]?.input).toMatchObject({ base_id: 'crm', record: { id: 'r1' }, previous: null })
  expect(first).toMatchObject({ status: 'succeeded', attempts: 1, error: null, response: null })
  const log = await world.logOf(pair.out)
  expect(log.map(({ cause, via, actor_name }) => [cause, via, actor_name])).toEqual(
    [runs[1], runs[0]].map((run) => [run?.id, 'action', pair.id]),
  )
  const { causes } = succeed(await call('GET', `/v1/crm/changes/${log[0]?.seq}/trace`))
  expect(causes.map(({ kind, id }: Body) => [kind, id]).slice(0, 3)).toEqual([
    ['action_run', runs[1]?.id],
    ['trigger_delivery', first?.id],
    ['change', String(first?.change_seq)],
  ])
  expect(causes.at(-1).kind).toBe('request')
  const { effects } = succeed(await call('GET', `/v1/crm/changes/${first?.change_seq}/trace`))
  expect(effects.map(({ kind, id, depth }: Body) => [kind, id, depth])).toEqual([
    ['trigger_delivery', first?.id, 1],
    ['action_run', runs[1]?.id, 2],
    ['change', String(log[0]?.seq), 3],
  ])
  expect((await pair.written()).length).toBe(2)
})

test('a run that fails is tried again, then dead with the error, and a replay runs the mended action', {
  tags: 'full',
}, async () => {
  const failing = { name: 'b', type: 'patch_record', record_type: '$out', id: 'absent', data: {} }
  const pair = await newPair([COPY, failing], { max_attempts: 3 })
  await pair.put('r1', {})
  const [dead] = await pair.ended(1)
  expect(dead).toMatchObject({
    status: 'dead',
    attempts: 3,
    error: expect.stringMatching(/^NOT_FOUND: Step "b"/),
  })
  expect((await pair.runs()).map(({ status, cause }) => [status, cause])).toEqual(
    [1, 2, 3].map(() => ['failed', dead?.id]),
  )
  expect(await pair.written()).toEqual([])
  await pair.putAction([COPY])
  succeed(await call('POST', `${pair.trigger}/deliveries/${dead?.id}/replay`))
  await eventually(async () => (await pair.deliveries()).find(({ status }) => status === 'succeeded'))
  expect(await pair.written()).toHaveLength(1)
})

test('a run whose turn does not come while others wait for their receivers has lost no attempt', {
  tags: 'full',
}, async () => {
  const receiver = await openReceiver()
  receiver.on('/slow', (_, response) => void setTimeout(() => response.writeHead(204).end(), 12_000))
  const calls = { name: 'call', type: 'http', method: 'POST', url: `${receiver.url}/slow`, body: {} }
  const pairs = await Promise.all([1, 2, 3].map(() => newPair([COPY, calls], { max_attempts: 1 })))
  for (const pair of pairs) await pair.put('r1', {})
  await eventually(async () => receiver.received.length === 3 || undefined)
  for (const pair of pairs) expect(await pair.ended(1)).toMatchObject([{ status: 'succeeded', attempts: 1 }])
  await receiver.close()
})

test('a delivery that cannot be attempted fails, and the server goes on with others', async () => {
  const failing = { name: 'b', type: 'patch_record', record_type: '$out', id: 'absent', data: {} }
  const pair = await newPair([failing], { max_attempts: 1 })
  await pair.put('r1', {})
  const [dead] = await pair.ended(1)
  await pair.putAction([COPY])
  await world.database.query(`UPDATE plinth.trigger_delivery SET body = 'broken' WHERE id = $1`, [dead?.id])
  succeed(await call('POST', `${pair.trigger}/deliveries/${dead?.id}/replay`))
  const internal = expect.stringMatching(/^Internal error/)
  await eventually(async () => (await pair.deliveries()).find(({ error }) => internal.asymmetricMatch(error)))
  await pair.put('r2', {})
  expect((await pair.ended(2)).map(({ status }) => status).sort()).toEqual(['dead', 'succeeded'])
  expect(await pair.written()).toHaveLength(1)
})

test('a test delivery runs the action once, with no record', async () => {
  const pair = await newPair([{ ...COPY, data: { seen: '{{input.base_id}}' } }], { enabled: false })
  succeed(await call('POST', `${pair.trigger}/test`))
  expect(await pair.ended(1)).toMatchObject([{ event: 'trigger.test', status: 'succeeded' }])
  expect((await pair.written()).map(({ data }) => data)).toEqual([{ seen: 'crm' }])
})

test('an action that sets off its own trigger ends after five runs', { tags: 'full' }, async () => {
  const pair = await newPair([{ name: 'a', type: 'create_record', record_type: '$type', data: {} }])
  await pair.put('r1', {})
  const deliveries = await pair.ended(6)
  expect(deliveries[0]).toMatchObject({
    ...{ status: 'dead', attempts: 0 },
    error: expect.stringContaining('5 runs of triggers'),
  })
  expect(deliveries.slice(1).map(({ status }) => status)).toEqual(Array(5).fill('succeeded'))
  expect(await pair.runs()).toHaveLength(5)
  await pair.put('r2', {})
  await pair.ended(12)
  expect(await pair.runs()).toHaveLength(10)
})

/** Lets the chains of a trigger begin with so many runs. */
const beginAt = async (trigger: string, runs: number) => {
  await world.database.query(`CREATE OR REPLACE FUNCTION plinth.begin_chain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO plinth.trigger_chain (base_id, id, runs) VALUES (NEW.base_id, NEW.id, ${runs}); RETURN NEW; END $$`)
  await world.database.query(`CREATE OR REPLACE TRIGGER begin_chain AFTER INSERT ON plinth.trigger_delivery FOR EACH ROW
    WHEN (NEW.trigger_id = '${trigger}' AND NEW.depth = 1) EXECUTE FUNCTION plinth.begin_chain()`)
}

test('a chain of runs that gets too wide ends, and a replay starts a new chain', async () => {
  const create = (name: string) => ({ name, type: 'create_record', record_type: '$type', data: {} })
  const pair = await newPair([create('a'), create('b'), create('c')])
  await beginAt(pair.id, LIMITS.triggerChainRuns - 2)
  await pair.put('r1', {})
  // Of the three changes of the first run, two set off a run; of their six, none.
  const deliveries = await pair.ended(10)
  const dead = deliveries.filter(({ status }) => status === 'dead')
  expect(dead).toHaveLength(7)
  for (const { error, attempts } of dead)
    expect([error, attempts]).toEqual([expect.stringContaining('500 runs of triggers follow'), 0])
  expect(await pair.runs()).toHaveLength(3)
  await world.database.query('DROP TRIGGER begin_chain ON plinth.trigger_delivery')
  await pair.putAction([create('a')])
  succeed(await call('POST', `${pair.trigger}/deliveries/${dead.at(-1)?.id}/replay`))
  await eventually(async () => ((await pair.runs()).length >= 5 ? true : undefined))
})

test('of a chain that is too wide, some deliveries are listed and the others are left out', async () => {
  const create = (name: string) => ({ name, type: 'create_record', record_type: '$type', data: {} })
  const pair = await newPair([create('a'), create('b'), create('c')])
  await beginAt(pair.id, 2 * LIMITS.triggerChainRuns - 1)
  await pair.put('r1', {})
  expect((await pair.ended(2)).map(({ status }) => status)).toEqual(['dead', 'succeeded'])
  expect(await pair.runs()).toHaveLength(1)
  await world.database.query('DROP TRIGGER begin_chain ON plinth.trigger_delivery')
})

test('a trigger has a url or an action, and the action is one that it may run', async () => {
  const pair = await newPair([COPY])
  const put = (body: object) => call('PUT', '/v1/crm/triggers/wrong', body)
  expect(expectFault(await put({ action: pair.id, url: 'https://example.com/' }), '/action').code).toBe(
    'exclusive',
  )
  expect(expectFault(await put({}), '/url').code).toBe('required')
  expect(expectFault(await put({ action: 'absent' }), '/action').code).toBe('unknown_action')
  expect(expectFault(await put({ action: pair.id, headers: { a: 'b' } }), '/headers').code).toBe('exclusive')
  const steps = [{ name: 't', type: 'upsert_record_type', id: 'made', body: {} }]
  const typed = await call('PUT', '/v1/crm/actions/typed', { steps })
  expect(typed.status, typed.text).toBe(201)
  expect(expectFault(await put({ action: 'typed' }), '/action').code).toBe('changes_types')
  const gone = expectFailure(await call('DELETE', pair.action), 'CONFLICT')
  expect(gone.details[0]).toMatchObject({ code: 'in_use', samples: [{ trigger: pair.id }] })
  succeed(await call('PATCH', pair.trigger, { action: null, url: 'https://example.com/' }))
  succeed(await call('DELETE', pair.action))
})

test('a preview runs its own action, and a promotion carries the trigger', async () => {
  const pair = await newPair([COPY])
  const { id: preview } = succeed(
    await call('POST', '/v1/crm/preview', { name: `p${serial}`, copy: 'config' }),
    201,
  )
  succeed(await call('PUT', `/v1/${preview}/records/${pair.type}/r1`, { data: {} }), 201)
  await eventually(async () => {
    const { data } = succeed(await call('GET', `/v1/${preview}/records/${pair.out}`))
    return data.length === 1 ? data : undefined
  })
  expect(await pair.written()).toEqual([])
  const added = { record_types: [pair.type], events: ['delete'], action: pair.id }
  succeed(await call('PUT', `/v1/${preview}/triggers/${pair.id}b`, added), 201)
  succeed(await call('POST', '/v1/crm/promote', { from: preview }))
  expect(succeed(await call('GET', `/v1/crm/triggers/${pair.id}b`))).toMatchObject({
    action: pair.id,
    url: null,
  })
})

test('runs and their depths are found by index, with and without statistics', { tags: 'full' }, async () => {
  const pair = await newPair([COPY])
  await pair.put('r1', {})
  const [delivery] = await pair.ended(1)
  for (const table of ['action_run', 'trigger_delivery'])
    await world.database.query(`ALTER TABLE plinth.${table} SET (autovacuum_enabled = off)`)
  await world.database.query(
    `INSERT INTO plinth.action_run
     SELECT (json_populate_record(r, json_build_object('id', 'r' || n, 'cause', 'd' || n))).* FROM plinth.action_run r, generate_series(1, 20000) n
     WHERE r.cause = $1`,
    [delivery?.id],
  )
  await world.database.query(
    `INSERT INTO plinth.trigger_delivery
     SELECT (json_populate_record(d, json_build_object('id', 'd' || n))).* FROM plinth.trigger_delivery d, generate_series(1, 20000) n
     WHERE d.id = $1`,
    [delivery?.id],
  )
  const loop = await newPair([{ name: 'a', type: 'create_record', record_type: '$type', data: {} }])
  for (const [n, analyzed] of [false, true].entries()) {
    if (analyzed) await world.database.query('ANALYZE')
    const ran: RanStatement[] = await statementsOf(async () => {
      await loop.put(`r${n}`, {})
      await loop.ended(6 * (n + 1))
      const seq = (await world.logOf(loop.type)).at(-1)?.seq
      succeed(await call('GET', `/v1/crm/changes/${seq}/trace`))
      succeed(await call('GET', `/v1/crm/changes/${delivery?.change_seq}/trace`))
    })
    const names = ['depths_of_runs', 'end_delivery_of_run', 'delivery_behind_run', 'runs_of_deliveries']
    for (const name of names) {
      const statement = ran.find((each) => each.name === name)
      if (!statement) throw new Error(`${name} was not run`)
      const { scans, widest, text } = await explain(world.database, statement)
      expect([name, scans], text).toEqual([name, []])
      expect(widest, `${name} ${text}`).toBeLessThanOrEqual(1000)
    }
  }
})
