/** What other configuration refers to is not deleted, wherever the deletion comes from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const READ = [{ record_type: 'note', operations: ['get'] }]
const STEP = { name: 'add', type: 'create_record', record_type: 'note', data: {} }
const NOTE = { record_type: 'note', external_id: 'a', data: {} }
const LINK = { rel_type: 'about', source: { ...NOTE, data: undefined }, target: { ...NOTE, data: undefined } }

/** What refers to a target, as `<noun>/<id>` each. */
const REFERENCES = [
  ['record-types/note', 'relationship-types/named', { source_record_types: ['note'] }],
  ['record-types/note', 'actions/act', { steps: [STEP] }],
  ['record-types/note', 'triggers/hook', { record_types: ['note'], url: 'https://e.com/x', enabled: false }],
  ['record-types/note', 'inbound-webhooks/inbox', { record_type: 'note' }],
  ['record-types/note', 'toolsets/shared', { tools: READ }],
  ['record-types/note', 'endpoints/desk', { tools: READ }],
  ['record-types/note', 'seeds/demo', { records: [NOTE] }],
  [
    'relationship-types/about',
    'endpoints/desk',
    { tools: READ, relationships: [{ rel_type: 'about', operations: ['link'] }] },
  ],
  [
    'relationship-types/about',
    'actions/act',
    {
      steps: [
        {
          ...STEP,
          record_type: 'other',
          relationships: [{ rel_type: 'about', record_type: 'other', id: 'x' }],
        },
      ],
    },
  ],
  ['relationship-types/about', 'seeds/demo', { records: [NOTE], relationships: [LINK] }],
  ['actions/run', 'endpoints/desk', { actions: ['run'] }],
  ['actions/run', 'triggers/hook', { record_types: ['*'], action: 'run', enabled: false }],
  ['toolsets/all', 'endpoints/desk', { toolsets: ['all'] }],
] as const

const LISTS = [
  'seeds',
  'endpoints',
  'toolsets',
  'triggers',
  'inbound_webhooks',
  'actions',
  'relationship_types',
]
const kindOf = (path: string) => path.split('/', 1)[0]?.replaceAll('-', '_').slice(0, -1) ?? ''
const idOf = (path: string) => path.split('/')[1] ?? ''
const listOf = (path: string) => `${kindOf(path)}s`

const put = async (base: string, path: string, body: object) => {
  const answer = await world.call('PUT', `/v1/${base}/${path}`, body)
  expect([200, 201], answer.text).toContain(answer.status)
}
const get = async (path: string): Promise<Body> => succeed(await world.call('GET', `/v1/${path}`))

/** The detail at the path, of an answer that is a conflict. */
function conflictAt(answer: Awaited<ReturnType<World['call']>>, path: string): Body {
  const { details } = expectFailure(answer, 'CONFLICT')
  expect(details.map((each: Body) => each.path)).toEqual([path])
  return details[0]
}

/** A preview with a record type, a relationship type, an action and a toolset, which refer to nothing. */
async function fork(): Promise<[base: string, dev: string]> {
  const base = `base${++serial}`
  await put('bases', base, {})
  await put(base, 'record-types/note', {})
  await put(base, 'record-types/other', {})
  await put(base, 'relationship-types/about', {})
  await put(base, 'actions/run', { steps: [{ name: 'all', type: 'query', record_type: 'other' }] })
  await put(base, 'toolsets/all', {})
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  return [base, `${base}--dev`]
}

describe.each(sampleOf(REFERENCES))('%s, to which %s refers,', (target, referrer, body) => {
  test('is not deleted, and goes with its referrer in a push and a promotion', {
    tags: 'sampled',
  }, async () => {
    const [base, dev] = await fork()
    await put(dev, referrer, body)
    const sample = { [kindOf(referrer)]: idOf(referrer) }
    for (const query of ['', '?dry_run=true'])
      expect(
        conflictAt(await world.call('DELETE', `/v1/${dev}/${target}${query}`), 'path/id'),
        query,
      ).toMatchObject({ code: 'in_use', count: 1, samples: [sample] })

    const file = await get(`${dev}/config`)
    const without = (path: string, from: Body): Body => ({
      ...from,
      hash: undefined,
      [listOf(path)]: from[listOf(path)].filter(({ id }: Body) => id !== idOf(path)),
    })
    const push = (config: Body, query = '') =>
      world.call('PUT', `/v1/${dev}/config?prune=true${query}`, config)
    for (const query of ['&dry_run=true', ''])
      expectFailure(await push(without(target, file), query), 'CONFLICT')
    expect(await get(`${dev}/config`)).toEqual(file)

    succeed(await world.call('POST', `/v1/${base}/promote`, { from: dev }))
    succeed(await push(without(referrer, without(target, file))))
    const only = { from: dev, prune: true, resources: [{ kind: kindOf(target), id: idOf(target) }] }
    const isSeed = referrer.startsWith('seeds/')
    const proposed = succeed(await world.call('POST', `/v1/${base}/promote/proposal`, only))
    const path = `/${kindOf(target)}/${idOf(target)}/id`
    // Production cannot change a seed, so it holds nothing there.
    expect(proposed.breaks.map((each: Body) => [each.path, each.code])).toEqual(
      isSeed ? [] : [[path, 'in_use']],
    )
    if (!isSeed) conflictAt(await world.call('POST', `/v1/${base}/promote`, only), path)
    const { changes } = succeed(await world.call('POST', `/v1/${base}/promote`, { from: dev, prune: true }))
    expect(changes.map(({ op, kind, id }: Body) => [op, kind, id])).toHaveLength(2)
    expect(changes.every(({ op }: Body) => op === 'delete')).toBe(true)
  })
})

