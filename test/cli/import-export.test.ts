import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep, succeed, times } from '../support/answers.ts'
import { openProxy } from '../support/proxy.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings, start } from './plinth.ts'

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

test.each(['ndjson', 'csv'])(
  'texts, nulls and numbers that look alike survive an export as %s',
  { tags: 'full' },
  async (format) => {
    const string = { type: 'string' }
    const json_schema = {
      type: 'object',
      properties: {
        text: string,
        note: { type: ['string', 'null'] },
        any: {},
        size: { type: ['number', 'null'] },
      },
    }
    const [from, to] = [await world.newType({ json_schema }), await world.newType({ json_schema })]
    const texts = [
      '',
      'null',
      '"',
      '""',
      '"null"',
      '"\\"\\""',
      '5',
      '"5"',
      'true',
      '[1]',
      '=1+1',
      '\ufeff',
      ' \r\n',
    ]
    const all = [
      ...texts.flatMap((text) => [{ text }, { note: text }, { any: text }]),
      ...[null, 5, true, [1], {}].map((any) => ({ any })),
      { note: null, size: null },
      { size: 1e21 },
      { size: -0.1 },
      {},
    ]
    const operations = all.map((data, n) => ({ type: 'upsert_record', record_type: from, id: `r${n}`, data }))
    succeed(await world.call('POST', '/v1/crm/batch', { operations }))
    const file = at(`alike.${format}`)
    expect(await plinth(['export', from, '--output', file], settings)).toMatchObject({ code: 0 })
    expect(await plinth(['import', to, file], settings)).toMatchObject({ code: 0 })
    const { data } = succeed(await world.call('GET', `/v1/crm/records/${to}?limit=1000`))
    const read = new Map(data.map(({ id, data }: { id: string; data: unknown }) => [id, data]))
    expect(all.map((_, n) => read.get(`r${n}`))).toEqual(all)
  },
)

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
    err: expect.stringContaining('The records are in'),
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

