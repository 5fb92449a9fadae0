/** Config as code: snapshot, diff, and application to a preview. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { KIND_SAMPLES, putOnProduction, putReferences } from '../../support/kinds.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** A base with a resource of each kind, and its preview. */
async function fork(): Promise<[base: string, dev: string]> {
  const base = `base${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  await putReferences(world.call, base)
  for (const [kind, { body }] of Object.entries(KIND_SAMPLES))
    await putOnProduction(world.call, base, kind, 'sample', body)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  return [base, `${base}--dev`]
}
let forked: ReturnType<typeof fork> | undefined
/** A base and its preview of the same configuration, for tests that leave it as it was. */
const unchanged = (): ReturnType<typeof fork> => {
  forked ??= fork()
  return forked
}
const pull = async (base: string): Promise<Body> => succeed(await world.call('GET', `/v1/${base}/config`))
const push = (base: string, config: unknown, query = '', headers: Record<string, string> = {}) =>
  world.call('PUT', `/v1/${base}/config${query}`, config, headers)
const diff = (base: string, config: unknown, query = '') =>
  world.call('POST', `/v1/${base}/config/diff${query}`, config)
const opsOf = ({ changes }: Body): string[] => changes.map(({ op, kind, id }: Body) => `${op} ${kind} ${id}`)
const without = ({ hash: _, ...config }: Body, over: object = {}): Body => ({ ...config, ...over })
const OWN_SECRET = `whsec_${Buffer.from('a secret of one own'.padEnd(32)).toString('base64')}`
const LISTS = [
  'record_types',
  'relationship_types',
  'file_types',
  'triggers',
  'inbound_webhooks',
  'endpoints',
  'toolsets',
  'actions',
  'seeds',
]

/** Larger than what is printed at once, with keys and texts that need quotes. */
const WIDE = {
  [`# ${'k'.repeat(1100)}`]: times(40, (n) => ({ [`- ${n}`]: ['', ' \n lines\n\n', 'x'.repeat(300)] })),
  list: [times(900, (n) => `: ${n}`), 'end'],
  separators: ['line\u2028 next\u2029\u2029', '\u2028', 'first\n\u2028second\n'],
}

