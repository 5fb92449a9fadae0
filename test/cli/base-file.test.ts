// @module-tag full
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { fillBase } from '../support/base-file.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
let folder: string
const at = (name: string) => join(folder, name)
beforeAll(async () => {
  world = await openWorld()
  await fillBase(world)
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken }
  folder = await mkdtemp(join(tmpdir(), 'plinth-base-'))
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

test('a base goes into a file, and comes out of it under another id', { tags: 'full' }, async () => {
  const exported = await plinth(['base', 'export', 'crm', '--output', at('crm.tar')], settings)
  expect([exported.code, exported.err]).toEqual([0, `The base is in ${at('crm.tar')}.\n`])
  expect(await readdir(folder)).toEqual(['crm.tar'])
  const tried = await plinth(['base', 'import', at('crm.tar'), '--as', 'copy', '--dry-run'], settings)
  expect(tried).toMatchObject({ code: 0, err: expect.stringContaining('Nothing was imported.') })
  const made = await plinth(['base', 'import', at('crm.tar'), '--as', 'copy'], settings)
  expect(made.code, made.err).toBe(0)
  expect(made.err).toMatch(
    /New secret of the trigger won: \S+\n.*off until you enable them: won\.\n.*"copy" is imported/s,
  )
  expect(succeed(await world.call('GET', '/v1/copy/records/deal')).data).toHaveLength(2)
})

test('`--json` prints where the file is and its size, and nothing else', async () => {
  const own = await plinth(['base', 'export', 'crm', '--output', at('own.tar'), '--json'], settings)
  expect([own.code, own.err]).toEqual([0, ''])
  expect(JSON.parse(own.out)).toMatchObject({ file: at('own.tar'), size: (await stat(at('own.tar'))).size })
  const records = ['export', 'deal', '--base', 'crm', '--output', at('deals.csv'), '--json']
  const { out, err } = await plinth(records, settings)
  expect(err).toBe('')
  expect(JSON.parse(out)).toMatchObject({ file: at('deals.csv'), size: (await stat(at('deals.csv'))).size })
  const absent = await plinth(['base', 'export', 'nope', '--output', at('no.tar'), '--json'], settings)
  expect([absent.code, absent.out, JSON.parse(absent.err).error.code]).toEqual([1, '', 'NOT_FOUND'])
  expect(await readdir(folder)).not.toContain('no.tar')
})

test('`open --json` prints the address that signs in, and opens nothing', async () => {
  const { code, out, err } = await plinth(['open', '--base', 'crm', '--json'], settings)
  expect([code, err]).toEqual([0, ''])
  expect(JSON.parse(out)).toEqual({ url: expect.stringContaining(`${world.url}/b/crm#code=`) })
})

test('the id is that of the file, and a file that is cut is refused', async () => {
  await plinth(['base', 'export', 'crm', '--no-history', '--output', at('short.tar')], settings)
  const taken = await plinth(['base', 'import', at('short.tar')], settings)
  expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('There is a base "crm" already') })
  await writeFile(at('cut.tar'), (await readFile(at('short.tar'))).subarray(0, 9000))
  const cut = await plinth(['base', 'import', at('cut.tar'), '--as', 'cut'], settings)
  expect(cut).toMatchObject({ code: 1, err: expect.stringContaining('ends before it is complete') })
  await writeFile(at('other.tar'), 'no export')
  const other = await plinth(['base', 'import', at('other.tar')], settings)
  expect(other.err).toContain('is no export of a base')
})
