/** A kind joins config files, previews, promotions, rollbacks, history and reverts by its row in `KINDS` alone. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configSchema } from '../../../src/engine/environments/config-schema.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { addTrialKind, createTrialTable } from '../../support/trial-kind.ts'
import { openStored } from '../../support/vault.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let removeTrialKind = () => {}
let serial = 0
beforeAll(async () => {
  removeTrialKind = addTrialKind()
  world = await openWorld()
  await createTrialTable(world.database)
})
afterAll(async () => {
  removeTrialKind()
  await world.close()
})

const OLD = 'whsec_first'
const NEXT = 'whsec_second'
const HOOK = { id: 'in', name: 'In', record_type: 'task', secret: OLD }
const SHOWN = { ...HOOK, secret: '<redacted>' }

/** A base with the record type `task`, and its preview. */
async function fork(): Promise<[base: string, dev: string]> {
  const base = `base${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/task`, {}), 201)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  return [base, `${base}--dev`]
}
/** Sends a request whose answer shows no secret, but for those that a promotion makes. */
async function send(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await world.call(method, `/v1/${path}`, body)
  const { secrets: _, ...shown } = answer.body
  expect(JSON.stringify(shown)).not.toContain('whsec_')
  return answer
}
const pull = async (base: string): Promise<Body> => succeed(await send('GET', `${base}/config`))
const push = async (base: string, hooks: object[]): Promise<Body> =>
  succeed(await send('PUT', `${base}/config?prune=true`, { plinth: 1, base, actions: hooks }))
const promote = (base: string, more: object = {}) =>
  send('POST', `${base}/promote`, { from: `${base}--dev`, ...more })
const secretsOf = async (base: string): Promise<string[]> => {
  const rows = await world.database.query<{ id: string; secret: string }>(
    'SELECT id, secret FROM plinth.action WHERE base_id = $1 ORDER BY id',
    [base],
  )
  return Promise.all(rows.map(({ id, secret }) => openStored(world, ['action', base, id, 'secret'], secret)))
}
const opsOf = ({ changes }: Body): string[] => changes.map(({ op, kind, id }: Body) => `${op} ${kind} ${id}`)

test('a config file carries the kind and hides its secret, and a round trip changes nothing', {
  tags: 'full',
}, async () => {
  const [, dev] = await fork()
  const made = await push(dev, [HOOK])
  expect(made.changes).toEqual([
    {
      kind: 'action',
      id: 'in',
      op: 'create',
      diff: [{ op: 'add', path: '', value: expect.anything() }],
    },
  ])
  const config = await pull(dev)
  expect(config.actions).toEqual([SHOWN])
  expect(opsOf(await push(dev, config.actions))).toEqual([])
  expect(succeed(await send('POST', `${dev}/config/diff`, config)).changes).toEqual([])
  expect(await secretsOf(dev)).toEqual([OLD])
})

test('a push without the secret keeps it; one with another replaces it, and shows neither', {
  tags: 'full',
}, async () => {
  const [, dev] = await fork()
  await push(dev, [HOOK])
  const { hash } = await pull(dev)
  await push(dev, [{ ...SHOWN, name: 'Renamed' }])
  await push(dev, [{ id: 'in', record_type: 'task' }])
  expect(await secretsOf(dev)).toEqual([OLD])
  const changed = await push(dev, [{ ...HOOK, secret: NEXT }])
  expect(changed.changes[0].diff).toContainEqual({ op: 'replace', path: '/secret', value: '<redacted>' })
  expect(await secretsOf(dev)).toEqual([NEXT])
  expect((await pull(dev)).hash).toBe(hash)
})

test('a push without a secret for a new resource makes one', { tags: 'full' }, async () => {
  const [, dev] = await fork()
  await push(dev, [SHOWN, { id: 'other', record_type: 'task' }])
  const [first, second] = await secretsOf(dev)
  expect([first, second]).toEqual([expect.stringMatching(/^whsec_new/), expect.stringMatching(/^whsec_new/)])
  expect(first).not.toBe(second)
})

test('a push has the checks of the row: shape, unknown keys, references', { tags: 'full' }, async () => {
  const [, dev] = await fork()
  const refused = async (hook: object, path: string) => {
    const config = { plinth: 1, base: dev, actions: [hook] }
    expectFault(await world.call('PUT', `/v1/${dev}/config`, config), `/actions/0${path}`)
  }
  await refused({ ...HOOK, secret: 'plain' }, '/secret')
  await refused({ ...HOOK, sicret: OLD }, '/sicret')
  await refused({ ...HOOK, record_type: 'absent' }, '/record_type')
  expect(await secretsOf(dev)).toEqual([])
})

