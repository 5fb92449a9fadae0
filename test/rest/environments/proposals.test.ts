// @module-tag full
/** A proposal names what the promotion would refuse, by the same checks. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const put = async (base: string, path: string, body: unknown) => {
  const answer = await world.call('PUT', `/v1/${base}/${path}`, body)
  expect([200, 201], answer.text).toContain(answer.status)
}
const number = { json_schema: { type: 'object', properties: { n: { type: 'number' } } } }
const text = { json_schema: { type: 'object', properties: { n: { type: 'string' } } } }
const tool = (operation: string, name_override: string) => ({
  tools: [{ record_type: 'item', operations: [operation], name_override }],
})

type Case = {
  name: string
  /** What production has at the fork, what it gets afterwards, and what the preview gets: bodies by path. */
  fork?: Record<string, unknown>
  production?: Record<string, unknown>
  preview?: Record<string, unknown>
  /** What the preview deletes. */
  gone?: string
  /** Promoted alone. */
  only?: { kind: string; id: string }
  break: [path: string, code: string]
}

const CASES: readonly Case[] = [
  {
    name: 'a secret that is open to the preview only',
    preview: {
      'triggers/hook': { url: 'https://e.com/x', headers: { 'X-Key': '{{secret:own}}' }, enabled: false },
    },
    break: ['/trigger/hook/headers/X-Key', 'unknown_secret'],
  },
  {
    name: 'a tool name that an endpoint of production has already',
    fork: { 'toolsets/shared': tool('get', 'read'), 'endpoints/desk': { toolsets: ['shared'] } },
    production: { 'endpoints/desk': { toolsets: ['shared'], ...tool('list', 'find') } },
    preview: { 'toolsets/shared': tool('get', 'find') },
    break: ['/toolset/shared/tools', 'duplicate'],
  },
  {
    name: 'the name of an action that is that of a tool',
    fork: { 'toolsets/shared': {}, 'endpoints/desk': { toolsets: ['shared'] } },
    production: { 'toolsets/shared': tool('get', 'get_item') },
    preview: {
      'actions/get_item': { steps: [{ name: 'all', type: 'query', record_type: 'item' }] },
      'endpoints/desk': { toolsets: ['shared'], actions: ['get_item'] },
    },
    break: ['/endpoint/desk/actions/0', 'duplicate'],
  },
  {
    name: 'a condition on a property that the type of production cannot have',
    fork: { 'record-types/item': { json_schema: { type: 'object', additionalProperties: false } } },
    preview: {
      'record-types/item': number,
      'triggers/hook': {
        ...{ record_types: ['item'], url: 'https://e.com/x', enabled: false },
        condition: { field: 'data.n', op: 'gt', value: 1 },
      },
    },
    only: { kind: 'trigger', id: 'hook' },
    break: ['/trigger/hook/condition/field', 'unknown_field'],
  },
  {
    name: 'a row of a seed that the type of production refuses',
    fork: { 'record-types/item': number },
    preview: {
      'record-types/item': text,
      'seeds/demo': { records: [{ record_type: 'item', external_id: 'a', data: { n: 'x' } }] },
    },
    only: { kind: 'seed', id: 'demo' },
    break: ['/seed/demo/records/0/data/n', 'type'],
  },
  {
    name: 'a file type that has files in production',
    fork: { 'file-types/papers': {}, 'files/papers/a.txt': 'x' },
    gone: 'file-types/papers',
    break: ['/file_type/papers', 'force_required'],
  },
]

test.each(CASES)('$name is a break, and the promotion is refused for it', async (each) => {
  const base = `base${++serial}`
  await put('bases', base, {})
  await put(base, 'record-types/item', {})
  const all = (to: string, bodies: Record<string, unknown> = {}) =>
    Object.entries(bodies).reduce(
      (done, [path, body]) => done.then(() => put(to, path, body)),
      Promise.resolve(),
    )
  await all(base, each.fork)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  const dev = `${base}--dev`
  if (each.name.startsWith('a secret'))
    await put('vault', 'secrets/own', { value: 'hidden-value', bases: [dev] })
  await all(base, each.production)
  await all(dev, each.preview)
  if (each.gone) succeed(await world.call('DELETE', `/v1/${dev}/${each.gone}`))
  const reader = await world.newToken([{ base, permission: 'read' }])
  const body = { from: dev, prune: true, ...(each.only && { resources: [each.only] }) }
  const { breaks } = succeed(await reader.call('POST', `/v1/${base}/promote/proposal`, body))
  expect(breaks.map(({ path, code }: Body) => [path, code])).toEqual([each.break])
  const refused = await world.call('POST', `/v1/${base}/promote`, body)
  expect(refused.body.error.details).toEqual(breaks)
  expect(refused.text).not.toContain('hidden-value')
})

test('a proposal, a promotion and its rollback warn of what breaks GraphQL clients', {
  tags: 'full',
}, async () => {
  const base = `base${++serial}`
  await put('bases', base, {})
  await put(base, 'record-types/item', text)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  await put(`${base}--dev`, 'record-types/item', number)
  const body = { from: `${base}--dev` }
  const start = `Clients that were generated from the schema of /graphql/${base} may break: `
  const warning = { warnings: [`${start}Item.n changed type from String to Float.`] }
  const send = async (path: string, sent: object) =>
    succeed(await world.call('POST', `/v1/${base}/promote${path}`, sent))
  expect((await send('/proposal', body)).meta).toEqual(warning)
  expect((await send('', { ...body, dry_run: true })).meta).toEqual(warning)
  const { id, meta } = await send('', body)
  expect(meta).toEqual(warning)
  expect((await send('/rollback', { promotion_id: id })).meta).toEqual({
    warnings: [`${start}Item.n changed type from Float to String.`],
  })
  expect(succeed(await world.call('GET', `/v1/${base}/promotions/${id}`)).meta).toBeUndefined()
})