test('a type is deleted though it is in use with its id in confirm, and what names it stays', {
  tags: 'full',
}, async () => {
  const [, dev] = await fork()
  await put(dev, 'relationship-types/named', { source_record_types: ['note'] })
  await put(dev, 'endpoints/desk', {
    tools: READ,
    relationships: [{ rel_type: 'about', operations: ['link'] }],
  })
  await put(dev, 'records/note/n1', { data: {} })
  const drop = (path: string, query: string) => world.call('DELETE', `/v1/${dev}/${path}${query}`)
  for (const path of ['record-types/note', 'relationship-types/about']) {
    const id = idOf(path)
    const { message } = conflictAt(await drop(path, ''), 'path/id')
    expect(message).toContain(`or send confirm=${id} to delete it all the same`)
    conflictAt(await drop(path, '?confirm=other'), 'path/id')
    succeed(await drop(path, `?confirm=${id}&dry_run=true`))
    expect(succeed(await drop(path, `?confirm=${id}`))).toEqual({ id, deleted: true })
    expectFailure(await world.call('GET', `/v1/${dev}/${path}`), 'NOT_FOUND')
  }
  expect((await get(`${dev}/relationship-types/named`)).source_record_types).toEqual(['note'])
  expect((await get(`${dev}/endpoints/desk/resolved`)).tools).toEqual([])
  const file = await get(`${dev}/config`)
  expect(succeed(await world.call('PUT', `/v1/${dev}/config`, file)).changes).toEqual([])
  await put(dev, 'record-types/note', {})
  expect((await get(`${dev}/endpoints/desk/resolved`)).tools).toHaveLength(1)
})

test('a batch deletes a type after what refers to it, and not before', { tags: 'full' }, async () => {
  const [base] = await fork()
  await put(base, 'relationship-types/named', { source_record_types: ['note'] })
  const gone = [
    { type: 'delete_relationship_type', id: 'named' },
    { type: 'delete_record_type', id: 'note' },
  ]
  const batch = (operations: object[]) => world.call('POST', `/v1/${base}/batch`, { operations })
  expectFailure(await batch([...gone].reverse()), 'CONFLICT')
  expect((await get(`${base}/relationship-types/named`)).id).toBe('named')
  succeed(await batch(gone))
  expectFailure(await world.call('GET', `/v1/${base}/record-types/note`), 'NOT_FOUND')
})

test('a token with a grant on one type gets in_use without the referrers that it cannot read', {
  tags: 'full',
}, async () => {
  const [base] = await fork()
  await put(base, 'record-types/hidden', {})
  const ends = { source_record_types: ['note'], target_record_types: ['hidden'] }
  await put(base, 'relationship-types/secretive', ends)
  await put(base, 'endpoints/desk-of-others', { tools: READ })
  const own = await world.newToken([{ base, record_type: 'note', permission: 'manage' }])
  const answer = await own.call('DELETE', `/v1/${base}/record-types/note`)
  const fault = conflictAt(answer, 'path/id')
  expect(fault).toMatchObject({ code: 'in_use' })
  expect([fault.count, fault.samples]).toEqual([undefined, undefined])
  expect(answer.text).not.toMatch(/secretive|desk-of-others|hidden/)
  await put(base, 'relationship-types/plain', {
    source_record_types: ['note'],
    target_record_types: ['note'],
  })
  const again = await own.call('DELETE', `/v1/${base}/record-types/note`)
  expect(conflictAt(again, 'path/id')).toMatchObject({ count: 1, samples: [{ relationship_type: 'plain' }] })
  expect(again.text).not.toMatch(/secretive|desk-of-others|hidden/)
})

test('a type that production seeds name is deleted there, since they change by promotions only', {
  tags: 'full',
}, async () => {
  const [base, dev] = await fork()
  await put(dev, 'seeds/demo', { records: [NOTE] })
  succeed(await world.call('POST', `/v1/${base}/promote`, { from: dev }))
  conflictAt(await world.call('DELETE', `/v1/${dev}/record-types/note`), 'path/id')
  succeed(await world.call('DELETE', `/v1/${base}/record-types/note`))
})

test('each kind after record types is one that the cases above cover, or refers to nothing', () => {
  const covered = new Set(REFERENCES.map(([, referrer]) => listOf(referrer)))
  expect([...covered].sort()).toEqual([...LISTS].sort())
})
