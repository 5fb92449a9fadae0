/** A base as one file: what it holds, what an import makes of it, and what it refuses. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import {
  exportsOf,
  fillBase,
  forgedOf,
  linesIn,
  linesText,
  type Members,
  membersOf,
  tarOf,
} from '../../support/base-file.ts'
import { sampleOf } from '../../support/cases.ts'
import { holdOpen } from '../../support/holding.ts'
import { KIND_SAMPLES, putOnProduction, putReferences } from '../../support/kinds.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let file: Buffer
let members: Members
let transfer: ReturnType<typeof exportsOf>
beforeAll(async () => {
  world = await openWorld()
  await fillBase(world)
  transfer = exportsOf(world)
  file = await transfer.exported('crm')
  members = membersOf(file)
})
afterAll(() => world.close())

/** Nothing of the base is left, not even in its log. */
const isGone = async (id: string) => {
  expectFailure(await world.call('GET', `/v1/bases/${id}`), 'NOT_FOUND')
  for (const table of ['change', 'record', 'file', 'attachment', 'record_type'])
    expect(await world.database.query(`SELECT 1 FROM plinth.${table} WHERE base_id = $1`, [id])).toEqual([])
}

test('an export has the members of a base in their order, and no token', () => {
  const names = [...members.keys()].filter((name) => !name.startsWith('contents/'))
  expect(names).toEqual([
    ...[
      'plinth.json',
      'config.yaml',
      'records/company.ndjson',
      'records/deal.ndjson',
      'records/deal-2.ndjson',
    ],
    ...['relationships/of.ndjson', 'files/docs.ndjson', 'attachments.ndjson', 'changes.ndjson', 'end.json'],
  ])
  expect(linesIn(members, 'records/deal.ndjson').map(({ id, status, valid }) => [id, status, valid])).toEqual(
    [
      ['d1', 'active', true],
      ['d2', 'cancelled', false],
    ],
  )
  expect(file.includes('token_id')).toBe(false)
  expect(JSON.parse(members.get('plinth.json')?.toString() ?? '')).toMatchObject({
    ...{ format: 1, base: { id: 'crm' }, history: true, history_from: null },
  })
})

test('an import makes the same base, whose export has the same members', { tags: 'full' }, async () => {
  const made = succeed(await transfer.imported('copy', file), 201)
  expect(made.counts).toMatchObject({ records: 5, relationships: 1, files: 3, attachments: 1, contents: 5 })
  expect(made.disabled_triggers).toEqual(['won'])
  expect(made.secrets).toMatchObject([{ kind: 'trigger', id: 'won' }])
  expect(made.base).toMatchObject({ id: 'copy', name: 'crm', environment: 'production' })
  const again = membersOf(await transfer.exported('copy'))
  const same = [...members.keys()].filter((name) => !/^(plinth|end|changes|config)\b/.test(name))
  for (const name of same) expect(again.get(name)?.toString(), name).toBe(members.get(name)?.toString())
  const entries = (of: Members) =>
    linesIn(of, 'changes.ndjson').map(({ seq: _, cause, data, ...entry }) => ({
      ...{ ...entry, id: entry.kind === 'base' ? '' : entry.id, caused: cause !== null },
      data: { ...data, baseId: undefined, id: undefined },
    }))
  const [before, after] = [entries(members), entries(again)]
  expect(after.slice(0, before.length)).toEqual(before)
  // The import itself: the trigger that is off, and the base that is there again.
  expect(after.slice(before.length).map(({ kind, operation }) => [kind, operation])).toEqual([
    ['trigger', 'update'],
    ['base', 'restore'],
  ])
  const configs = [members, again].map((of) => JSON.parse(of.get('config.yaml')?.toString() ?? ''))
  expect(configs[1].record_types).toEqual(configs[0].record_types)
  expect(configs[1].triggers).toMatchObject([{ id: 'won', enabled: false }])
})