test('an interrupted import continues after what it has written', { tags: 'full' }, async () => {
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

test('a JSON array is imported item by item, and an interrupted one continues', {
  tags: 'full',
}, async () => {
  const type = await newType()
  const file = at('array.json')
  const items = Array.from({ length: 700 }, (_, n) => ({ title: `T${n} "],[{`, tags: ['a', '}'] }))
  const text = (bad: object) => ` [${JSON.stringify(items.with(600, bad as never)).slice(1)}\n`
  await writeFile(file, text({ title: 5 }))
  const failed = await plinth(['import', type, file], settings)
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('item 601') })
  expect(failed.err).toContain('500 records are written, none of items 501 to 700')
  await writeFile(file, text({ title: 'T600' }))
  const resumed = await plinth(['import', type, file, '--resume'], settings)
  expect(resumed).toMatchObject({ code: 0, err: '200 records are written.\n' })
  expect(await countOf(type)).toBe(700)
  const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=created_at,id&limit=1`))
  expect(data[0].data.tags).toEqual(['a', '}'])
  expect(await plinth(['import', type, '-'], settings, '[]')).toMatchObject({
    err: '0 records are written.\n',
  })
})

describe('import --create', () => {
  const schemaOf = async (type: string) =>
    succeed(await world.call('GET', `/v1/crm/record-types/${type}`)).json_schema
  const existed = (type: string) => world.call('GET', `/v1/crm/record-types/${type}`)

  test('makes the type with an inferred schema, which refuses no other values', {
    tags: 'full',
  }, async () => {
    const records = Array.from({ length: 30 }, (_, n) => ({
      ...{ name: `N${n}`, stage: n % 2 ? 'open' : 'won', amount: n + 0.5, due: '2026-01-02' },
      address: { city: 'Bonn' },
    }))
    const file = at('made.json')
    await writeFile(file, JSON.stringify(records))
    const without = await plinth(['import', 'made', file], settings)
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('pass --create') })
    expect((await existed('made')).status).toBe(404)
    const done = await plinth(['import', 'made', file, '--create'], settings)
    expect(done, done.err).toMatchObject({ code: 0, err: expect.stringContaining('30 records are written.') })
    expect(await schemaOf('made')).toEqual({
      type: 'object',
      properties: {
        ...{ name: { type: 'string' }, stage: { type: 'string' }, amount: { type: 'number' } },
        due: { type: 'string', format: 'date' },
        address: { type: 'object', properties: { city: { type: 'string' } } },
      },
    })
    // A type that exists stays as it is.
    await writeFile(file, JSON.stringify([{ name: 'x', other: 1 }]))
    expect(await plinth(['import', 'made', file, '--create'], settings)).toMatchObject({
      code: 0,
      err: '1 record is written.\n',
    })
    expect((await schemaOf('made')).properties).not.toHaveProperty('other')
  })

  test('finds the types of the columns of CSV by all of their cells', { tags: 'full' }, async () => {
    const file = at('made.csv')
    const rows = [
      'n,zip,ok,late,tags,external_id',
      '1.50,01234,true,5,[1],e1',
      '-2,53111,false,x,"[2,3]",e2',
      ',,,,,e3',
    ]
    await writeFile(file, rows.join('\n'))
    const done = await plinth(['import', 'cells', file, '--create'], settings)
    expect(done, done.err).toMatchObject({ code: 0 })
    const { data } = succeed(await world.call('GET', '/v1/crm/records/cells?sort=external_id'))
    expect(data.map(({ external_id, data }: Body) => [external_id, data])).toEqual([
      ['e1', { n: 1.5, zip: '01234', ok: true, late: '5', tags: [1] }],
      ['e2', { n: -2, zip: '53111', ok: false, late: 'x', tags: [2, 3] }],
      ['e3', {}],
    ])
    expect((await schemaOf('cells')).properties).toMatchObject({
      ...{ n: { type: 'number' }, zip: { type: 'string' }, ok: { type: 'boolean' } },
      ...{ late: { type: 'string' }, tags: { type: 'array' } },
    })
    const piped = await plinth(['import', 'piped', '-', '--format', 'csv', '--create'], settings, 'a\n1')
    expect(piped).toMatchObject({ code: 2, err: expect.stringContaining('--create needs a file for CSV') })
  })

  test('makes no type if the first records cannot be written', async () => {
    const file = at('broken.json')
    await writeFile(file, '[{"id": "no id!", "data": {}}]')
    const failed = await plinth(['import', 'broken', file, '--create'], settings)
    expect(failed, failed.err).toMatchObject({ code: 1, err: expect.stringContaining('item 1') })
    expect((await existed('broken')).status).toBe(404)
  })
})

test('a line that cannot be read is named, and nothing after it is written', { tags: 'full' }, async () => {
  const type = await newType()
  const wrong = async (format: string, text: string) =>
    (await plinth(['import', type, '-', '--format', format], settings, text)).err
  expect(await wrong('ndjson', '{"title":"a"}\n{"title":\n')).toContain('Line 2: ')
  expect(await wrong('ndjson', '[1]')).toContain('Item 1: An item must be a JSON object.')
  expect(await wrong('ndjson', '[{"title":"a"},\n{"title":"b"}')).toContain('Item 2: the array has no end.')
  expect(await wrong('ndjson', '[{"title":"a"}] {}')).toContain('Item 2: text follows the array.')
  expect(await wrong('ndjson', '{"title":"a"}\n1')).toContain('Line 2: A line must be a JSON object.')
  expect(await wrong('csv', 'title,amount\na,much\n')).toContain(
    'Line 2: "much" in the column "amount" is not a number.',
  )
  const several = await wrong('csv', 'title,amount\na,much\nb,2\nc,more,d\n')
  expect(several).toContain('2 lines are wrong.\n  line 2: "much" in the column')
  expect(several).toContain('\n  line 4: The row has 3 cells')
  const many = await wrong('csv', `title,amount\n${'a,much\n'.repeat(200)}`)
  expect(many.split('\n')).toHaveLength(52)
  expect(many).toContain('At least 50 lines are wrong.')
  expect(await wrong('csv', 'title;amount\na;1\n')).toContain('Pass --delimiter ";"')
  expect(await wrong('csv', 'title\n"a\n')).toContain('Line 2: a quote is not closed.')
  expect(await wrong('csv', 'title\na,b\n')).toContain('Line 2: The row has 2 cells')
  expect(await countOf(type)).toBe(0)
  expect(await plinth(['import', type, '-', '--format', 'xml'], settings)).toMatchObject({ code: 2 })
  const csv = ['import', type, '-', '--format', 'csv', '--delimiter']
  expect(await plinth([...csv, ';;'], settings, 'title')).toMatchObject({ code: 2 })
  expect(await plinth([...csv, ';'], settings, 'title;amount\na,b;1\n')).toMatchObject({ code: 0 })
  expect(await plinth([...csv, 'tab'], settings, 'title\tamount\na;b\t2\n')).toMatchObject({ code: 0 })
  const { data } = (await world.call('GET', `/v1/crm/records/${type}?sort=data.amount`)).body
  expect(data.map(({ data }: { data: object }) => data)).toEqual([
    { title: 'a,b', amount: 1 },
    { title: 'a;b', amount: 2 },
  ])
  expect(await plinth(['import', type, '-', '--resume'], settings)).toMatchObject({ code: 2 })
  expect(await plinth(['import', type, at('none')], settings)).toMatchObject({ code: 2 })
})

/** Starts a command in a process of its own, and interrupts it when it has done something. */
async function interrupted(args: string[], isDue: () => Promise<boolean>) {
  const child = start(args, settings)
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  while (!(await isDue())) await sleep(20)
  child.kill('SIGINT')
  return { code: await ended, err }
}
const exists = (file: string) => readFile(file, 'utf8').then(Boolean, () => false)
const linesOf = (count: number) => times(count, (n) => JSON.stringify({ title: `T${n}`, amount: n }))

test('SIGINT ends an import after a batch, and --resume writes each of the other lines once', {
  tags: 'full',
}, async () => {
  const type = await newType()
  const file = at('stopped.ndjson')
  await writeFile(file, linesOf(12_000).join('\n'))
  const { code, err } = await interrupted(['import', type, file], async () => (await countOf(type)) >= 500)
  expect([code, err]).toEqual([
    130,
    expect.stringMatching(/^INTERRUPTED: \d+ records are written\.\n {2}Continue with --resume\.\n$/),
  ])
  const written = await countOf(type)
  expect(err).toContain(`${written} records`)
  expect([written % 500, written < 12_000]).toEqual([0, true])
  // Without --resume the records would be there twice, because they have no ids.
  expect(await plinth(['import', type, file], settings)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--resume'),
  })
  expect(await plinth(['import', type, file, '--resume'], settings)).toMatchObject({
    code: 0,
    err: `${12_000 - written} records are written.\n`,
  })
  const { data } = succeed(await world.call('POST', `/v1/crm/records/${type}/aggregate`, AMOUNTS))
  expect(Object.values(data[0])).toEqual([12_000, 12_000])
})
const AMOUNTS = { aggregations: [{ fn: 'count' }, { fn: 'count_distinct', field: 'data.amount' }] }

test('an import whose written lines have changed is not resumed', { tags: 'full' }, async () => {
  const type = await newType()
  const file = at('edited.ndjson')
  const lines = linesOf(600)
  await writeFile(file, [...lines, '{"title": 5}'].join('\n'))
  expect((await plinth(['import', type, file], settings)).code).toBe(1)
  for (const changed of [lines.slice(1), ['{"title":"new"}', ...lines], lines.slice(0, 300)]) {
    await writeFile(file, changed.join('\n'))
    const { code, err } = await plinth(['import', type, file, '--resume'], settings)
    expect([code, err]).toEqual([2, expect.stringContaining('What comes up to line or item 500 is written')])
  }
  await writeFile(`${file}.import`, '{"target":')
  expect((await plinth(['import', type, file, '--resume'], settings)).err).toContain('Delete it')
  expect(await countOf(type)).toBe(500)
})

test('--json prints what was written, and a base that is absent is no advice to make a type', {
  tags: 'full',
}, async () => {
  const type = await newType()
  await writeFile(at('json.ndjson'), '{"title":"a"}\n{"title":"b"}\n')
  const done = await plinth(['import', type, at('json.ndjson'), '--json'], settings)
  expect([done.code, JSON.parse(done.out)]).toEqual([0, { record_type: type, count: 2 }])
  expect(done.err).toBe('')
  const noType = await plinth(['import', 'absent', at('json.ndjson')], settings)
  const noBase = await plinth(['import', type, at('json.ndjson'), '--base', 'absent'], settings)
  expect(noType.err).toContain('pass --create')
  expect(noBase.err).toMatch(/^NOT_FOUND: There is no base "absent"/)
  expect(noBase.err).not.toContain('--create')
})

test('a directory is no file to import, and leaves no note of an import', async () => {
  const { code, out, err } = await plinth(['import', await newType(), folder], settings)
  expect([code, out, err]).toEqual([2, '', expect.stringContaining('cannot be read (EISDIR)')])
  await expect(readFile(`${folder}.import`)).rejects.toThrow('ENOENT')
})

test('a file that is imported again is written again', { tags: 'full' }, async () => {
  const type = await newType()
  const file = at('again.ndjson')
  await writeFile(file, '{"title":"a"}\n')
  for (const count of [1, 2]) {
    expect((await plinth(['import', type, file], settings)).code).toBe(0)
    expect(await countOf(type)).toBe(count)
  }
})

test('a byte order mark, CRLF, quoted line ends and empty lines are read', { tags: 'full' }, async () => {
  const type = await newType()
  const csv = '\ufefftitle,amount,tags\r\n"two\r\nlines, ""quoted""",1,"[""a""]"\r\n\r\n007,2,\r\n'
  await writeFile(at('odd.csv'), csv)
  expect(await plinth(['import', type, at('odd.csv')], settings)).toMatchObject({ code: 0 })
  await writeFile(at('odd.ndjson'), '\ufeff{"title":"x","amount":3}\r\n\r\n{"title":"y","amount":4}')
  expect(await plinth(['import', type, at('odd.ndjson')], settings)).toMatchObject({ code: 0 })
  const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=data.amount`))
  expect(data.map((each: { data: unknown }) => each.data)).toEqual([
    { title: 'two\r\nlines, "quoted"', amount: 1, tags: ['a'] },
    { title: '007', amount: 2 },
    { title: 'x', amount: 3 },
    { title: 'y', amount: 4 },
  ])
})

