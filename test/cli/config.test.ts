// @module-tag full
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, plinthOnTerminal, type Settings } from './plinth.ts'

const OWN_SECRET = `whsec_${Buffer.from('a secret of one own'.padEnd(32)).toString('base64')}`

let world: World
let folder: string
beforeAll(async () => {
  world = await openWorld()
  folder = await mkdtemp(join(tmpdir(), 'plinth-config-'))
  await world.newType({ name: 'Deal' })
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (base: string, args: readonly string[], input = '', more: Settings = {}) =>
  plinth(
    args,
    {
      ...{ PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: base },
      ...{ PLINTH_DATA_DIR: folder, ...more },
    },
    input,
  )

test('a file is pulled, compared and pushed: exit code 0 without changes, 2 with changes, 1 when refused', {
  tags: 'full',
}, async () => {
  expect(await run('crm', ['preview', 'create', 'dev'])).toMatchObject({ code: 0, err: '' })
  expect((await run('crm', ['preview', 'list'])).out).toContain('crm--dev')
  const pulled = await run('crm', ['config', 'pull'])
  expect(pulled.out.split('\n')[0]).toBe(`# yaml-language-server: $schema=${world.url}/config.schema.json`)
  const file = join(folder, 'plinth.yaml')
  await writeFile(file, pulled.out)
  const same = await run('crm--dev', ['config', 'diff', file])
  expect(await run('crm--dev', ['config', 'diff', `@${file}`])).toEqual(same)
  expect(same).toEqual({ code: 0, out: 'No changes.\n', err: '' })
  const edited = pulled.out.replace('name: Deal', 'name: Offer').replace(/^hash:.*\n/m, '')
  await writeFile(file, edited)
  const changed = await run('crm--dev', ['config', 'diff', file])
  expect(changed).toEqual({
    code: 2,
    out: '~ record_type type1\n    replace /name "Deal" → "Offer"\n1 to update\n',
    err: '',
  })
  const asJson = await run('crm--dev', ['config', 'diff', '-', '--json'], edited)
  expect([asJson.code, JSON.parse(asJson.out).summary.update]).toEqual([2, 1])
  expect(await run('crm', ['config', 'push', file])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('FORBIDDEN'),
  })
  expect((await run('crm--dev', ['config', 'push', file])).code).toBe(0)
  expect(succeed(await world.call('GET', '/v1/crm--dev/record-types/type1')).name).toBe('Offer')
  expect((await run('crm--dev', ['config', 'diff', file])).code).toBe(0)
  const plan = '~ record_type type1\n    replace /name "Deal" → "Offer"\n1 to update\n'
  expect(await run('crm', ['promote', 'crm--dev', '--dry-run'])).toEqual({ code: 0, out: plan, err: '' })
  const refused = await run('crm', ['promote', 'crm--dev', '--resource', 'record_type/absent'])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('/resources/0/id')])
  const promoted = await run('crm', ['promote', 'crm--dev', '--resource', 'record_type/type1'])
  const [, id = ''] =
    /^Promotion (\S+)\. To undo it: plinth rollback \1 --base crm$/m.exec(promoted.out) ?? []
  expect(promoted.out.split('\n')[2]).toBe('1 updated')
  const again = await run('crm', ['promote', 'crm--dev', '--dry-run', '--json'])
  expect(JSON.parse(again.out)).toMatchObject({ changes: [], dry_run: true })
  expect((await run('crm', ['promotion', 'list'])).out).toContain(id)
  expect((await run('crm', ['promotion', 'get', id])).out).toContain('applied')
  const rolledBack = await run('crm', ['rollback', id])
  expect([rolledBack.code, rolledBack.out]).toEqual([
    0,
    expect.stringContaining('    replace /name "Offer" → "Deal"\n1 updated\nRollback '),
  ])
  expect(succeed(await world.call('GET', '/v1/crm/record-types/type1')).name).toBe('Deal')
  expect(await run('crm--dev', ['preview', 'delete', 'crm--dev'])).toMatchObject({ code: 0 })
})