test('configuration that names deleted types, or no longer fits its types, is imported as it is', {
  tags: 'full',
}, async () => {
  const { call } = world
  succeed(await call('PUT', '/v1/bases/ruins', {}), 201)
  await putReferences(call, 'ruins')
  for (const [kind, { body }] of Object.entries(KIND_SAMPLES))
    await putOnProduction(call, 'ruins', kind, 'sample', body)
  succeed(await call('PATCH', '/v1/ruins/triggers/sample', { enabled: true }))
  const desk = {
    tools: [{ record_type: 'note', operations: ['get'] }],
    relationships: [{ rel_type: 'knows', operations: ['link'] }],
  }
  succeed(await call('PUT', '/v1/ruins/relationship-types/knows', {}), 201)
  succeed(await call('PUT', '/v1/ruins/endpoints/desk', desk), 201)
  succeed(await call('PUT', '/v1/ruins/record-types/other', {}), 201)
  const ends = { target_record_types: ['other'] }
  succeed(await call('PUT', '/v1/ruins/relationship-types/knows', ends))
  succeed(await call('PUT', '/v1/ruins/record-types/strict', {}), 201)
  const strict = {
    ...{ record_type: 'strict', operations: ['list'], fields: ['data.a'], defaults: { a: 1 } },
    ...{ filter: { field: 'data.a', op: 'eq', value: 1 }, name_override: 'strictly' },
  }
  succeed(await call('PUT', '/v1/ruins/endpoints/strict', { tools: [strict] }), 201)
  succeed(await call('PUT', '/v1/ruins/toolsets/strict', { tools: [strict] }), 201)
  const strictly = { record_types: ['strict'], condition: strict.filter, url: 'https://hooks.invalid/' }
  succeed(await call('PUT', '/v1/ruins/triggers/strict', strictly), 201)
  const narrow = { json_schema: { properties: { b: {} }, additionalProperties: false } }
  succeed(await call('PUT', '/v1/ruins/record-types/strict', narrow))
  for (const path of ['relationship-types/about?confirm=about', 'record-types/note?confirm=note'])
    succeed(await call('DELETE', `/v1/ruins/${path}`))
  const configOf = async (base: string) => {
    const { base: _, hash: __, ...lists } = succeed(await call('GET', `/v1/${base}/config`))
    return lists
  }
  const config = await configOf('ruins')
  expect(config['seeds']).toHaveLength(1)
  succeed(await transfer.imported('ruins2', await transfer.exported('ruins')), 201)
  const triggers = config['triggers'].map((trigger: Body) => ({ ...trigger, enabled: false }))
  expect(await configOf('ruins2')).toEqual({ ...config, triggers })
})

test('an imported base goes on as the former one would', { tags: 'full' }, async () => {
  succeed(await transfer.imported('next', file), 201)
  const at = (path: string) => `/v1/next/${path}`
  const { data } = succeed(await world.call('GET', at('records/deal/d1/history')))
  expect(data.map(({ version }: Body) => version)).toEqual([3, 2, 1])
  const revert = data[0] as Body
  expect(revert.cause).toBe(String(data[1].seq))
  succeed(await world.call('GET', at('records/deal/d1?version=1')))
  const written = succeed(
    await world.call('PUT', at('records/deal/d1'), { data: { name: 'One', amount: 9 } }),
  )
  expect(written.version).toBe(4)
  expect(succeed(await world.call('POST', at('records/deal/d3/restore'))).data).toEqual({ name: 'Gone' })
  expect(succeed(await world.call('GET', at('files?search=second'))).data).toHaveLength(1)
  expect((await world.call('GET', at('files/docs/b.bin'))).text).toBe('binary')
  const { version } = succeed(await world.call('GET', at('record-types/deal')))
  expect(version).toBe(succeed(await world.call('GET', '/v1/crm/record-types/deal')).version)
  const links = succeed(await world.call('GET', at('relationships'))).data
  expect(links).toMatchObject([{ source_id: 'd1', target_id: 'a', data: { since: 2020 } }])
})