test('a file that would lose something is refused, and nothing of it is written', {
  tags: 'full',
}, async () => {
  const type = await newType()
  const refused: [string, string | Buffer, string][] = [
    ['twice.csv', 'title,data.title\na,b\n', 'Line 1: The column "data.title" is there twice.'],
    ['nameless.csv', 'title,\na,b\n', 'Line 2: The first row has no name for the column 2.'],
    ['latin.csv', Buffer.from('title\nM\xfcller\n', 'latin1'), 'The text is not UTF-8.'],
    ['latin.ndjson', Buffer.from('{"title":"M\xfcller"}\n', 'latin1'), 'The text is not UTF-8.'],
    ['wide.ndjson', Buffer.from('\ufeff{"title":"a"}\n', 'utf16le'), 'The text is not UTF-8.'],
    ['long.ndjson', `{"title":"${'x'.repeat(9 * 1024 * 1024)}`, 'Line 1: the line is too long.'],
  ]
  for (const [name, content, message] of refused) {
    await writeFile(at(name), content)
    const { code, err } = await plinth(['import', type, at(name)], settings)
    expect([name, code, err]).toEqual([name, 2, expect.stringContaining(message)])
    expect([name, await exists(`${at(name)}.import`)]).toEqual([name, false])
  }
  expect(await countOf(type)).toBe(0)
})

