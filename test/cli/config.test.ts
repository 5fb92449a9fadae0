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
  const promoted = await run('crm', ['promote', 'crm--dev', '--resource', 'record_type/type1', '--json'])
  const { id } = JSON.parse(promoted.out)
  expect((await run('crm', ['promotion', 'list'])).out).toContain(id)
  expect((await run('crm', ['promotion', 'get', id])).out).toContain('applied')
  expect(await run('crm', ['rollback', id])).toEqual({ code: 0, out: plan.replace('Offer', 'Deal'), err: '' })
  expect(succeed(await world.call('GET', '/v1/crm/record-types/type1')).name).toBe('Deal')
  expect(await run('crm--dev', ['preview', 'delete', 'crm--dev'])).toMatchObject({ code: 0 })
})

test('a file that is not YAML, or cannot be read, is wrong usage', async () => {
  const broken = join(folder, 'broken.yaml')
  await writeFile(broken, 'a: [')
  expect(await run('crm', ['config', 'diff', broken])).toMatchObject({ code: 2, out: '' })
  const absent = await run('crm', ['config', 'diff', join(folder, 'absent.yaml')])
  expect([absent.code, absent.err]).toEqual([2, expect.stringContaining('ENOENT')])
})
