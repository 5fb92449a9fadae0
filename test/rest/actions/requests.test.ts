/** Requests of actions: what they send, the secrets that they carry, and how many wait for receivers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { actionsOf, create } from '../../support/actions.ts'
import { expectFailure, expectFault, succeed, UUID7 } from '../../support/answers.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
let newAction: ReturnType<typeof actionsOf>
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  newAction = actionsOf(world)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
describe('an http step', () => {
  const answer =
    (status: number, body: unknown): Parameters<Receiver['on']>[1] =>
    (_received, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  /** A path of the receiver of its own. */
  const path = () => `/http${++serial}`

  test('sends what earlier steps wrote, and later steps read its answer', async () => {
    const at = path()
    receiver.on(at, answer(200, { ticket: { id: 7 } }))
    const action = await newAction(
      [
        create('a', { title: 'T' }),
        {
          name: 'h',
          type: 'http',
          url: `${receiver.url}${at}`,
          headers: { 'X-Id': '{{steps.a.id}}' },
          body: { record: '{{steps.a.record}}' },
        },
        {
          name: 'b',
          type: 'patch_record',
          record_type: '$type',
          id: { $ref: 'a' },
          data: { n: '{{steps.h.body.ticket.id}}' },
        },
      ],
      { output: '{{steps.h.status}}' },
    )
    const ran = succeed(await action.run())
    expect(ran.output).toBe(200)
    const [sent, ...others] = receiver.at(at)
    expect(others).toEqual([])
    expect(sent?.headers['x-id']).toBe(ran.steps[0].id)
    expect(sent?.headers['content-type']).toBe('application/json')
    expect(sent?.body.record.data).toEqual({ title: 'T' })
    expect((await action.records()).map(({ data }) => data)).toEqual([{ title: 'T', n: 7 }])
    expect((await action.runs())[0]?.['steps'][1]).toMatchObject({
      name: 'h',
      status: 'succeeded',
      http_status: 200,
    })
  })

  test('that is answered with an error undoes the run, and the log says what was answered', async () => {
    const at = path()
    receiver.on(at, answer(503, { sorry: true }))
    const action = await newAction([
      create('a', {}),
      { name: 'h', type: 'http', url: `${receiver.url}${at}`, body: {} },
    ])
    const error = expectFailure(await action.run(), 'INTERNAL_ERROR')
    expect(error.details[0]).toMatchObject({
      path: '/steps/h',
      code: 'answered',
      run_id: expect.stringMatching(UUID7),
    })
    expect(await action.records()).toEqual([])
    expect((await action.runs())[0]).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR' } })
  })

  test('is not sent by a dry run, which leaves out what reads its answer', async () => {
    const at = path()
    const action = await newAction(
      [
        create('a', {}),
        { name: 'h', type: 'http', url: `${receiver.url}${at}`, body: {} },
        create('b', { n: '{{steps.h.body.n}}' }),
        create('c', { title: '{{steps.a.id}}' }),
      ],
      { output: '{{steps.b.id}}' },
    )
    const ran = succeed(await action.dryRun({}))
    expect(ran.steps.map(({ skipped }: Body) => skipped ?? false)).toEqual([false, true, true, false])
    expect([ran.output, receiver.at(at), await action.records()]).toEqual([null, [], []])
  })

  test('keeps values within their part of the url and of the headers', async () => {
    const at = path()
    const steps = [
      {
        ...{ name: 'h', type: 'http', url: `${receiver.url}${at}/{{input.id}}?q={{input.q}}`, body: {} },
        headers: { 'X-Value': '{{input.header}}' },
      },
    ]
    const action = await newAction(steps)
    succeed(await action.run({ id: 'a/../../b?c#d', q: 'x&y=z', header: 'plain' }))
    expect(receiver.at(`${at}/a%2F..%2F..%2Fb%3Fc%23d?q=x%26y%3Dz`)).toHaveLength(1)
    for (const id of ['..', '.']) {
      const error = expectFailure(await action.run({ id, q: 'x', header: 'plain' }), 'VALIDATION_ERROR')
      expect(error.details.at(-1)).toMatchObject({ path: '/steps/h/url', code: 'dot_segment' })
    }
    const broken = expectFailure(
      await action.run({ id: 'a', q: 'x', header: 'a\r\nX-Evil: 1' }),
      'VALIDATION_ERROR',
    )
    expect(broken.details.at(-1).code).toBe('invalid_header')
    expect(receiver.received.filter(({ headers }) => 'x-evil' in headers)).toEqual([])
  })

  test('reaches public addresses only, also where the whole url is a value', { tags: 'full' }, async () => {
    const action = await newAction([{ name: 'h', type: 'http', url: '{{input.url}}', body: {} }])
    const targets = [
      'http://169.254.169.254/latest',
      'http://[::ffff:10.0.0.1]/',
      'http://0x7f.1.1.1/',
      'http://user:pass@example.com/',
      'file:///etc/passwd',
      'http://10.1.2.3:22/',
    ]
    for (const url of targets) {
      const error = expectFailure(await action.run({ url }), 'VALIDATION_ERROR')
      expect(error.details.at(-1).path).toBe('/steps/h/url')
    }
    const named = expectFailure(await action.run({ url: 'http://nothing.invalid/' }), 'INTERNAL_ERROR')
    expect(named.details[0].code).toBe('request_failed')
    expectFailure(await action.run({ url: { a: 1 } }), 'VALIDATION_ERROR')
  })

  test('of a preview does not call what production calls', { tags: 'full' }, async () => {
    const [base, at] = [`prod${++serial}`, path()]
    receiver.on(at, answer(200, {}))
    succeed(await call('PUT', `/v1/bases/${base}`, {}), 201)
    const body = (url: string) => ({ steps: [{ name: 'h', type: 'http', url, body: {} }] })
    succeed(await call('PUT', `/v1/${base}/actions/ping`, body(`${receiver.url}${at}`)), 201)
    succeed(await call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
    const run = () => call('POST', `/v1/${base}--dev/actions/ping/run`, {})
    expect(expectFailure(await run(), 'CONFLICT').details[0]).toMatchObject({
      path: '/steps/h',
      code: 'url_of_production',
    })
    succeed(await call('PUT', `/v1/${base}/actions/ping`, body(`${receiver.url}${path()}`)))
    expectFailure(await run(), 'CONFLICT')
    expect(receiver.at(at)).toEqual([])
    // The same address in other forms, and by templates.
    const { port } = new URL(receiver.url)
    const forms = [
      `HTTP://127.0.0.1:${port}${at}`,
      `http://127.1:${port}/x/..${at}?`,
      `${receiver.url}${at}#x`,
      '{{input.url}}',
      `${receiver.url}/{{input.path}}`,
    ]
    const input = { url: `${receiver.url}${at}`, path: at.slice(1) }
    for (const form of forms) {
      succeed(await call('PUT', `/v1/${base}--dev/actions/ping`, body(form)))
      const refused = await call('POST', `/v1/${base}--dev/actions/ping/run`, { input })
      expect(expectFailure(refused, 'CONFLICT').details[0], form).toMatchObject({
        path: '/steps/h',
        code: 'url_of_production',
      })
    }
    expect(receiver.at(at)).toEqual([])
    const own = path()
    receiver.on(own, answer(200, {}))
    // A url of production that is one template says nothing of others.
    succeed(await call('PUT', `/v1/${base}/actions/any`, body('{{input.u}}')), 201)
    succeed(await call('PUT', `/v1/${base}--dev/actions/ping`, body(`${receiver.url}${own}`)))
    succeed(await run())
    expect(receiver.at(own)).toHaveLength(1)
  })
})