test('rows with the same id are one record, with the content of the last', async () => {
  const type = await newType()
  await writeFile(at('same.csv'), 'id,title\na,1\nb,2\na,3\n')
  expect(await plinth(['import', type, at('same.csv')], settings)).toMatchObject({ code: 0 })
  expect(await countOf(type)).toBe(2)
  expect(succeed(await world.call('GET', `/v1/crm/records/${type}/a`)).data).toEqual({ title: '3' })
})

test('SIGINT ends an export without a part of its file', { tags: 'full' }, async () => {
  const type = await newType()
  await writeFile(at('many.ndjson'), linesOf(20_000).join('\n'))
  expect((await plinth(['import', type, at('many.ndjson')], settings)).code).toBe(0)
  const file = at('left.ndjson')
  const slow = await openProxy(world.url, 0, () => {
    const wait = (chunk: Buffer, _: string, done: (error: null, chunk: Buffer) => void) =>
      void setTimeout(done, 100, null, chunk)
    return new Transform({ transform: wait })
  })
  const begun = () => exists(`${file}.part`)
  const { code, err } = await interrupted(['export', type, '--output', file, '--url', slow.url], begun)
  await slow.close()
  expect([code, err]).toEqual([130, 'INTERRUPTED: No file was written.\n'])
  expect([await exists(file), await exists(`${file}.part`)]).toEqual([false, false])
})

