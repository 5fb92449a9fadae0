import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth } from './plinth.ts'

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

const run = (base: string, args: readonly string[], input = '') =>
  plinth(
    args,
    { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: base, PLINTH_DATA_DIR: folder },
    input,
  )

test('a file is pulled, compared and pushed: exit code 0 without changes, 2 with changes, 1 when refused', async () => {
  expect(await run('crm', ['preview', 'create', 'dev'])).toMatchObject({ code: 0, err: '' })
  expect((await run('crm', ['preview', 'list'])).out).toContain('crm--dev')
  const pulled = await run('crm', ['config', 'pull'])
  expect(pulled.out.split('\n')[0]).toBe(`# yaml-language-server: $schema=${world.url}/config.schema.json`)
  const file = join(folder, 'plinth.yaml')
  await writeFile(file, pulled.out)
  const same = await run('crm--dev', ['config', 'diff', file])
  expect(same).toEqual({ code: 0, out: 'No changes.\n', err: '' })
  const edited = pulled.out.replace('name: Deal', 'name: Offer').replace(/^hash:.*\n/m, '')
  await writeFile(file, edited)
  const changed = await run('crm--dev', ['config', 'diff', file])
  expect(changed).toEqual({
    code: 2,
    out: '~ record_type type1\n    replace /name "Offer"\n1 to update\n',
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
  const plan = '~ record_type type1\n    replace /name "Offer"\n1 to update\n'
  expect(await run('crm', ['promote', 'crm--dev', '--dry-run'])).toEqual({ code: 0, out: plan, err: '' })
  const refused = await run('crm', ['promote', 'crm--dev', '--resource', 'record_type/absent'])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('/resources/0/id')])
  const promoted = await run('crm', ['promote', 'crm--dev', '--resource', 'record_type/type1'])
  const [, id = ''] = /^Promotion (\S+)\. To undo it: plinth rollback \1$/m.exec(promoted.out) ?? []
  expect(promoted.out.split('\n')[2]).toBe('1 updated')
  const again = await run('crm', ['promote', 'crm--dev', '--dry-run', '--json'])
  expect(JSON.parse(again.out)).toMatchObject({ changes: [], dry_run: true })
  expect((await run('crm', ['promotion', 'list'])).out).toContain(id)
  expect((await run('crm', ['promotion', 'get', id])).out).toContain('applied')
  const rolledBack = await run('crm', ['rollback', id])
  expect([rolledBack.code, rolledBack.out]).toEqual([
    0,
    expect.stringContaining('    replace /name "Deal"\n1 updated\nRollback '),
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
  expect([infinite.code, infinite.err]).toEqual([1, expect.stringContaining('/record_types/0/display/n')])
  await run('crm', ['preview', 'delete', 'crm--numbers'])
})

test('a proposal shows what would change and what stands against it', async () => {
  const type = await world.newType()
  await run('crm', ['preview', 'create', 'plan'])
  succeed(await world.call('PUT', `/v1/crm/records/${type}/one`, { data: { qty: 'many' } }), 201)
  const schema = JSON.stringify({ type: 'object', properties: { qty: { type: 'integer' } } })
  await run('crm--plan', ['record-type', 'patch', type, '--schema', schema])
  const shown = await run('crm', ['propose', 'crm--plan'])
  expect([shown.code, shown.out]).toEqual([
    0,
    expect.stringMatching(/^! \/record_type\/\w+\/json_schema: 1 record would .*\n~ record_type \w+\n/),
  ])
  const migration = JSON.stringify({ [type]: [{ op: 'drop', field: 'data.qty' }] })
  expect((await run('crm', ['propose', 'crm--plan', '--migration', migration])).out).not.toContain('!')
  await run('crm', ['preview', 'delete', 'crm--plan'])
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

test('wrong usage of a diff exits with 1, since 2 says that there are changes', async () => {
  const broken = join(folder, 'broken.yaml')
  await writeFile(broken, 'a: [')
  expect(await run('crm', ['config', 'diff', broken])).toMatchObject({ code: 1, out: '' })
  const absent = await run('crm', ['config', 'diff', join(folder, 'absent.yaml')])
  expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('ENOENT')])
  for (const wrong of [
    ['config', 'diff'],
    ['config', 'diff', broken, '--prun'],
  ])
    expect(await run('crm', wrong)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/\S/) })
  expect((await run('crm', ['config', 'push', broken])).code).toBe(2)
  expect(await run('crm', ['config', 'diff', '--help'])).toMatchObject({ code: 0, err: '' })
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