test('without its history a base has what a purge would leave', { tags: 'full' }, async () => {
  const short = await transfer.exported('crm', '?history=false')
  const names = [...membersOf(short).keys()]
  expect(linesIn(membersOf(short), 'changes.ndjson').filter(({ id }) => id === 'd1')).toHaveLength(1)
  expect(names.filter((name) => name.startsWith('contents/'))).toHaveLength(3)
  succeed(await transfer.imported('short', short), 201)
  const { data } = succeed(await world.call('GET', '/v1/short/records/deal/d1/history'))
  expect(data.map(({ version }: Body) => version)).toEqual([3])
  expectFailure(await world.call('POST', '/v1/short/records/deal/d3/restore'), 'NOT_FOUND')
})

test('a dry run makes nothing, and an id that is taken is refused', { tags: 'full' }, async () => {
  const { dry_run, counts } = succeed(await transfer.imported('dry', file, '?dry_run=true'), 201)
  expect([dry_run, counts.records]).toEqual([true, 5])
  await isGone('dry')
  expectFailure(await transfer.imported('crm', file), 'CONFLICT')
  expectFailure(await transfer.imported('crm--copy', file), 'VALIDATION_ERROR')
})

test('under a key an import takes effect once', { tags: 'full' }, async () => {
  const key = { 'idempotency-key': 'import-once' }
  succeed(await transfer.imported('once', file, '', key), 201)
  const again = await transfer.imported('once', file, '', key)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
})

test('export and import need admin on the base', async () => {
  const manager = await world.newToken([{ permission: 'manage', base: '*' }])
  const by = exportsOf(world, manager.token)
  await expect(by.exported('crm')).rejects.toThrow('FORBIDDEN')
  expectFailure(await by.imported('mine', file), 'FORBIDDEN')
})

test('an import ends with its token, also while it writes', { tags: 'full' }, async () => {
  const admin = await world.newToken([{ permission: 'admin', base: '*' }])
  const holding = await holdOpen(world.database)
  await holding.query('LOCK TABLE plinth.record IN EXCLUSIVE MODE')
  const importing = exportsOf(world, admin.token).imported('ended', file)
  await expect.poll(() => holding.waiting(), { timeout: 10_000 }).not.toEqual([])
  succeed(await world.call('DELETE', `/v1/tokens/${admin.id}`))
  await holding.end()
  expectFailure(await importing, 'UNAUTHORIZED')
  await isGone('ended')
})

/** A file that differs in one member, with digests that fit. */
const changed = (name: string, change: (lines: Body[]) => object[]): Buffer =>
  forgedOf(new Map([...members, [name, linesText(change(linesIn(members, name)))]]))
const first = (change: object) => (lines: Body[]) =>
  lines.map((line, n) => (n === 0 ? { ...line, ...change } : line))
const without = (of: RegExp) => new Map([...members].filter(([name]) => !of.test(name)))
const renamed = (from: string, to: string) =>
  new Map([...members].map(([name, bytes]) => [name === from ? to : name, bytes] as const))