test('an interrupted export leaves no file, and a whole one replaces the file of before', {
  tags: 'full',
}, async () => {
  const type = await newType()
  await writeFile(at('all.ndjson'), linesOf(6000).join('\n'))
  expect((await plinth(['import', type, at('all.ndjson')], settings)).code).toBe(0)
  for (const format of ['ndjson', 'csv']) {
    const file = at(`out.${format}`)
    await writeFile(file, 'before')
    const wrong = await plinth(['export', 'absent', '--output', file], settings)
    expect([wrong.code, await readFile(file, 'utf8'), await exists(`${file}.part`)]).toEqual([
      1,
      'before',
      false,
    ])
    expect(await plinth(['export', type, '--output', file], settings)).toMatchObject({
      code: 0,
      err: `The records are in ${file}.\n`,
    })
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const records = lines.slice(format === 'csv' ? 1 : 0)
    expect([records.length, new Set(records).size]).toEqual([6000, 6000])
    expect(await exists(`${file}.part`)).toBe(false)
  }
})

test('an export as CSV has a column for each property, also for those that the schema does not name', {
  tags: 'full',
}, async () => {
  const type = await newType()
  const data = { title: '=1+1', more: 1, 'data.x': 2, status: '+49 30' }
  succeed(await world.call('PUT', `/v1/crm/records/${type}/r`, { data, external_id: '@x' }), 201)
  const file = at('other.csv')
  expect((await plinth(['export', type, '--output', file], settings)).code).toBe(0)
  const [head, row] = (await readFile(file, 'utf8')).split('\r\n')
  expect(head).toBe(
    'id,external_id,external_source,title,amount,won,tags,data.id,data.data.x,more,data.status',
  )
  expect(row).toBe('r,"""@x""",default,"""=1+1""",,,,,2,1,"""+49 30"""')
  const to = await newType()
  expect((await plinth(['import', to, file], settings)).code).toBe(0)
  const read = succeed(await world.call('GET', `/v1/crm/records/${to}/r`))
  expect([read.external_id, read.data]).toEqual(['@x', { ...data, more: '1', 'data.x': '2' }])
})