describe('a secret of an http step', () => {
  const KEY = 'open-sesame/7"&'

  test('is sent, and is in no answer, log, definition or error', { tags: 'full' }, async () => {
    const at = `/secret${++serial}`
    succeed(await call('PUT', '/v1/vault/secrets/KEY', { value: KEY, bases: ['crm'] }), 201)
    let status = 200
    receiver.on(
      at,
      ({ headers }, response) =>
        void response.writeHead(status).end(JSON.stringify({ echo: headers['authorization'], plain: 1 })),
    )
    const action = await newAction(
      [
        {
          name: 'h',
          type: 'http',
          url: `${receiver.url}${at}`,
          headers: { Authorization: 'Bearer {{secret:KEY}}' },
          body: { key: '{{secret:KEY}}', x: '{{input.x}}' },
        },
        create('a', { title: '{{steps.h.body.echo}}' }),
      ],
      { output: '{{steps.h.body}}' },
    )
    succeed(action.made, 201)
    const ran = await action.run({ x: '{{secret:KEY}}' })
    expect(succeed(ran).output).toEqual({ echo: 'Bearer <redacted>', plain: 1 })
    expect(receiver.at(at)[0]).toMatchObject({
      headers: { authorization: `Bearer ${KEY}` },
      body: { key: KEY, x: '{{secret:KEY}}' },
    })
    status = 500
    const failed = await action.run({ x: 1 })
    expectFailure(failed, 'INTERNAL_ERROR')
    const [runs, one, changes] = await Promise.all([
      call('GET', `${action.one}/runs`),
      call('GET', action.one),
      call('GET', `/v1/crm/changes?record_type=${action.type}`),
    ])
    for (const { text } of [ran, failed, runs, one, changes]) expect(text).not.toContain('open-sesame')
  })

  test('is hidden in what a later step receives, and behind the escapes of a receiver', {
    tags: 'full',
  }, async () => {
    const at = `/secret${++serial}`
    succeed(await call('PUT', '/v1/vault/secrets/SPREAD', { value: 'AbC/dEf+gH==', bases: ['crm'] }), 201)
    let last = ''
    receiver.on(at, ({ headers }, response) => {
      last = headers['authorization'] ?? last
      response.writeHead(200).end(`{"last":"${last.replaceAll('/', '\\/').replaceAll('+', '\\u002B')}"}`)
    })
    const url = `${receiver.url}${at}`
    const action = await newAction(
      [
        { name: 'h', type: 'http', url, headers: { Authorization: '{{secret:SPREAD}}' }, body: {} },
        { name: 'g', type: 'http', url, body: {} },
      ],
      { output: '{{steps.g}}' },
    )
    succeed(action.made, 201)
    const ran = await action.run({})
    expect(succeed(ran).output.body).toEqual({ last: '<redacted>' })
    const runs = await call('GET', `${action.one}/runs`)
    for (const { text } of [ran, runs]) expect(text).not.toMatch(/AbC|dEf/)
  })

  test('cannot be guessed by its start at the end of an answer that is cut', { tags: 'full' }, async () => {
    const at = `/secret${++serial}`
    succeed(await call('PUT', '/v1/vault/secrets/GUESSED', { value: 'k7-Zq9wX2pLm', bases: ['crm'] }), 201)
    receiver.on(at, ({ body }, response) => void response.writeHead(200).end(JSON.stringify(body)))
    const action = await newAction(
      [
        {
          ...{ name: 'h', type: 'http', url: `${receiver.url}${at}` },
          headers: { Authorization: 'Bearer {{secret:GUESSED}}' },
          body: { note: '{{input.note}}' },
        },
      ],
      { output: '{{steps.h}}' },
    )
    succeed(action.made, 201)
    // The guess ends where the answer is cut, and the rest of the note is behind it.
    const room = LIMITS.egressAnswerBytes - '{"note":"'.length
    const shown = async (guess: string) => {
      const note = `${guess.padStart(room, '.')}${'.'.repeat(100)}`
      const { output } = succeed(await action.run({ note }))
      expect(output.truncated).toBe(true)
      return output.body
    }
    const wrong = await shown('k7-ZA')
    for (const guess of ['k', 'k7-Zq', 'k7-Zq9wX2pL', 'azctW', '6b372d5a'])
      expect(await shown(guess)).toBe(wrong)
  })

  test('goes to a host that is written out only', async () => {
    succeed(await call('PUT', '/v1/vault/secrets/HOSTED', { value: KEY, bases: ['crm'] }), 201)
    const headers = { 'X-Key': '{{secret:HOSTED}}' }
    const action = await newAction([{ name: 'h', type: 'http', url: '{{input.url}}', headers }])
    expect(expectFault(action.made, '/steps/0/url').code).toBe('open_host')
    const spaced = await newAction([
      { name: 'h', type: 'http', url: 'https://example.com/', headers: { A: '{{ secret:HOSTED }}' } },
    ])
    expectFault(spaced.made, '/steps/0/headers/A')
  })

  test('that was closed to the base fails the run, and nothing is sent', async () => {
    const at = `/secret${++serial}`
    succeed(await call('PUT', '/v1/vault/secrets/SHUT', { value: KEY, bases: ['crm'] }), 201)
    const action = await newAction([
      create('a', {}),
      { name: 'h', type: 'http', url: `${receiver.url}${at}`, headers: { A: '{{secret:SHUT}}' } },
    ])
    succeed(action.made, 201)
    succeed(await call('DELETE', '/v1/vault/secrets/SHUT'))
    const error = expectFailure(await action.run(), 'VALIDATION_ERROR')
    expect(error.details[0]).toMatchObject({ path: '/steps/h', code: 'unknown_secret' })
    expect([receiver.at(at), await action.records()]).toEqual([[], []])
  })
})

test('receivers that do not answer hold back other runs that send, and nothing else', {
  tags: 'full',
}, async () => {
  const at = `/hanging${++serial}`
  const waiting: (() => void)[] = []
  receiver.on(at, (_received, response) => void waiting.push(() => response.writeHead(200).end()))
  const slow = await newAction([
    create('a', {}),
    { name: 'h', type: 'http', url: `${receiver.url}${at}`, body: {} },
  ])
  const other = await newAction([create('a', {})])
  const runs = Array.from({ length: 8 }, () => slow.run())
  await eventually(async () => (waiting.length >= 2 ? true : undefined))
  for (let n = 0; n < 10; n++) succeed(await other.run())
  // Of one token, two at a time: the others wait outside the database.
  expect(receiver.at(at)).toHaveLength(2)
  const ended = Promise.all(runs)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await eventually(async () => {
    for (const answer of waiting.splice(0)) answer()
    return isOver || undefined
  })
  for (const ran of await ended) succeed(ran)
  expect(receiver.at(at)).toHaveLength(8)
})