test('a file keeps its numbers: one that would change on the way is refused, in JSON and in YAML', async () => {
  await run('crm', ['preview', 'create', 'numbers'])
  const type = (value: string) => `{"id":"n","display":{"n":${value}}}`
  const json = (value: string) => `{"plinth":1,"base":"crm","record_types":[${type(value)}]}`
  const yaml = (value: string) =>
    `plinth: 1\nbase: crm\nrecord_types:\n  - id: n\n    display: { n: ${value} }\n`
  for (const file of [json, yaml]) {
    const refused = await run('crm--numbers', ['config', 'push', '-'], file('9007199254740993'))
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('/record_types/0/display/n')])
    const pushed = await run('crm--numbers', ['config', 'push', '-'], file('9007199254740992'))
    expect([pushed.code, pushed.err]).toEqual([0, ''])
    const { display } = succeed(await world.call('GET', '/v1/crm--numbers/record-types/n'))
    expect(display).toEqual({ n: 9007199254740992 })
    succeed(await world.call('DELETE', '/v1/crm--numbers/record-types/n'))
  }
  const infinite = await run('crm--numbers', ['config', 'diff', '-'], yaml('.inf'))
  expect([infinite.code, infinite.err]).toEqual([64, expect.stringContaining('/record_types/0/display/n')])
  await run('crm', ['preview', 'delete', 'crm--numbers'])
})

test('a proposal shows what would change and what prevents it', { tags: 'full' }, async () => {
  const type = await world.newType()
  await run('crm', ['preview', 'create', 'plan'])
  succeed(await world.call('PUT', `/v1/crm/records/${type}/one`, { data: { qty: 'many' } }), 201)
  const schema = JSON.stringify({ type: 'object', properties: { qty: { type: 'integer' } } })
  await run('crm--plan', ['record-type', 'patch', type, '--schema', schema])
  const shown = await run('crm', ['propose', 'crm--plan'])
  expect([shown.code, shown.out]).toEqual([
    1,
    expect.stringMatching(/^! \/record_type\/\w+\/json_schema: 1 record would .*\n~ record_type \w+\n/),
  ])
  const migration = JSON.stringify({ [type]: [{ op: 'drop', field: 'data.qty' }] })
  const migrating = ['--migration', migration]
  const pending = await run('crm', ['propose', 'crm--plan', ...migrating])
  expect(pending.code).toBe(2)
  const proposed = pending.out
  const rewrites = `The migration of record_type ${type} rewrites 1 record.\n`
  expect([proposed.includes('!'), proposed.endsWith(`1 to update\n${rewrites}`)]).toEqual([false, true])
  await run('crm--plan', ['record-type', 'delete', 'type1', '--confirm', 'type1'])
  const kept = '1 kept: record_type type1. Add --prune to delete it.\n'
  const dry = await run('crm', ['promote', 'crm--plan', ...migrating, '--dry-run'])
  expect(dry.out).toMatch(new RegExp(`1 to update\n${rewrites}${kept}$`))
  const done = await run('crm', ['promote', 'crm--plan', ...migrating])
  expect(done.out).toContain(`1 updated\nThe migration of record_type ${type} rewrote 1 record.\n${kept}`)
  const again = await run('crm', ['promote', 'crm--plan'])
  expect([again.code, again.out]).toEqual([0, `No changes.\n${kept}`])
  await run('crm', ['preview', 'delete', 'crm--plan'])
})

test('on a terminal a promotion shows its plan and asks, and only "y" applies it', {
  skip: process.platform !== 'linux',
  tags: 'full',
}, async () => {
  const type = await world.newType({ name: 'Asked' })
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'asks' }), 201)
  succeed(await world.call('PATCH', `/v1/crm--asks/record-types/${type}`, { name: 'Answered' }))
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const answering = (input: string) => plinthOnTerminal(['promote', 'crm--asks'], settings, input)
  const nameNow = async () => succeed(await world.call('GET', `/v1/crm/record-types/${type}`)).name
  for (const no of ['n\n', '\n']) {
    const { code, out } = await answering(no)
    expect([code, stripVTControlCharacters(out)]).toEqual([
      1,
      expect.stringMatching(
        /replace \/name "Asked" → "Answered"[\s\S]*Apply these changes\? \[y\/N\][\s\S]*CANCELLED/,
      ),
    ])
    expect(await nameNow()).toBe('Asked')
  }
  const { code, out } = await answering('y\n')
  expect([code, out]).toEqual([0, expect.stringContaining('1 updated')])
  expect(await nameNow()).toBe('Answered')
})

