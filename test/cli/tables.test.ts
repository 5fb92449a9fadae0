/** Tables on a terminal, and in a pipe. */
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
const schema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    amount: { type: 'number' },
    stage: { type: 'string' },
    notes: { type: 'string' },
  },
}
beforeAll(async () => {
  world = await openWorld()
  settings = {
    PLINTH_URL: world.url,
    PLINTH_TOKEN: world.adminToken,
    PLINTH_BASE: 'crm',
    PLINTH_DATA_DIR: 'none',
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: schema }), 201)
  succeed(
    await world.call('PUT', '/v1/crm/records/deal/d1', { data: { extra: 1, stage: 'won', amount: 5 } }),
    201,
  )
  const data = { notes: 'n'.repeat(300), title: '日本語の題名', id: 'own' }
  succeed(await world.call('PUT', '/v1/crm/records/deal/d2', { data, external_id: 'e-2' }), 201)
})
afterAll(() => world.close())

const onTerminal = async (columns: number, args: string[], env: Settings = {}) => {
  const { code, out, err } = await plinth(args, { NO_COLOR: '1', ...settings, ...env }, '', { columns })
  expect(code, err).toBe(0)
  return { out, err, lines: out.trimEnd().split('\n') }
}
const widthOf = (line: string) =>
  [...line].reduce((sum, char) => sum + (/[\u3040-\u9fff]/.test(char) ? 2 : 1), 0)
const head = (lines: string[]) => lines[0]?.split(/ {2,}/)

test('the columns of records are the properties in the order of the schema', async () => {
  for (const command of [
    ['record', 'list', 'deal'],
    ['query', 'deal'],
  ]) {
    const { lines } = await onTerminal(400, command)
    const own = ['title', 'amount', 'stage', 'notes', 'data.id', 'extra']
    expect(head(lines)).toEqual(['id', 'external_id', ...own, 'updated_at'])
    expect(lines).toHaveLength(3)
  }
})

test('fields that no record has set are no columns, and a status is one where a record is not active', {
  tags: 'full',
}, async () => {
  const { lines } = await onTerminal(400, ['query', 'deal', '--fields', 'id,data.stage,data.title'])
  expect(head(lines)).toEqual(['id', 'title', 'stage'])
  succeed(await world.call('PUT', '/v1/crm/records/deal/gone', { data: {} }), 201)
  succeed(await world.call('POST', '/v1/crm/records/deal/gone/cancel'))
  expect(head((await onTerminal(400, ['query', 'deal'])).lines)?.slice(0, 3)).toEqual([
    'id',
    'external_id',
    'status',
  ])
  succeed(await world.call('DELETE', '/v1/crm/records/deal/gone'))
})

test('no line is wider than the terminal, and the id is whole', { tags: 'full' }, async () => {
  for (const columns of [24, 40, 60, 80, 137]) {
    const { lines, err } = await onTerminal(columns, ['query', 'deal'])
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
    expect(lines.map((line) => line.slice(0, 2))).toEqual(['id', 'd2', 'd1'])
    if (columns < 60) expect(err).toMatch(/^No room for: .*updated_at\. --json shows all\./)
    else expect([columns, lines.join('')]).toEqual([columns, expect.stringContaining('…')])
  }
})

test('records of several bases have the columns of their properties', async () => {
  const { lines } = await onTerminal(200, ['query-bases', 'deal', '--bases', 'crm'])
  expect(head(lines)).toEqual(expect.arrayContaining(['base_id', 'id', 'title', 'stage']))
})

test('a terminal has colors unless NO_COLOR says otherwise, and a pipe has none', {
  tags: 'full',
}, async () => {
  const colored = await onTerminal(200, ['query', 'deal'], { NO_COLOR: undefined, TERM: 'xterm-256color' })
  const plain = await onTerminal(200, ['query', 'deal'])
  expect(colored.out).toContain('\u001b[1m')
  expect(plain.out).not.toContain('\u001b')
  expect(stripVTControlCharacters(colored.out)).toBe(plain.out)
  const piped = await plinth(['query', 'deal'], { ...settings, FORCE_COLOR: '1' })
  expect(piped.out).not.toContain('\u001b')
  const failed = await plinth(['record', 'get', 'deal', 'absent'], { ...settings, TERM: 'xterm' }, '', {
    columns: 80,
  })
  expect([failed.code, failed.err.slice(0, 20)]).toEqual([1, expect.stringContaining('\u001b[31m')])
})

test('control and invisible characters of data are shown escaped, joiners as they are', async () => {
  const data = { title: 'a\u001b[2Jb\u202ec\u2028d\u200be\u200df', 'x\u001b[31m': 1 }
  succeed(await world.call('PUT', '/v1/crm/records/deal/evil', { data }), 201)
  const { out } = await onTerminal(200, ['query', 'deal'])
  for (const char of ['\u001b', '\u202e', '\u2028', '\u200b']) expect(out).not.toContain(char)
  expect(out).toContain('a\\u001b[2Jb\\u202ec\\u2028d\\u200be\u200df')
  succeed(await world.call('DELETE', '/v1/crm/records/deal/evil'))
})

test('a pipe has tab-separated lines with all fields, as before', async () => {
  const { out } = await plinth(['query', 'deal'], settings)
  const [names, ...rows] = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
  expect(names?.slice(0, 5)).toEqual(['id', 'external_id', 'status', 'version', 'updated_at'])
  expect(names).toEqual(expect.arrayContaining(['data.title', 'data.notes', 'data.id']))
  expect(rows).toHaveLength(2)
  const list = await plinth(['record', 'list', 'deal'], settings)
  expect(list.out.split('\n')[0]).toBe('id\tstatus\tversion\texternal_id\tupdated_at\tdata')
})
