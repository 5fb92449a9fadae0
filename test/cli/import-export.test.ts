import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
let folder: string
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  folder = await mkdtemp(join(tmpdir(), 'plinth-import-'))
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

const newType = () =>
  world.newType({
    json_schema: {
      type: 'object',
      properties: {
        title: { type: 'string' },
        amount: { type: 'number' },
        won: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        id: { type: 'string' },
      },
    },
  })
const countOf = async (type: string): Promise<number> =>
  succeed(await world.call('GET', `/v1/crm/records/${type}?include_total=true&limit=1`)).meta.total

test.each(['ndjson', 'csv'])('an export as %s imports as the same records', async (format) => {
  const [from, to] = [await newType(), await newType()]
  const data = { title: ' Ång"ström,\r\nAG ', amount: 1.5, won: false, tags: ['a', 'b'], id: '007' }
  succeed(await world.call('PUT', `/v1/crm/records/${from}/r1`, { data }), 201)
  succeed(await world.call('PUT', `/v1/crm/records/${from}/r2`, { data: { title: 'x' } }), 201)
  const outside = { data: { amount: 2 }, external_id: 'E-1', external_source: 'erp' }
  succeed(await world.call('POST', `/v1/crm/records/${from}`, outside), 201)
  const file = at(`${from}.${format}`)
  expect(await plinth(['export', from, '--output', file], settings)).toMatchObject({
    code: 0,
    err: expect.stringContaining('3 records'),
  })
  const imported = await plinth(['import', to, file], settings)
  expect(imported).toMatchObject({ code: 0, err: '3 records are written.\n' })
  const all = async (type: string) => {
    const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`))
    return data.map(({ id, external_id, data }: Record<string, unknown>) => ({ id, external_id, data }))
  }
  expect(await all(to)).toEqual(await all(from))
  const piped = await plinth(
    ['export', from, '--format', format, '--filter', '-'],
    settings,
    '{"field":"id","op":"eq","value":"r2"}',
  )
  expect(piped).toMatchObject({ code: 0, err: '', out: expect.stringContaining('r2') })
  expect(piped.out).not.toContain('E-1')
})

test('an interrupted import continues after what it has written', async () => {
  const type = await newType()
  const file = at('many.ndjson')
  const lines = Array.from({ length: 1200 }, (_, n) => JSON.stringify({ title: `T${n}` }))
  await writeFile(file, [...lines.slice(0, 700), '{"title": 5}', ...lines.slice(700)].join('\n'))
  const failed = await plinth(['import', type, file], settings)
  expect(failed.code).toBe(1)
  expect(failed.err).toContain('line 701')
  expect(failed.err).toContain('500 records are written, none of lines 501 to 1000')
  expect(await countOf(type)).toBe(500)
  await writeFile(file, [...lines.slice(0, 700), ...lines.slice(700)].join('\n'))
  expect(await plinth(['import', type, file, '--resume'], settings)).toMatchObject({
    code: 0,
    err: '700 records are written.\n',
  })
  expect(await countOf(type)).toBe(1200)
  await expect(readFile(`${file}.import`)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a line that cannot be read is named, and nothing after it is written', async () => {
  const type = await newType()
  const wrong = async (format: string, text: string) =>
    (await plinth(['import', type, '-', '--format', format], settings, text)).err
  expect(await wrong('ndjson', '{"title":"a"}\n{"title":\n')).toContain('Line 2: ')
  expect(await wrong('ndjson', '[1]')).toContain('Line 1: A line must be a JSON object.')
  expect(await wrong('csv', 'title,amount\na,much\n')).toContain(
    'Line 2: "much" in the column "amount" is not a number.',
  )
  expect(await wrong('csv', 'title\n"a\n')).toContain('Line 2: a quote is not closed.')
  expect(await wrong('csv', 'title\na,b\n')).toContain('Line 2: The row has 2 cells')
  expect(await countOf(type)).toBe(0)
  expect(await plinth(['import', type, '-', '--format', 'xml'], settings)).toMatchObject({ code: 2 })
  expect(await plinth(['import', type, '-', '--resume'], settings)).toMatchObject({ code: 2 })
  expect(await plinth(['import', type, at('none')], settings)).toMatchObject({ code: 2 })
})