test('on a terminal a promotion applies what it shows, and nothing that came while it asked', {
  skip: process.platform !== 'linux',
  tags: 'full',
}, async () => {
  const type = await world.newType({ name: 'Shown' })
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'seen' }), 201)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'drafts', copy: 'on_write' }), 201)
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const record = `/v1/crm--drafts/records/${type}/r1`
  const rename = (name: string) => world.call('PATCH', `/v1/crm--seen/record-types/${type}`, { name })
  const write = (name: string) => world.call('PUT', record, { data: { name } })
  for (const [from, change, code] of [
    ['crm--seen', rename, 'hash_mismatch'],
    ['crm--drafts', write, 'changed_since'],
  ] as const) {
    succeed(await change('Looked at'), from === 'crm--seen' ? 200 : 201)
    const later = () => change('Later')
    const { code: exit, out } = await plinthOnTerminal(['promote', from], settings, 'y\n', later)
    expect([exit, stripVTControlCharacters(out)]).toEqual([1, expect.stringContaining('CONFLICT')])
    expect(out).toMatch(code === 'hash_mismatch' ? /hash/ : /changed|revision/)
    const again = await plinthOnTerminal(['promote', from], settings, 'y\n')
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/1 (updated|created)/)])
  }
  expect(succeed(await world.call('GET', `/v1/crm/record-types/${type}`)).name).toBe('Later')
  expect(succeed(await world.call('GET', `/v1/crm/records/${type}/r1`)).data).toEqual({ name: 'Later' })
})

test('a conflict shows what each side changed', async () => {
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'sides' }), 201)
  for (const [base, description] of [
    ['crm', 'prod'],
    ['crm--sides', 'dev'],
  ])
    succeed(await world.call('PATCH', `/v1/${base}/record-types/type1`, { description }))
  const refused = await run('crm', ['promote', 'crm--sides'])
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('1 resource was changed in production and in the preview.')
  expect(refused.err).toContain(
    '    production: replace /description "prod"\n    preview: replace /description "dev"\n',
  )
  const absent = await run('crm', ['promote', 'crm--absent'])
  expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('  /from')])
})

test('a promotion and a rollback print the new secrets, which no later request returns', {
  tags: 'full',
}, async () => {
  const dev = 'crm--secrets'
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'secrets' }), 201)
  const trigger = ['--target', 'https://example.com/hook', '--disabled']
  expect(await run(dev, ['trigger', 'put', 'hook', ...trigger])).toMatchObject({ code: 0 })
  const line = /^Secret of trigger hook, shown once: (whsec_\S+)$/m
  const dry = await run('crm', ['promote', dev, '--dry-run'])
  expect([dry.code, dry.out]).toEqual([0, '+ trigger hook\n1 to create\n'])
  const promoted = await run('crm', ['promote', dev])
  const [, first] = line.exec(promoted.out) ?? []
  const [, id = ''] = /^Promotion (\S+)\./m.exec(promoted.out) ?? []
  expect((await run('crm', ['promotion', 'get', id])).out).not.toContain('whsec_')
  succeed(await world.call('DELETE', `/v1/${dev}/triggers/hook`))
  const pruned = await run('crm', ['promote', dev, '--prune'])
  const [, prune = ''] = /^Promotion (\S+)\./m.exec(pruned.out) ?? []
  const [, second] = line.exec((await run('crm', ['rollback', prune])).out) ?? []
  expect([first, second]).toEqual([expect.any(String), expect.any(String)])
  expect(second).not.toBe(first)
  for (const path of ['crm/triggers/hook', `bases/${dev}`]) succeed(await world.call('DELETE', `/v1/${path}`))
})

test('a push prints the new secrets once, and the secret of the file never', async () => {
  const dev = 'crm--pushed'
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'pushed' }), 201)
  const file = JSON.stringify({
    ...{ plinth: 1, base: 'crm' },
    inbound_webhooks: [{ id: 'door', record_type: 'type1' }],
    triggers: [{ id: 'own', url: 'https://example.com/', enabled: false, secret: OWN_SECRET }],
  })
  const diff = await run(dev, ['config', 'diff', '-'], file)
  const created = '+ trigger own\n+ inbound_webhook door\n2 to create\n'
  expect([diff.code, diff.out]).toEqual([2, created])
  expect(await run(dev, ['config', 'push', '-', '--dry-run'], file)).toMatchObject({ code: 0, out: created })
  const pushed = await run(dev, ['config', 'push', '-'], file)
  expect(pushed.out).toMatch(/\n2 created\nSecret of inbound_webhook door, shown once: whsec_\S+\n$/)
  expect(pushed.out).not.toContain(OWN_SECRET)
  expect(await run(dev, ['config', 'diff', '-'], file)).toMatchObject({ code: 0, out: 'No changes.\n' })
  succeed(await world.call('DELETE', `/v1/bases/${dev}`))
})