const REFUSED: readonly (readonly [what: string, file: () => Buffer, code: string])[] = [
  ['a file that is cut', () => file.subarray(0, file.length / 2), 'cut'],
  ['a file without its last member', () => tarOf(without(/^end/)), 'cut'],
  ['an empty file', () => Buffer.alloc(0), 'cut'],
  ['no tar', () => Buffer.from('PK\u0003\u0004'.padEnd(2000, 'x')), 'invalid_member'],
  ['bytes after its end', () => Buffer.concat([file, Buffer.from('more')]), 'invalid_member'],
  [
    'a path out of the file',
    () => forgedOf(renamed('attachments.ndjson', '../../etc/passwd')),
    'unknown_member',
  ],
  [
    'a member that is not known',
    () => forgedOf(renamed('attachments.ndjson', 'tokens.ndjson')),
    'unknown_member',
  ],
  ['a missing member', () => forgedOf(without(/^attachments/)), 'invalid_order'],
  ['members in another order', () => forgedOf(new Map([...members].reverse())), 'invalid_order'],
  [
    'an altered line',
    () => Buffer.from(file.toString('latin1').replace('"One"', '"Onf"'), 'latin1'),
    'digest_mismatch',
  ],
  ['a content that is missing', () => forgedOf(without(/^contents\/[0-7]/)), 'missing_member'],
  [
    'a content of another digest',
    () =>
      forgedOf(
        new Map(
          [...members].map(([name, bytes]) => [
            name,
            /^contents/.test(name) ? Buffer.alloc(bytes.length) : bytes,
          ]),
        ),
      ),
    'digest_mismatch',
  ],
  [
    'a content that nothing has',
    () => forgedOf(new Map([...without(/^end/), ['contents/ff'.padEnd(73, 'f'), Buffer.alloc(1)]])),
    'unknown_member',
  ],
  [
    'an id twice',
    () => changed('records/deal.ndjson', (lines) => [lines[0], ...lines] as Body[]),
    'duplicate',
  ],
  [
    'lines in another order',
    () => changed('records/deal.ndjson', (lines) => lines.reverse()),
    'invalid_order',
  ],
  [
    'data that the schema refuses',
    () => changed('records/deal.ndjson', first({ data: { name: 1 } })),
    'type',
  ],
  ['a field that no record has', () => changed('records/deal.ndjson', first({ row_no: 1 })), 'unknown_key'],
  ['an id that no record can have', () => changed('records/deal.ndjson', first({ id: '../x' })), 'custom'],
  [
    'a time that will come',
    () => changed('records/deal.ndjson', first({ updated_at: '2999-01-01T00:00:00.000Z' })),
    'custom',
  ],
  [
    'a version that its history lacks',
    () => changed('records/deal.ndjson', first({ version: 7 })),
    'invalid_history',
  ],
  [
    'a link to nothing',
    () => changed('relationships/of.ndjson', first({ target_id: 'zzz' })),
    'unknown_record',
  ],
  [
    'a link that its type refuses',
    () => changed('relationships/of.ndjson', first({ source_record_type: 'company' })),
    'invalid_end',
  ],
  [
    'two records with one external pair',
    () =>
      changed('records/deal.ndjson', (lines) =>
        lines.map((line) => ({ ...line, external_id: 'x', external_source: 'y' })),
      ),
    'invalid_data',
  ],
  [
    'a file without its version',
    () => changed('files/docs.ndjson', (lines) => lines.slice(0, 1)),
    'missing_version',
  ],
  ['a path that no file can have', () => changed('files/docs.ndjson', first({ path: '../up' })), 'custom'],
  [
    'a type that the configuration lacks',
    () => forgedOf(renamed('records/deal-2.ndjson', 'records/deal-3.ndjson')),
    'unknown_type',
  ],
  [
    'a history that lacks a record',
    () => changed('changes.ndjson', (lines) => lines.filter(({ id }) => id !== 'd1')),
    'invalid_history',
  ],
  [
    'a config that is none',
    () =>
      forgedOf(
        new Map([
          ...members,
          ['config.yaml', Buffer.from('{"plinth":1,"base":"crm","record_types":[{"id":"a b"}]}')],
        ]),
      ),
    'invalid_id',
  ],
]

test.each(sampleOf(REFUSED))(
  'refused is %s, and nothing is left',
  { tags: 'sampled' },
  async (_, make, code) => {
    const refused = expectFailure(await transfer.imported('bad', make()), 'VALIDATION_ERROR')
    expect(refused.details.map((detail: Body) => detail.code)).toContain(code)
    await isGone('bad')
  },
)