test('the schema of config files has the kind, and accepts the placeholder of its secret', () => {
  // The server makes this document in a thread of its own, which does not have the trial kind.
  const { properties } = configSchema() as Body
  const { items } = properties.actions
  expect(Object.keys(items.properties)).toEqual(['id', 'name', 'record_type', 'secret'])
  expect(items.required).toEqual(['id'])
  expect(JSON.stringify(items.properties.secret)).toContain('"<redacted>"')
})

test('a promotion carries the kind; its secret stays in the preview, and production has one of its own', {
  tags: 'full',
}, async () => {
  const [base, dev] = await fork()
  await push(dev, [HOOK])
  expect(opsOf(succeed(await promote(base, { dry_run: true })))).toEqual(['create action in'])
  expect(await secretsOf(base)).toEqual([])
  const { secrets } = succeed(await promote(base))
  expect((await pull(base)).actions).toEqual([SHOWN])
  const [own] = await secretsOf(base)
  expect(own).toMatch(/^whsec_new/)
  expect(secrets).toEqual([{ kind: 'action', id: 'in', secret: own }])
  await push(dev, [{ ...HOOK, name: 'Renamed', secret: NEXT }])
  expect(succeed(await promote(base)).changes).toMatchObject([
    { op: 'update', diff: [{ op: 'replace', path: '/name', value: 'Renamed' }] },
  ])
  expect(await secretsOf(base)).toEqual([own])
})

test('a new preview has the kind with a secret of its own', { tags: 'full' }, async () => {
  const [base, dev] = await fork()
  await push(dev, [HOOK, { ...HOOK, id: 'two' }])
  succeed(await promote(base))
  const next = succeed(await send('POST', `${base}/preview`, { name: 'next' }), 201).id
  expect((await pull(next)).hash).toBe((await pull(base)).hash)
  const secrets = [...(await secretsOf(base)), ...(await secretsOf(next))]
  expect([secrets.length, new Set(secrets).size]).toEqual([4, 4])
  expect(opsOf(succeed(await send('POST', `${base}/promote`, { from: next })))).toEqual([])
})

test('both sides of a conflict are shown, and a promotion is rolled back', { tags: 'full' }, async () => {
  const [base, dev] = await fork()
  await push(dev, [HOOK])
  const first = succeed(await promote(base))
  succeed(await send('POST', `${base}/preview`, { name: 'two' }), 201)
  await push(`${base}--two`, [{ ...SHOWN, name: 'Two' }])
  succeed(await send('POST', `${base}/promote`, { from: `${base}--two` }))
  await push(dev, [{ ...SHOWN, name: 'Dev' }])
  const conflict = await promote(base)
  expectFailure(conflict, 'CONFLICT')
  expect(conflict.body.error.details[0]).toMatchObject({
    path: '/action/in',
    code: 'changed_on_both_sides',
  })
  const rollback = (promotion_id: string) => send('POST', `${base}/promote/rollback`, { promotion_id })
  expectFailure(await rollback(first.id), 'CONFLICT')
  const forced = succeed(await promote(base, { force: true }))
  expect(opsOf(succeed(await rollback(forced.id)))).toEqual(['update action in'])
  expect((await pull(base)).actions).toEqual([{ ...SHOWN, name: 'Two' }])
})

test('a pruned resource comes back by rollback, with a new secret', { tags: 'full' }, async () => {
  const [base, dev] = await fork()
  await push(dev, [HOOK])
  succeed(await promote(base))
  const [before] = await secretsOf(base)
  await push(dev, [])
  expect(opsOf(succeed(await promote(base)))).toEqual([])
  const pruned = succeed(await promote(base, { prune: true }))
  expect(await secretsOf(base)).toEqual([])
  succeed(await send('POST', `${base}/promote/rollback`, { promotion_id: pruned.id }))
  const [after] = await secretsOf(base)
  expect((await pull(base)).actions).toEqual([SHOWN])
  expect([before === after, after?.startsWith('whsec_new')]).toEqual([false, true])
})

test('the log has its changes without the secret, and a revert keeps it', { tags: 'full' }, async () => {
  const [, dev] = await fork()
  await push(dev, [HOOK])
  await push(dev, [{ ...HOOK, name: 'Renamed', secret: NEXT }])
  const path = `${dev}/changes?kind=action&include=before`
  const { data } = succeed(await send('GET', path))
  expect(data.map(({ operation, version }: Body) => [operation, version])).toEqual([
    ['create', 1],
    ['update', 2],
  ])
  const rows = await world.database.query<{ data: object }>(
    'SELECT data FROM plinth.change WHERE base_id = $1 UNION ALL SELECT to_json(f.definition)::jsonb FROM plinth.fork f',
    [dev],
  )
  expect(JSON.stringify(rows)).not.toContain('whsec_')
  succeed(await send('POST', `${dev}/changes/${data[1].seq}/revert`))
  expect((await pull(dev)).actions).toEqual([SHOWN])
  expect(await secretsOf(dev)).toEqual([NEXT])
})