test('a preview is named by its whole id; a production base is not taken for one', async () => {
  succeed(await world.call('PUT', '/v1/bases/plain', {}), 201)
  for (const act of ['get', 'delete'])
    for (const id of ['plain', 'dev'])
      expect(await run('crm', ['preview', act, id])).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('<base>--<name>'),
      })
  succeed(await world.call('DELETE', '/v1/bases/plain'))
})

test('a file of several YAML documents is refused in plain words', async () => {
  const several = 'plinth: 1\nbase: crm\n---\nplinth: 1\nbase: crm\n'
  expect(await run('crm', ['config', 'diff', '-'], several)).toEqual({
    code: 64,
    out: '',
    err: 'VALIDATION_ERROR: The file "-" has several YAML documents, separated by "---". Send one document in a file.\n',
  })
  const one = await run('crm', ['config', 'diff', '-'], `---\n${several.split('---')[0]}`)
  expect([one.code, one.out]).toEqual([0, 'No changes.\n'])
})

test('wrong usage of a diff exits with 64, since 2 says that there are changes and 1 that it is refused', async () => {
  const broken = join(folder, 'broken.yaml')
  await writeFile(broken, 'a: [')
  expect(await run('crm', ['config', 'diff', broken])).toMatchObject({ code: 64, out: '' })
  const absent = await run('crm', ['config', 'diff', join(folder, 'absent.yaml')])
  expect([absent.code, absent.err]).toEqual([64, expect.stringContaining('ENOENT')])
  for (const wrong of [
    ['config', 'diff'],
    ['config', 'diff', broken, '--prun'],
  ])
    expect(await run('crm', wrong)).toMatchObject({ code: 64, out: '', err: expect.stringMatching(/\S/) })
  const other = JSON.stringify({ plinth: 1, base: 'other' })
  expect((await run('crm', ['config', 'diff', '-'], other)).code).toBe(1)
  expect((await run('crm', ['config', 'push', broken])).code).toBe(2)
  expect(await run('crm', ['config', 'diff', '--help'])).toMatchObject({ code: 0, err: '' })
})

test('every command of a change exits with 0 when done or with nothing to do, and with 1 when refused', {
  tags: 'full',
}, async () => {
  const agent = await world.newToken([
    { base: 'crm', permission: 'manage', environment: 'preview' },
    { base: 'crm', permission: 'read', environment: 'production' },
  ])
  const PLINTH_TOKEN = agent.token
  const codes = async (base: string, args: readonly string[], input = '', more: Settings = {}) => {
    const { code, out, err } = await run(base, args, input, more)
    // What is printed agrees: an answer for 0, a reason for 1.
    expect([args, code === 0 ? out !== '' && err === '' : out === '' && err !== '']).toEqual([args, true])
    return code
  }
  const records = JSON.stringify([{ record_type: 'type1', external_id: 'x', data: {} }])
  const wrong = JSON.stringify([{ record_type: 'absent', external_id: 'x', data: {} }])
  const dev = 'crm--exits'
  expect(await codes('crm', ['preview', 'create', 'exits'])).toBe(0)
  expect(await codes('crm', ['preview', 'create', 'exits'])).toBe(1)
  expect(await codes('crm', ['preview', 'list'])).toBe(0)
  expect(await codes('absent', ['preview', 'list'])).toBe(1)

  const same = (await run(dev, ['config', 'pull', '--json'])).out
  const file = JSON.parse(same)
  const type = { id: 'type1', name: 'Exits', json_schema: {} }
  const changed = JSON.stringify({ plinth: 1, base: 'crm', record_types: [type] })
  expect(await codes(dev, ['config', 'pull'])).toBe(0)
  expect(await codes('absent', ['config', 'pull'])).toBe(1)
  expect(await codes(dev, ['config', 'diff', '-'], same)).toBe(0)
  expect((await run(dev, ['config', 'diff', '-'], changed)).code).toBe(2)
  expect(await codes(dev, ['config', 'diff', '-'], '{"plinth":2}')).toBe(1)
  expect(await codes(dev, ['config', 'push', '-'], same)).toBe(0)
  expect(await codes('crm', ['config', 'push', '-'], changed)).toBe(1)
  expect(await codes(dev, ['config', 'push', '-'], JSON.stringify({ ...file, hash: 'other' }))).toBe(1)

  expect(await codes('crm', ['promote', dev])).toBe(0)
  expect(await codes(dev, ['config', 'push', '-'], changed)).toBe(0)
  expect((await run('crm', ['propose', dev], '', { PLINTH_TOKEN })).code).toBe(2)
  expect(await codes('crm', ['promote', dev], '', { PLINTH_TOKEN })).toBe(1)
  expect(await codes('crm', ['promote', dev, '--dry-run'], '', { PLINTH_TOKEN })).toBe(1)
  const { id } = JSON.parse((await run('crm', ['promote', dev, '--json'])).out)
  expect(await codes('crm', ['promotion', 'get', id])).toBe(0)
  expect(await codes('crm', ['rollback', id], '', { PLINTH_TOKEN })).toBe(1)
  expect(await codes('crm', ['rollback', id])).toBe(0)
  expect(await codes('crm', ['rollback', id])).toBe(1)

  expect(await codes(dev, ['seed', 'put', 'exits', '--records', records])).toBe(0)
  expect(await codes(dev, ['seed', 'put', 'exits', '--records', wrong])).toBe(1)
  for (const act of ['apply', 'reset', 'clear']) {
    expect(await codes(dev, ['seed', act, 'exits'])).toBe(0)
    expect(await codes(dev, ['seed', act, 'exits'])).toBe(0)
    expect(await codes(dev, ['seed', act, 'absent'])).toBe(1)
    expect(await codes('crm', ['seed', act, 'exits'])).toBe(1)
  }
  expect(await codes('crm', ['preview', 'delete', dev])).toBe(0)
  expect(await codes('crm', ['preview', 'delete', dev])).toBe(1)
})

