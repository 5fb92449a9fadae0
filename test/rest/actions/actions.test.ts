/** Actions: what a run does, that it does all or nothing, and what its log says. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionsOf, create } from '../../support/actions.ts'
import { expectFailure, expectFault, succeed, UUID7 } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
let newAction: ReturnType<typeof actionsOf>
beforeAll(async () => {
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  newAction = actionsOf(world)
})
afterAll(() => world.close())

const call: World['call'] = (...args) => world.call(...args)
test('a run writes its steps, passes values between them, and answers its output', {
  tags: 'full',
}, async () => {
  const action = await newAction(
    [
      create('a', { title: '{{input.title}}', n: '{{input.n}}' }, { id: 'one' }),
      { name: 'b', type: 'patch_record', record_type: '$type', id: '{{steps.a.id}}', data: { n: 2 } },
      {
        ...{ name: 'q', type: 'query', record_type: '$type', sort: '-id', limit: 5 },
        filter: { field: 'data.n', op: 'eq', value: 2 },
      },
    ],
    { output: { id: '{{steps.q.data[0].id}}', text: 'n is {{steps.b.record.data.n}}' } },
  )
  expect(succeed(action.made, 201)).toMatchObject({
    id: action.id,
    name: action.id,
    version: 1,
    input_schema: {},
  })
  const ran = succeed(await action.run({ title: 'T', n: 1 }))
  expect(ran).toEqual({
    run_id: expect.stringMatching(UUID7),
    status: 'succeeded',
    output: { id: 'one', text: 'n is 2' },
    steps: [
      expect.objectContaining({
        name: 'a',
        type: 'create_record',
        operation: 'created',
        id: 'one',
        version: 1,
      }),
      expect.objectContaining({ name: 'b', operation: 'updated', version: 2 }),
      expect.objectContaining({ name: 'q', data: [expect.objectContaining({ id: 'one', version: 2 })] }),
    ],
  })
  expect(ran.steps[0].record.data).toEqual({ title: 'T', n: 1 })
  expect((await action.records()).map(({ data }) => data)).toEqual([{ title: 'T', n: 2 }])
})

test('each change of a run names it as the cause, and comes through an action', {
  tags: 'full',
}, async () => {
  const action = await newAction([create('a', { title: 'x' }), create('b', { title: 'y' })])
  const { run_id } = succeed(await action.run())
  const log = await world.logOf(action.type)
  expect(log.map(({ cause, via, actor_name }) => [cause, via, actor_name])).toEqual([
    [run_id, 'action', 'admin'],
    [run_id, 'action', 'admin'],
  ])
  // The connection that ran it causes nothing afterwards.
  for (let n = 0; n < 12; n++)
    succeed(await call('PUT', `/v1/crm/records/${action.type}/later${n}`, { data: {} }), 201)
  expect((await world.logOf(action.type)).slice(2).filter(({ cause }) => cause !== null)).toEqual([])
})

test('a failing last step undoes all others, and the log keeps the failed run', {
  tags: 'full',
}, async () => {
  const action = await newAction([
    create('a', { title: 'written' }),
    { name: 'b', type: 'upsert_record', record_type: '$type', id: 'kept', data: { n: 5 } },
    { name: 'c', type: 'patch_record', record_type: '$type', id: 'absent', data: {} },
  ])
  succeed(await call('PUT', `/v1/crm/records/${action.type}/kept`, { data: { n: 1 } }), 201)
  const { details, message } = expectFailure(await action.run({ x: 1 }), 'NOT_FOUND')
  expect(message).toMatch(/^Step "c": /)
  expect(details[0]).toMatchObject({ path: '/steps/c', run_id: expect.stringMatching(UUID7) })
  expect((await action.records()).map(({ id, data }) => [id, data])).toEqual([['kept', { n: 1 }]])
  expect(await world.logOf(action.type)).toHaveLength(1)
  const [run, ...others] = await action.runs()
  expect(others).toEqual([])
  expect(run).toMatchObject({
    id: details[0].run_id,
    status: 'failed',
    action_version: 1,
    input: { x: 1 },
    output: null,
    steps: [
      { name: 'a', status: 'succeeded' },
      { name: 'b', status: 'succeeded' },
      { name: 'c', status: 'failed' },
    ],
    error: { code: 'NOT_FOUND' },
    actor: { name: 'admin', via: 'rest' },
  })
  expect(succeed(await call('GET', `${action.one}/runs/${run?.id}`))).toEqual(run)
})

test('a run under an idempotency key takes effect once, also when two arrive at the same time', async () => {
  const action = await newAction([
    create('a', { title: 'x' }),
    { name: 'q', type: 'query', record_type: '$type' },
  ])
  const key = { 'idempotency-key': `run-${serial}` }
  const [one, other] = await Promise.all([action.run({}, key), action.run({}, key)])
  expect(succeed(one)).toEqual(succeed(other))
  expect(one.body.steps[1].data[0]).toEqual(one.body.steps[0].record)
  expect([one, other].filter(({ headers }) => headers.get('idempotency-replayed'))).toHaveLength(1)
  expect(await action.records()).toHaveLength(1)
  expect(await action.runs()).toHaveLength(1)
})

test('a failed run under an idempotency key is in the log too, once', { tags: 'full' }, async () => {
  const action = await newAction([
    create('a', { title: 'x' }, { id: 'same' }),
    create('b', {}, { id: 'same' }),
  ])
  const key = { 'idempotency-key': `failing-${serial}` }
  const { details } = expectFailure(await action.run({}, key), 'CONFLICT')
  expect(details[0]).toMatchObject({ path: '/steps/b' })
  expect(expectFailure(await action.run({}, key), 'CONFLICT').details).toEqual(details)
  expect(await action.records()).toEqual([])
  expect((await action.runs()).map(({ id, status }) => [id, status])).toEqual([[details[0].run_id, 'failed']])
})

test('a dry run answers what would be, and leaves nothing, not even a run', { tags: 'full' }, async () => {
  const action = await newAction([create('a', { title: '{{input.t}}' })], { output: '{{steps.a.version}}' })
  const ran = succeed(await action.dryRun({ t: 'T' }))
  expect(ran).toMatchObject({ status: 'succeeded', dry_run: true, output: 1 })
  expectFailure(await action.dryRun({ t: 5 }), 'VALIDATION_ERROR')
  expect([await action.records(), await action.runs()]).toEqual([[], []])
})

describe('an action is refused', () => {
  const step = create('a', { title: 'x' })
  const CASES: [what: string, steps: object[], path: string, code: string, more?: object][] = [
    ['without steps', [], '/steps', 'too_small'],
    ['with two steps of one name', [step, step], '/steps/1/name', 'duplicate'],
    [
      'with a type that does not exist',
      [{ ...step, record_type: 'absent' }],
      '/steps/0/record_type',
      'unknown_record_type',
    ],
    ['with an unknown step type', [{ ...step, type: 'creat_record' }], '/steps/0/type', 'enum'],
    ['with an unknown field of a step', [{ ...step, dta: {} }], '/steps/0/dta', 'unknown_key'],
    [
      'without a field that a step needs',
      [{ name: 'a', type: 'patch_record', record_type: '$type' }],
      '/steps/0/id',
      'required',
    ],
    ['with a field of another type', [{ ...step, data: [] }], '/steps/0/data', 'type'],
    ['with a name that is none', [{ ...step, name: 'a.b' }], '/steps/0/name', 'invalid_format'],
    [
      'with a template of another form',
      [create('a', { title: '{{title}}' })],
      '/steps/0/data/title',
      'invalid_template',
    ],
    [
      'with a template of code',
      [create('a', { title: '{{input.constructor("x")}}' })],
      '/steps/0/data/title',
      'invalid_template',
    ],
    [
      'with a template of a later step',
      [create('a', { title: '{{steps.b.id}}' }), create('b', {})],
      '/steps/0/data/title',
      'unknown_step',
    ],
    [
      'with a template of its own step',
      [create('a', { title: '{{steps.a.id}}' })],
      '/steps/0/data/title',
      'unknown_step',
    ],
    [
      'with a member that a step does not give',
      [step, create('b', { title: '{{steps.a.data}}' })],
      '/steps/1/data/title',
      'unknown_member',
    ],
    [
      'with a secret in a record',
      [create('a', { title: '{{secret:KEY}}' })],
      '/steps/0/data/title',
      'secret_not_here',
    ],
    [
      'with a $ref to a query',
      [
        { name: 'q', type: 'query', record_type: '$type' },
        { name: 'd', type: 'delete_record', record_type: '$type', id: { $ref: 'q' } },
      ],
      '/steps/1/id/$ref',
      'unknown_ref',
    ],
    [
      'with a loopback address',
      [{ name: 'h', type: 'http', url: 'http://127.1.1.1/' }],
      '/steps/0/url',
      'blocked_address',
    ],
    [
      'with a loopback address before a template',
      [{ name: 'h', type: 'http', url: 'http://[::1]/{{input.x}}' }],
      '/steps/0/url',
      'blocked_address',
    ],
    [
      'with a host from a template',
      [{ name: 'h', type: 'http', url: 'https://{{input.host}}/x' }],
      '/steps/0/url',
      'open_host',
    ],
    [
      'with a host that a template ends',
      [{ name: 'h', type: 'http', url: 'https://example.com{{input.host}}/x' }],
      '/steps/0/url',
      'open_host',
    ],
    [
      'with a header of the connection',
      [{ name: 'h', type: 'http', url: 'https://example.com/', headers: { Host: 'x' } }],
      '/steps/0/headers/Host',
      'reserved_header',
    ],
    [
      'with a line break in a header',
      [{ name: 'h', type: 'http', url: 'https://example.com/', headers: { A: 'x\r\ny: z' } }],
      '/steps/0/headers/A',
      'invalid_header',
    ],
    [
      'with another method',
      [{ name: 'h', type: 'http', url: 'https://example.com/', method: 'TRACE' }],
      '/steps/0/method',
      'enum',
    ],
    [
      'with an absent secret',
      [{ name: 'h', type: 'http', url: 'https://example.com/', headers: { A: '{{secret:NONE}}' } }],
      '/steps/0/headers/A',
      'unknown_secret',
    ],
    ['with a bad schema', [step], '/input_schema/type', 'enum', { input_schema: { type: 'objekt' } }],
    [
      'with an input that a closed schema has not',
      [create('a', { title: '{{input.titel}}' })],
      '/steps/0/data/title',
      'unknown_input',
      { input_schema: { properties: { title: {} }, additionalProperties: false } },
    ],
    ['with an output of an absent step', [step], '/output', 'unknown_step', { output: '{{steps.z.id}}' }],
  ]
  test.each(CASES)('%s', async (_what, steps, path, code, more = {}) => {
    const action = await newAction(steps, more)
    expect(expectFault(action.made, path).code).toBe(code)
    expectFailure(await call('GET', action.one), 'NOT_FOUND')
  })

  test('with more steps or characters than it may have', async () => {
    const many = Array.from({ length: 51 }, (_, n) => create(`s${n}`, {}))
    expect(expectFault((await newAction(many)).made, '/steps').code).toBe('too_big')
    const long = Array.from({ length: 3 }, (_, n) => create(`s${n}`, { title: 'x'.repeat(90_000) }))
    expect(expectFault((await newAction(long)).made, '/steps').code).toBe('too_large')
  })
})

describe('an input', () => {
  test('is checked by the schema, gets its defaults, and an invalid one is no run', {
    tags: 'full',
  }, async () => {
    const action = await newAction([create('a', { title: '{{input.title}}', n: '{{input.n}}' })], {
      input_schema: {
        type: 'object',
        properties: { title: { type: 'string' }, n: { type: 'integer', default: 7 } },
        required: ['title'],
        additionalProperties: false,
      },
    })
    expect(expectFault(await action.run({}), '/input/title').code).toBe('required')
    expect(expectFault(await action.run(), '/input/title').code).toBe('required')
    expectFault(await action.run({ title: 'x', more: 1 }), '/input/more')
    expect(expectFault(await call('POST', `${action.one}/run`, { input: [1] }), '/input').code).toBe('type')
    expectFault(await call('POST', `${action.one}/run`, { inptu: {} }), '/inptu')
    expect(await action.runs()).toEqual([])
    succeed(await action.run({ title: 'x' }))
    expect((await action.records()).map(({ data }) => data)).toEqual([{ title: 'x', n: 7 }])
  })

  test('cannot add templates, operations, conditions, references or members of prototypes', {
    tags: 'full',
  }, async () => {
    const action = await newAction(
      [
        create('a', { title: '{{input.title}}' }, { id: '{{input.id}}' }),
        {
          name: 'q',
          type: 'query',
          record_type: '$type',
          filter: { field: 'data.title', op: 'eq', value: '{{input.filter}}' },
        },
        create('b', { title: '<{{input.title}}>', n: '{{input.constructor.length}}' }),
      ],
      { output: ['{{input.__proto__}}', '{{steps.a.record.data.toString}}', '{{input.title}}'] },
    )
    const title = `{{steps.a.id}} {{secret:KEY}} '; DROP TABLE record; -- {{input}}`
    const ran = succeed(await action.run({ id: 'one', title, filter: title }))
    expect(ran.output).toEqual([null, null, title])
    expect(ran.steps[1].data.map(({ id }: Body) => id)).toEqual(['one'])
    expect(ran.steps[2].record.data).toEqual({ title: `<${title}>` })
    // An object in the place of a value is a value.
    const all = succeed(await action.run({ id: 'two', title: 'y', filter: { or: [] } }))
    expect(all.steps[1].data).toEqual([])
    const error = expectFailure(
      await action.run({ id: { $ref: 'a' }, title: 'x', filter: 1 }),
      'VALIDATION_ERROR',
    )
    expect(error.details[0].path).toBe('/steps/a')
    expectFailure(await action.run({ id: '../../etc', title: 'x', filter: 1 }), 'VALIDATION_ERROR')
  })

  test('that is deep or long is refused, and one that a template repeats is bounded', {
    tags: 'full',
  }, async () => {
    const repeated = Array.from({ length: 50 }, () => '{{input.x}}')
    const action = await newAction([create('a', { title: 'x', all: repeated, deep: [[[['{{input.x}}']]]] })])
    const long = expectFailure(await action.run({ x: 'y'.repeat(500_000) }), 'VALIDATION_ERROR')
    expect(long.details.map(({ code }: Body) => code)).toContain('too_large')
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
    const nested = expectFailure(await action.run({ x: deep(61) }), 'VALIDATION_ERROR')
    expect(nested.details.map(({ code }: Body) => code)).toContain('too_deep')
    expectFailure(
      await call('POST', `${action.one}/run`, { input: { x: 'y'.repeat(1_100_000) } }),
      'VALIDATION_ERROR',
    )
    expect(await action.records()).toEqual([])
  })
})

describe('a run', () => {
  test('has the rights of its caller only', { tags: 'full' }, async () => {
    const action = await newAction([create('a', {})])
    const types = await newAction([{ name: 't', type: 'upsert_record_type', id: 'made_by_action' }])
    const queries = await newAction([{ name: 'q', type: 'query', record_type: '$type' }])
    const { call: reader } = await world.newToken([{ permission: 'read' }])
    const { call: writer } = await world.newToken([{ permission: 'write' }])
    const { call: ofType } = await world.newToken([{ permission: 'write', record_type: action.type }])
    expect((await call('PUT', '/v1/bases/other', {})).status).toBe(201)
    const { call: stranger } = await world.newToken([{ permission: 'admin', base: 'other' }])
    expectFailure(await action.run({}, {}, reader), 'FORBIDDEN')
    succeed(await queries.run({}, {}, reader))
    succeed(await action.run({}, {}, writer))
    const refused = expectFailure(await types.run({}, {}, writer), 'FORBIDDEN')
    expect(refused.details[0].path).toBe('/steps/t')
    expectFailure(await writer('PUT', action.one, { steps: [] }), 'FORBIDDEN')
    for (const as of [ofType, stranger]) {
      const absent = await as('POST', '/v1/crm/actions/none/run', {})
      const present = await action.run({}, {}, as)
      expect(expectFailure(present, 'FORBIDDEN').message).toBe(expectFailure(absent, 'FORBIDDEN').message)
      expectFailure(await as('GET', `${action.one}/runs`), 'FORBIDDEN')
    }
    expect(await action.records()).toHaveLength(1)
    expectFailure(await call('GET', '/v1/crm/record-types/made_by_action'), 'NOT_FOUND')
    succeed(await types.run())
    succeed(await call('GET', '/v1/crm/record-types/made_by_action'))
  })

  test('checks a type that a template names when the step runs', { tags: 'full' }, async () => {
    const action = await newAction([
      create('a', {}),
      { name: 'b', type: 'create_record', record_type: '{{input.t}}', data: {} },
    ])
    const error = expectFailure(await action.run({ t: 'absent' }), 'NOT_FOUND')
    expect(error.details[0].path).toBe('/steps/b')
    expect(await action.records()).toEqual([])
    succeed(await action.run({ t: action.type }))
  })

  test('of an action that is being deleted waits for that, and is no server error', {
    tags: 'full',
  }, async () => {
    const action = await newAction([create('a', {})])
    const holding = await holdOpen(world.database)
    await holding.query(`DELETE FROM plinth.action WHERE base_id = 'crm' AND id = $1`, [action.id])
    const running = action.run()
    await expect.poll(async () => (await holding.waiting()).length).toBe(1)
    await holding.end('COMMIT')
    succeed(await running)
    expect(await action.records()).toHaveLength(1)
  })

  test('of an absent action, or one that was deleted, is 404', { tags: 'full' }, async () => {
    expectFailure(await call('POST', '/v1/crm/actions/none/run', {}), 'NOT_FOUND')
    expectFailure(await call('GET', '/v1/crm/actions/none/runs'), 'NOT_FOUND')
    const action = await newAction([create('a', {})])
    succeed(await action.run())
    expectFailure(await call('GET', `${action.one}/runs/none`), 'NOT_FOUND')
    succeed(await call('DELETE', action.one))
    expectFailure(await action.run(), 'NOT_FOUND')
    expect(
      await world.database.query('SELECT 1 FROM plinth.action_run WHERE action_id = $1', [action.id]),
    ).toEqual([])
  })

  test('can make the types that it writes', { tags: 'full' }, async () => {
    const id = `fresh${++serial}`
    const action = await newAction([
      {
        name: 't',
        type: 'upsert_record_type',
        id,
        body: { json_schema: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
      { name: 'r', type: 'create_record', record_type: id, data: { n: '{{input.n}}' } },
    ])
    expectFailure(await action.run({ n: 'text' }), 'VALIDATION_ERROR')
    expectFailure(await call('GET', `/v1/crm/record-types/${id}`), 'NOT_FOUND')
    succeed(await action.run({ n: 1 }))
    expect(succeed(await call('GET', `/v1/crm/records/${id}`)).data).toHaveLength(1)
  })

  test('lists its log in pages, newest first, by status', { tags: 'full' }, async () => {
    const action = await newAction([create('a', { n: '{{input.n}}' })])
    for (const n of [1, 'x', 2]) await action.run({ n })
    expect((await action.runs()).map(({ input }) => input)).toEqual([{ n: 2 }, { n: 'x' }, { n: 1 }])
    expect((await action.runs('?status=failed')).map(({ input }) => input)).toEqual([{ n: 'x' }])
    expectFault(await call('GET', `${action.one}/runs?status=faild`), 'query/status')
    const first = succeed(await call('GET', `${action.one}/runs?limit=2&include_total=true`))
    expect([first.data.length, first.meta.has_more, first.meta.total]).toEqual([2, true, 3])
    const next = await action.runs(`?limit=2&cursor=${encodeURIComponent(first.meta.next_cursor)}`)
    expect(next.map(({ input }) => input)).toEqual([{ n: 1 }])
  })

  test('that queries records larger than it may read is refused, and has more says so otherwise', {
    tags: 'full',
  }, async () => {
    const action = await newAction([
      { name: 'q', type: 'query', record_type: '$type', limit: '{{input.limit}}' },
    ])
    for (let n = 0; n < 30; n++) {
      const data = { title: 'x'.repeat(n < 6 ? 900_000 : 10) }
      succeed(
        await call('PUT', `/v1/crm/records/${action.type}/r${String(n).padStart(2, '0')}`, { data }),
        201,
      )
    }
    const few = succeed(await action.run({ limit: 20 }))
    expect([few.steps[0].data.length, few.steps[0].meta]).toEqual([20, { has_more: true, limit: 20 }])
    const many = expectFailure(await action.run({ limit: 1000 }), 'VALIDATION_ERROR')
    expect(many.details.at(-1)).toMatchObject({ path: '/steps/q/limit', code: 'too_large' })
    expectFailure(await action.run({ limit: 1001 }), 'VALIDATION_ERROR')
  })
})

describe('The condition of a step', () => {
  const when = (field: string, op: string, value?: unknown) => ({
    when: { field, op, ...(value !== undefined && { value }) },
  })

  test('leaves the step out unless it holds, and its readers get null', { tags: 'full' }, async () => {
    const action = await newAction(
      [
        create('large', { title: 'large' }, { id: 'l', ...when('input.n', 'gte', 10) }),
        create('after', { title: 'after', large: '{{steps.large.id}}' }, { id: 'a' }),
        create('none', { title: 'no large' }, { id: 'n', ...when('steps.large.id', 'is_null') }),
        { name: 'q', type: 'query', record_type: '$type', ...when('steps.none.operation', 'eq', 'created') },
        create('many', { title: 'many' }, { id: 'm', ...when('steps.q.data[].data.title', 'eq', 'after') }),
      ],
      { output: { large: '{{steps.large.id}}', text: 'large: {{steps.large.id}}' } },
    )
    succeed(action.made, 201)
    const skipped = (ran: Body) =>
      ran.steps.filter((step: Body) => step.skipped).map(({ name }: Body) => name)
    const small = succeed(await action.run({ n: 9 }))
    expect(skipped(small)).toEqual(['large'])
    expect(small.steps[0]).toEqual({ name: 'large', type: 'create_record', skipped: true })
    expect(small.output).toEqual({ large: null, text: 'large: ' })
    expect((await action.records()).map(({ id, data }) => [id, data.large])).toEqual([
      ['a', null],
      ['m', undefined],
      ['n', undefined],
    ])
    expect((await action.runs())[0]?.steps.map(({ status }: Body) => status)).toEqual([
      'skipped',
      ...Array(4).fill('succeeded'),
    ])
    for (const { id } of await action.records())
      succeed(await call('DELETE', `/v1/crm/records/${action.type}/${id}`))
    const large = succeed(await action.run({ n: 10 }))
    expect(skipped(large)).toEqual(['none', 'q', 'many'])
    expect(large.output).toEqual({ large: 'l', text: 'large: l' })
  })

  test('compares with values of templates, which add no condition', { tags: 'full' }, async () => {
    const action = await newAction([
      { name: 'q', type: 'query', record_type: '$type', sort: 'id', limit: 1 },
      create('a', { title: 'x' }, when('input.title', 'neq', '{{steps.q.data[0].data.title}}')),
    ])
    expect(succeed(await action.run({ title: 'x' })).steps[1].operation).toBe('created')
    expect(succeed(await action.run({ title: 'x' })).steps[1].skipped).toBe(true)
    // Nothing is there to compare with: null.
    expect(succeed(await action.run({})).steps[1].operation).toBe('created')
    const inline = await newAction([create('a', { title: 'x' }, when('input.x', 'gt', '{{input.y}}'))])
    expectFault(await inline.run({ x: 1, y: { or: [] } }), '/steps/a/when/value')
    expect(await inline.records()).toEqual([])
    expect(succeed(await inline.run({ x: 2, y: 1 })).steps[0].operation).toBe('created')
    expect(succeed(await inline.dryRun({ x: 0, y: 1 })).steps[0].skipped).toBe(true)
  })

  test('is checked when the action is written', { tags: 'full' }, async () => {
    const action = await newAction([create('a', { title: 'x' }), create('b', { title: 'x' }, { id: 'b' })])
    const fault = async (condition: unknown, path: string, schema: object = {}) => {
      const steps = [
        create('a', { title: 'x' }),
        create('b', { title: 'x' }, { when: condition }),
        create('c', { title: 'x' }),
      ]
      return expectFault(await action.put(steps, { input_schema: schema }), `/steps/1/when${path}`)
    }
    const closed = { type: 'object', properties: { n: {} }, additionalProperties: false }
    await fault({ field: 'data.title', op: 'eq', value: 'x' }, '/field')
    await fault({ field: 'steps.c.id', op: 'eq', value: 'x' }, '/field')
    await fault({ field: 'steps.a.data', op: 'eq', value: 'x' }, '/field')
    await fault({ and: [{ field: 'input.m', op: 'eq', value: 1 }] }, '/and/0/field', closed)
    await fault({ field: 'input.n', op: 'equals', value: '{{input.n}}' }, '/op')
    await fault({ field: 'input.n', op: 'search', value: 'x' }, '')
    await fault({ field: '{{input.n}}', op: 'eq', value: 1 }, '/field')
    await fault({ field: 'input.n', op: 'eq', value: '{{secret:KEY}}' }, '/value')
    await fault({}, '')
  })
})

test('an upsert with on_existing "keep" leaves a record that exists as it is, also after the value of a template', {
  tags: 'full',
}, async () => {
  const step = { name: 'a', type: 'upsert_record', record_type: '$type', id: '{{input.id}}' }
  const action = await newAction([{ ...step, data: { n: '{{input.n}}' }, on_existing: 'keep' }], {
    output: { n: '{{steps.a.record.data.n}}', did: '{{steps.a.operation}}' },
  })
  succeed(action.made, 201)
  expect(succeed(await action.run({ id: 'x', n: 1 })).output).toEqual({ n: 1, did: 'created' })
  expect(succeed(await action.run({ id: 'x', n: 2 })).output).toEqual({ n: 1, did: 'unchanged' })
  expect((await action.records()).map(({ data, version }) => [data, version])).toEqual([[{ n: 1 }, 1]])
  expect(await world.logOf(action.type)).toHaveLength(1)
  const wrong = await newAction([{ ...step, data: {}, on_existing: 'skip' }])
  expectFault(wrong.made, '/steps/0/on_existing')
})

test('create_relationship is taken for upsert_relationship in an action and a batch', {
  tags: 'full',
}, async () => {
  const link = `made-${serial++}`
  const action = await newAction([
    create('a', { title: 'x' }, { id: 'x', external_id: 'x-ext' }),
    {
      name: 'l',
      type: 'create_relationship',
      rel_type: link,
      source_record_type: '$type',
      source_id: { $ref: 'a' },
      target_record_type: '$type',
      target_id: 'x',
    },
  ])
  expectFault(action.made, '/steps/1/rel_type')
  succeed(
    await call('PUT', `/v1/crm/relationship-types/${link}`, {
      source_record_types: ['*'],
      target_record_types: ['*'],
    }),
    201,
  )
  succeed(await action.put(), 201)
  expect(succeed(await action.run()).steps[1]).toMatchObject({ operation: 'created', version: 1 })
  const operation = {
    type: 'create_relationship',
    rel_type: link,
    source_record_type: action.type,
    source_id: 'x',
    target_record_type: action.type,
  }
  const batch = (target_id: string, as: Call = call) =>
    as('POST', '/v1/crm/batch', { operations: [{ ...operation, target_id }] })
  expect(succeed(await batch('x')).data[0]).toMatchObject({
    type: 'upsert_relationship',
    operation: 'unchanged',
  })
  // An external id in the place of an id is named with its id.
  expect(expectFault(await batch('x-ext'), '/operations/0/target_id')).toMatchObject({
    hint: 'x',
    message: expect.stringContaining('"x-ext" is an external_id; its id is "x"'),
  })
  expect(expectFault(await batch('y-ext'), '/operations/0/target_id')).not.toHaveProperty('hint')
})