describe('the config of a base', () => {
  test('has a list of each kind, sorted by id, without what the base adds', { tags: 'full' }, async () => {
    const [base] = await fork()
    for (const id of ['Zed', 'abc'])
      succeed(await world.call('PUT', `/v1/${base}/record-types/${id}`, {}), 201)
    const config = await pull(base)
    expect(Object.keys(config)).toEqual(['plinth', 'base', ...LISTS, 'hash'])
    expect([config.plinth, config.base]).toEqual([1, base])
    expect(config.record_types.map(({ id }: Body) => id)).toEqual(['Zed', 'abc', 'note', 'sample'])
    for (const [kind, { body }] of Object.entries(KIND_SAMPLES)) {
      const { id, ...sample } = config[`${kind}s`].find((each: Body) => each.id === 'sample')
      expect([id, sample]).toEqual(['sample', expect.objectContaining(body)])
      for (const added of ['version', 'created_at', 'updated_at']) expect(sample).not.toHaveProperty(added)
    }
  })

  test('is the same bytes twice; its hash moves with the content and returns with it', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await unchanged()
    const [first, again] = [
      await world.call('GET', `/v1/${base}/config`),
      await world.call('GET', `/v1/${base}/config`),
    ]
    expect(again.text).toBe(first.text)
    const { hash } = succeed(first)
    expect(first.headers.get('etag')).toBe(`"${hash}"`)
    const fresh = { 'if-none-match': `"${hash}"` }
    expect((await world.call('GET', `/v1/${base}/config`, undefined, fresh)).status).toBe(304)
    expect((await pull(dev)).hash).toBe(hash)
    succeed(await world.call('PATCH', `/v1/${base}/record-types/note`, { description: 'x' }))
    expect((await pull(base)).hash).not.toBe(hash)
    succeed(await world.call('PATCH', `/v1/${base}/record-types/note`, { description: null }))
    expect((await pull(base)).hash).toBe(hash)
  })

  test('as YAML is the same document', { tags: 'full' }, async () => {
    const [base] = await fork()
    const tricky = {
      description: 'yes: "no"\n# on\n - 1e3 ',
      json_schema: { type: 'object', properties: { no: { enum: ['on', '012', null, '2024-01-01', ''] } } },
      display: { long: 'word '.repeat(100), empty: {}, list: [[], [1, 'two']], '': '\t', wide: WIDE },
    }
    succeed(await world.call('PUT', `/v1/${base}/record-types/tricky`, tricky), 201)
    const yaml = await world.call('GET', `/v1/${base}/config?format=yaml`)
    expect([yaml.status, yaml.headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8'])
    expect(parse(yaml.text)).toEqual(await pull(base))
    const [line] = yaml.text.split('\n')
    expect(line).toBe(`# yaml-language-server: $schema=${world.url}/config.schema.json`)
    expectFault(await world.call('GET', `/v1/${base}/config?format=toml`), 'query/format')
  })

  test('needs read on the whole base; an absent base is 404', { tags: 'full' }, async () => {
    const [base] = await unchanged()
    const part = await world.newToken([{ base, record_type: 'note', permission: 'admin' }])
    expectFailure(await part.call('GET', `/v1/${base}/config`), 'FORBIDDEN')
    expectFailure(await part.call('POST', `/v1/${base}/config/diff`, await pull(base)), 'FORBIDDEN')
    const reader = await world.newToken([{ base, permission: 'read' }])
    succeed(await reader.call('GET', `/v1/${base}/config`))
    expectFailure(await reader.call('PUT', `/v1/${base}--dev/config`, await pull(base)), 'FORBIDDEN')
    expectFailure(await world.call('GET', '/v1/absent/config'), 'NOT_FOUND')
  })

  test('/config.schema.json describes it, and needs no token', async () => {
    const { body } = await world.as(null)('GET', '/config.schema.json')
    expect(body.required).toEqual(['plinth', 'base'])
    expect(Object.keys(body.properties)).toEqual(['plinth', 'base', ...LISTS, 'hash'])
    for (const { body: sample } of Object.values(KIND_SAMPLES))
      expect(JSON.stringify(body.properties)).toContain(Object.keys(sample).at(-1))
  })
})

describe('a file of more than 10,000 resources', () => {
  test('is 400, with its number, whatever its lists; nothing is applied', { tags: 'full' }, async () => {
    const [base, dev] = await unchanged()
    const before = await pull(dev)
    const file = {
      plinth: 1,
      base,
      record_types: times(6000, (n) => ({ id: `t${n}` })),
      toolsets: times(4001, (n) => ({ id: `s${n}` })),
    }
    for (const answer of [
      await diff(dev, file),
      await push(dev, file),
      await push(dev, file, '?prune=true'),
    ]) {
      expectFailure(answer, 'VALIDATION_ERROR')
      expect(answer.body.error.details).toMatchObject([
        { code: 'too_large', received: 10_001, expected: 10_000 },
      ])
    }
    expect(await pull(dev)).toEqual(before)
  })
})

describe('a diff', () => {
  test('of the config with its own base is empty, on production too', { tags: 'full' }, async () => {
    for (const base of await unchanged()) {
      const config = await pull(base)
      const found = succeed(await diff(base, config))
      expect(found).toEqual({ changes: [], summary: { create: 0, update: 0, delete: 0 }, hash: config.hash })
    }
  })

  test('names what would be created and updated, and changes nothing', { tags: 'full' }, async () => {
    const [base] = await unchanged()
    const config = await pull(base)
    const [, sample] = config.record_types
    const record_types = [{ ...sample, description: 'new' }, { id: 'zebra' }]
    const found = succeed(await diff(base, without(config, { record_types })))
    expect(opsOf(found)).toEqual(['update record_type sample', 'create record_type zebra'])
    expect(found.summary).toEqual({ create: 1, update: 1, delete: 0 })
    expect(found.changes[0].diff).toEqual([
      { op: 'replace', path: '/description', value: 'new', before: sample.description },
    ])
    expect(found.changes[1].diff).toMatchObject([{ op: 'add', path: '', value: { name: 'zebra' } }])
    const pruned = succeed(await diff(base, without(config, { record_types: [sample] }), '?prune=true'))
    expect(opsOf(pruned)).toEqual(['delete record_type note'])
    expect((await pull(base)).hash).toBe(config.hash)
  })
})

describe('a push', () => {
  test('of what was pulled changes nothing: no version, no log entry', { tags: 'full' }, async () => {
    const [base, dev] = await unchanged()
    const before = await world.database.query('SELECT count(*) FROM plinth.change WHERE base_id = $1', [dev])
    for (const config of [await pull(dev), without(await pull(base))]) {
      const { changes, hash } = succeed(await push(dev, config, '?prune=true'))
      expect([changes, hash]).toEqual([[], config.hash ?? (await pull(base)).hash])
    }
    const after = await world.database.query('SELECT count(*) FROM plinth.change WHERE base_id = $1', [dev])
    expect(after).toEqual(before)
  })

  test('into an empty preview makes the same configuration', { tags: 'full' }, async () => {
    const [base] = await unchanged()
    succeed(await world.call('PUT', `/v1/bases/${base}x`, {}), 201)
    succeed(await world.call('POST', `/v1/${base}x/preview`, { name: 'dev' }), 201)
    const config = await pull(base)
    const done = succeed(await push(`${base}x--dev`, without(config, { base: `${base}x` })))
    expect(done.hash).toBe(config.hash)
    expect(done.summary.create).toBe(done.changes.length)
    const [{ data }] = (await world.database.query<Body>(
      `SELECT jsonb_agg(kind ORDER BY seq) AS data FROM plinth.change WHERE base_id = $1 AND kind <> 'base'`,
      [`${base}x--dev`],
    )) as [Body]
    expect(data.indexOf('endpoint')).toBeGreaterThan(data.lastIndexOf('toolset'))
  })

  test('keeps what the file leaves out; with prune deletes it, and never what it has no list of', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    succeed(await world.call('PUT', `/v1/${dev}/record-types/spare`, {}), 201)
    succeed(await world.call('PUT', `/v1/${dev}/records/spare/r`, { data: {} }), 201)
    const { record_types } = await pull(base)
    const file = { plinth: 1, base, record_types }
    const kept = [{ kind: 'record_type', id: 'spare' }]
    expect(succeed(await diff(dev, file))).toMatchObject({ changes: [], kept })
    expect(succeed(await push(dev, file))).toMatchObject({ changes: [], kept })
    expect(succeed(await diff(dev, file, '?prune=true'))).not.toHaveProperty('kept')
    expect(succeed(await diff(dev, { plinth: 1, base }))).not.toHaveProperty('kept')
    expect(opsOf(succeed(await push(dev, file, '?prune=true')))).toEqual(['delete record_type spare'])
    expect((await pull(dev)).hash).toBe((await pull(base)).hash)
    expectFailure(await world.call('GET', `/v1/${dev}/records/spare/r`), 'NOT_FOUND')
    const held = expectFailure(await push(dev, { ...file, record_types: [] }, '?prune=true'), 'CONFLICT')
    expect(held.details).toMatchObject([{ path: '/record_types', code: 'in_use' }])
    expect(held.message).not.toContain('confirm')
  })

  test('moves a tool from an endpoint to its toolset, in one step', { tags: 'full' }, async () => {
    const [, dev] = await unchanged()
    const config = await pull(dev)
    const { endpoints, toolsets } = config
    const tool = endpoints[0].tools[0]
    const moved = without(config, {
      endpoints: [{ ...endpoints[0], tools: [] }],
      toolsets: toolsets.map((each: Body) => (each.id === 'shared' ? { ...each, tools: [tool] } : each)),
    })
    expect(opsOf(succeed(await push(dev, moved)))).toEqual([
      'update toolset shared',
      'update endpoint sample',
    ])
    expect(opsOf(succeed(await push(dev, without(config))))).toHaveLength(2)
  })

  test('on production is 403 and changes nothing, whatever the body', { tags: 'full' }, async () => {
    const [base] = await unchanged()
    const config = await pull(base)
    const record_types = [{ ...config.record_types[0], description: 'no' }]
    for (const body of [without(config, { record_types }), { nonsense: 1 }])
      expectFailure(await push(base, body), 'FORBIDDEN')
    expect((await pull(base)).hash).toBe(config.hash)
  })

  test('with a stale hash in If-Match or in the body is 409 and changes nothing', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    const config = await pull(dev)
    const about = (description: string, hash?: string) =>
      without(config, { record_types: [{ ...config.record_types[0], description }], ...(hash && { hash }) })
    const tag = { 'if-match': `"${config.hash}"` }
    const { hash } = succeed(await push(dev, about('one'), '', tag))
    expect(expectFailure(await push(dev, about('two'), '', tag), 'CONFLICT').details).toMatchObject([
      { path: 'header/If-Match', code: 'hash_mismatch', expected: hash, received: config.hash },
    ])
    expect(expectFailure(await push(dev, about('two', config.hash)), 'CONFLICT').details).toMatchObject([
      { path: '/hash', hint: 'Without "hash", the file is applied to the base as it is.' },
    ])
    const { message } = expectFailure(await push(dev, await pull(base)), 'CONFLICT')
    expect(message).toBe(
      'The hash is not that of this base as it is now. Pull the base and repeat your change.',
    )
    expect((await pull(dev)).hash).toBe(hash)
    succeed(await push(dev, about('three', hash)))
    expectFault(await push(dev, about('four'), '', { 'if-match': config.hash }), 'header/If-Match')
  })

  test('of many with the same If-Match, exactly one writes', { tags: 'full' }, async () => {
    const [, dev] = await fork()
    const config = await pull(dev)
    const tag = { 'if-match': `"${config.hash}"` }
    const answers = await Promise.all(
      times(8, (n) =>
        push(dev, without(config, { record_types: [{ id: 'note', description: `w${n}` }] }), '', tag),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
  })

  test('names its target or its production base; another base is 400', { tags: 'full' }, async () => {
    const [base, dev] = await unchanged()
    const config = without(await pull(base))
    for (const named of [base, dev]) succeed(await push(dev, { ...config, base: named }))
    for (const named of ['crm', `${base}--qa`, 'absent', ''])
      expectFault(await push(dev, { ...config, base: named }), '/base')
  })

  test.each([
    [
      'a faulty schema',
      { record_types: [{ id: 'good' }, { id: 'bad', json_schema: { type: 'x' } }] },
      /^\/record_types\/1\/json_schema/,
    ],
    ['a faulty id', { record_types: [{ id: 'bad id!' }] }, /^\/record_types\/0\/id/],
    ['an id twice', { record_types: [{ id: 'good' }, { id: 'good' }] }, /^\/record_types\/1\/id/],
    ['an unknown field', { record_types: [{ id: 'good', nmae: 'x' }] }, /^\/record_types\/0\/nmae/],
    [
      'an unknown field that is null',
      { record_types: [{ id: 'good', nmae: null }] },
      /^\/record_types\/0\/nmae/,
    ],
    [
      'an absent reference',
      { record_types: [{ id: 'good' }], relationship_types: [{ id: 'r', source_record_types: ['absent'] }] },
      /^\/relationship_types\/0\/source_record_types\/0/,
    ],
    ['an unknown list', { record_types: [{ id: 'good' }], record_type: [] }, /^\/record_type$/],
    [
      'a kind that this version lacks',
      { record_types: [{ id: 'good' }], triggers: [{ id: 't' }] },
      /^\/triggers/,
    ],
    ['another format', { plinth: 2 }, /^\/plinth/],
  ])('with %s is 400 at its place, and applies nothing', async (_what, over, place) => {
    const [base, dev] = await unchanged()
    const before = await pull(dev)
    const { details } = expectFailure(await push(dev, { plinth: 1, base, ...over }), 'VALIDATION_ERROR')
    expect(details.map(({ path }: Body) => path)).toContainEqual(expect.stringMatching(place))
    expect((await pull(dev)).hash).toBe(before.hash)
  })

  test('whose schema breaks a record is 409 at the type, and applies nothing', { tags: 'full' }, async () => {
    const [, dev] = await fork()
    succeed(await world.call('PUT', `/v1/${dev}/records/note/a`, { data: { n: 'text' } }), 201)
    const before = await pull(dev)
    const strict = { id: 'note', json_schema: { type: 'object', properties: { n: { type: 'integer' } } } }
    const file = { plinth: 1, base: dev, record_types: [{ id: 'aaa' }, strict] }
    const { details } = expectFailure(await push(dev, file), 'CONFLICT')
    expect(details[0]).toMatchObject({
      path: '/record_types/1/json_schema',
      count: 1,
      hint: expect.stringContaining('PUT /v1/{base_id}/record-types/{id} takes on_invalid=allow'),
    })
    expect((await pull(dev)).hash).toBe(before.hash)
    // The advice: the type is changed alone, then the file has nothing to refuse.
    const path = `/v1/${dev}/record-types/note`
    succeed(await world.call('PATCH', `${path}?on_invalid=allow`, { json_schema: strict.json_schema }))
    succeed(await push(dev, file))
    expect(succeed(await world.call('GET', `/v1/${dev}/records/note/a`)).valid).toBe(false)
  })

  test('whose schema breaks a relationship is 409 at the type, with a request that allows it', {
    tags: 'full',
  }, async () => {
    const [, dev] = await fork()
    succeed(await world.call('PUT', `/v1/${dev}/relationship-types/next`, {}), 201)
    succeed(await world.call('PUT', `/v1/${dev}/records/note/a`, { data: {} }), 201)
    const end = { record_type: 'note', id: 'a' }
    const link = { rel_type: 'next', data: { n: 'text' } }
    const ends = {
      ...{ source_record_type: end.record_type, source_id: end.id },
      ...{ target_record_type: end.record_type, target_id: end.id },
    }
    succeed(await world.call('PUT', `/v1/${dev}/relationships/l`, { ...link, ...ends }), 201)
    const strict = { id: 'next', data_schema: { type: 'object', properties: { n: { type: 'integer' } } } }
    const file = { plinth: 1, base: dev, relationship_types: [strict] }
    const { details } = expectFailure(await push(dev, file), 'CONFLICT')
    expect(details[0]).toMatchObject({
      path: '/relationship_types/0/data_schema',
      hint: expect.stringContaining('PUT /v1/{base_id}/relationship-types/{id} takes on_invalid=allow'),
    })
    const path = `/v1/${dev}/relationship-types/next`
    succeed(await world.call('PATCH', `${path}?on_invalid=allow`, { data_schema: strict.data_schema }))
    succeed(await push(dev, file))
  })

  test('with the stored secret is no change for a token that may set it, and a reader learns nothing', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    const triggers = [{ id: 'own', url: 'https://example.com/a', enabled: false, secret: OWN_SECRET }]
    const file = { plinth: 1, base, triggers }
    succeed(await push(dev, file))
    const other = { ...file, triggers: [{ ...triggers[0], secret: `whsec_${'A'.repeat(43)}=` }] }
    const replaced = [{ op: 'replace', path: '/secret', value: '<redacted>' }]
    expect(succeed(await diff(dev, file)).changes).toEqual([])
    expect(succeed(await diff(dev, other)).changes).toMatchObject([{ id: 'own', diff: replaced }])
    const reader = await world.newToken([{ base, environment: '*', permission: 'read' }])
    const seen = async (body: unknown) =>
      succeed(await reader.call('POST', `/v1/${dev}/config/diff`, body)).changes
    expect(await seen(file)).toMatchObject([{ id: 'own', diff: replaced }])
    expect(await seen(file)).toEqual(await seen(other))
    const { version } = succeed(await world.call('GET', `/v1/${dev}/triggers/own`))
    expect(succeed(await push(dev, file)).changes).toEqual([])
    expect(succeed(await world.call('GET', `/v1/${dev}/triggers/own`)).version).toBe(version)
    expect(succeed(await push(dev, other)).changes).toMatchObject([{ id: 'own', diff: replaced }])
    expect(succeed(await diff(dev, file)).changes).toHaveLength(1)
  })

  test('returns the secrets that it makes once, and none in a dry run, a repeat, the log or a file', {
    tags: 'full',
  }, async () => {
    const [base, dev] = await fork()
    const file = {
      ...{ plinth: 1, base },
      triggers: [
        { id: 'own', url: 'https://example.com/a', secret: OWN_SECRET },
        { id: 'made', url: 'https://example.com/b' },
      ],
      inbound_webhooks: [{ id: 'door', record_type: 'note', secret: '<redacted>' }],
    }
    const dry = succeed(await push(dev, file, '?dry_run=true'))
    const due = [
      { kind: 'trigger', id: 'made', secret: null },
      { kind: 'inbound_webhook', id: 'door', secret: null },
    ]
    expect(dry.secrets).toEqual(due)
    const key = { 'idempotency-key': 'secrets-once' }
    const { secrets, changes } = succeed(await push(dev, file, '', key))
    const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secrets).toEqual(due.map((each) => ({ ...each, secret })))
    const shown = [succeed(await push(dev, file, '', key)), changes, await pull(dev)]
    for (const path of ['changes?limit=1000&include=before', 'triggers', 'triggers/made/history'])
      shown.push(succeed(await world.call('GET', `/v1/${dev}/${path}`)))
    for (const { secret } of [...secrets, { secret: OWN_SECRET }])
      expect(JSON.stringify(shown)).not.toContain(secret)
    expect(succeed(await push(dev, await pull(dev)))).not.toHaveProperty('secrets')
  })

  test('as a dry run shows the changes and stores none', { tags: 'full' }, async () => {
    const [, dev] = await unchanged()
    const { hash } = await pull(dev)
    const file = { plinth: 1, base: dev, record_types: [{ id: 'fresh' }] }
    const answer = succeed(await push(dev, file, '?dry_run=true'))
    expect([answer.dry_run, opsOf(answer)]).toEqual([true, ['create record_type fresh']])
    expect((await pull(dev)).hash).toBe(hash)
  })
})