test('a plan has colors only where they are wanted', async () => {
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'colors' }), 201)
  const type = { id: 'type1', name: 'Colors', json_schema: {} }
  const file = JSON.stringify({ plinth: 1, base: 'crm', record_types: [type] })
  const diff = async (more: Settings) => (await run('crm--colors', ['config', 'diff', '-'], file, more)).out
  const plain = await diff({})
  expect(plain).toMatch(/^~ record_type type1\n/)
  expect([await diff({ NO_COLOR: '1' }), await diff({ FORCE_COLOR: '0' })]).toEqual([plain, plain])
  const colored = await diff({ FORCE_COLOR: '1' })
  expect(colored).toContain('\u001b[33m~ record_type type1\u001b[39m\n')
  expect(stripVTControlCharacters(colored)).toBe(plain)
  const json = await run('crm--colors', ['config', 'diff', '-', '--json'], file, { FORCE_COLOR: '1' })
  expect(JSON.parse(json.out).summary).toEqual({ create: 0, update: 1, delete: 0 })
  succeed(await world.call('DELETE', '/v1/bases/crm--colors'))
})

test('a seed is put, applied, reset and cleared in a preview, and refused on production', async () => {
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'seeds' }), 201)
  const records = JSON.stringify([{ record_type: 'type1', external_id: 'a', data: { n: 1 } }])
  const dev = (...args: string[]) => run('crm--seeds', ['seed', ...args])
  expect((await dev('put', 'demo', '--records', records)).code).toBe(0)
  const applied = await dev('apply', 'demo', '--json')
  expect([applied.code, JSON.parse(applied.out).records.created]).toEqual([0, 1])
  expect((await dev('reset', 'demo')).out).toBe('records: 1 unchanged\nrelationships: none\n')
  expect((await dev('clear', 'demo', '--dry-run')).out).toBe(
    'records: 1 deleted\nrelationships: none\nA dry run: nothing was changed.\n',
  )
  expect((await dev('clear', 'demo')).out).toContain('records: 1 deleted\n')
  expect((await dev('list')).out).toContain('demo')
  expect((await dev('history', 'demo')).out).toContain('create')
  expect(await run('crm', ['seed', 'apply', 'demo'])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('FORBIDDEN'),
  })
})

test('the schema that records have is proposed', async () => {
  succeed(await world.call('PUT', '/v1/crm/records/type1/r', { data: { n: 1 } }), 201)
  const inferred = await run('crm', ['record-type', 'infer', 'type1', '--json'])
  expect([inferred.code, JSON.parse(inferred.out).json_schema]).toEqual([
    0,
    { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  ])
})
