import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

const CLIENT = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url))
let world: World
let settings: Settings
let folder: string

beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  folder = await mkdtemp(join(tmpdir(), 'plinth-types-'))
  const put = async (path: string, body: object) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
  await put('record-types/deal', {
    description: 'A sale */ in progress.',
    json_schema: {
      type: 'object',
      additionalProperties: false,
      required: ['title', 'stage'],
      properties: {
        title: { type: 'string', description: 'What is\nsold.' },
        stage: { enum: ['open', 'won'], default: 'open' },
        amount: { type: ['number', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
        address: { $ref: '#/$defs/address' },
        'odd.key': { type: 'boolean' },
      },
      $defs: { address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    },
  })
  await put('record-types/order-line', { json_schema: {} })
  await put('record-types/order_line', { json_schema: { type: 'object' } })
  await put('relationship-types/line', {
    source_record_types: ['deal'],
    target_record_types: ['order-line'],
    data_schema: { type: 'object', properties: { n: { type: 'integer' } } },
  })
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

/** What TypeScript says about a file. */
function faultsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: [],
    allowImportingTsExtensions: true,
  })
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start, file }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

test('`gen types` writes records, inputs, fields and relationships of a base', async () => {
  const { code, out, err } = await plinth(['gen', 'types'], settings)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(`/** A sale *\\/ in progress. */
export interface Deal {
  /** What is sold. */
  title: string
  stage: "open" | "won"
  amount?: null | number
  tags?: Array<string>
  address?: {
    city: string
  }
  "odd.key"?: boolean
}
`)
  expect(out).toContain('  stage?: "open" | "won"\n')
  expect(out).toContain('  "data.address.city": string\n')
  expect(out).toContain('export type OrderLine = Record<string, unknown>\n')
  expect(out).toContain('export type OrderLine2 = Record<string, unknown>\n')
  expect(out).toContain('      expand: "line"\n')
  expect(out).toContain('      source: "deal"\n      target: "order-line"\n')
})

test('the output is the same at each call, and `--check` fails if the file differs from it', {
  tags: 'full',
}, async () => {
  const out = join(folder, 'crm.ts')
  expect(await plinth(['gen', 'types', '--out', out], settings)).toMatchObject({ code: 0, out: '' })
  const text = await readFile(out, 'utf8')
  expect(await plinth(['gen', 'types', '--out', out, '--check'], settings)).toMatchObject({
    code: 0,
    err: '',
  })
  await writeFile(out, `${text}\n`)
  const outdated = await plinth(['gen', 'types', '--out', out, '--check'], settings)
  expect(outdated).toMatchObject({ code: 1, err: expect.stringContaining('OUTDATED: ') })
  expect(await readFile(out, 'utf8')).toBe(`${text}\n`)
  expect(await plinth(['gen', 'types', '--check'], settings)).toMatchObject({ code: 2 })
})

test('a token generates the types that it may read, and no others', async () => {
  const { token } = await world.newToken([{ record_type: 'deal', permission: 'read' }])
  const { out } = await plinth(['gen', 'types'], { ...settings, PLINTH_TOKEN: token })
  expect(out).toContain('interface Deal ')
  expect(out).not.toMatch(/order|line/i)
})

test('the file and the client compile under strict, and refuse what the schema excludes', {
  tags: 'full',
}, async () => {
  await plinth(['gen', 'types', '--out', join(folder, 'crm.ts')], settings)
  const use = join(folder, 'use.ts')
  await writeFile(
    use,
    `import { createClient } from ${JSON.stringify(CLIENT)}
import type { Crm, DealFilter, DealPatch } from './crm.ts'
const plinth = createClient<Crm>({ url: '', token: '', base: 'crm' })
export async function run() {
  for await (const deal of plinth.records.deal.list({ where: { stage: 'open', amount: { gte: 1 } }, sort: '-data.amount' })) {
    const title: string = deal.data.title
    const city: string | undefined = deal.data.address?.city
    // @ts-expect-error no such property
    deal.data.titel
    seen(title, city)
  }
  for await (const deal of plinth.records.deal.list({ fields: ['id', 'data.title', 'data.amount', 'data.address.city'] })) {
    const parts: [string, string, number | null | undefined] = [deal.id, deal.data.title, deal.data.amount]
    // @ts-expect-error not selected
    deal.version
    // @ts-expect-error not selected
    deal.data.stage
    // @ts-expect-error a part of it is selected
    deal.data.address?.city
    seen(parts)
  }
  for await (const { data } of plinth.records.deal.list({ fields: ['data'] })) seen(data.stage satisfies string)
  for await (const { data } of plinth.records.deal.list({ fields: ['data.amount'] })) seen(data?.amount)
  // @ts-expect-error a record without the property has no data
  for await (const { data } of plinth.records.deal.list({ fields: ['data.amount'] })) seen(data.amount)
  // @ts-expect-error no data is selected
  for await (const { data } of plinth.records.deal.list({ fields: ['id'] })) seen(data)
  const names: ('id' | 'data.title')[] = ['id']
  for await (const deal of plinth.records.deal.list({ fields: names })) {
    // @ts-expect-error it may be selected or not
    deal.id.length
  }
  await plinth.records.deal.create({ title: 'x' })
  await plinth.records['order-line'].create({ anything: 1 })
  await plinth.relationships.put({ rel_type: 'line', source_record_type: 'deal', source_id: 'a', target_record_type: 'order-line', target_id: 'b', data: { n: 1 } })
  // @ts-expect-error not a stage
  await plinth.records.deal.create({ title: 'x', stage: 'lost' })
  // @ts-expect-error not a record type
  await plinth.records.deals.get('x')
  // @ts-expect-error not a property
  plinth.records.deal.list({ where: { stagee: 'open' } })
  // @ts-expect-error not a field
  plinth.records.deal.list({ sort: 'data.nothing' })
  plinth.records.deal.list({ filter: { and: [linked, { field: 'line.data.sku', op: 'eq', value: 'x' }] } })
  plinth.records['order-line'].list({ filter: { some: { rel_type: 'line', direction: 'incoming' } } })
  await plinth.records.deal.aggregate({ aggregations: [{ fn: 'count' }], filter: linked })
  // @ts-expect-error not a field
  plinth.records.deal.list({ filter: { field: 'data.titel', op: 'eq', value: 'x' } })
  // @ts-expect-error not a relationship type of deals
  plinth.records.deal.list({ filter: { field: '~line.data.title', op: 'eq', value: 'x' } })
  // @ts-expect-error not a relationship type
  plinth.records.deal.list({ filter: { none: { rel_type: 'lines' } } })
}
export const linked: DealFilter = { none: { rel_type: 'line', filter: { and: [{ field: 'data.n', op: 'gte', value: 2 }] } } }
// @ts-expect-error not a relationship type
export const unlinked: DealFilter = { field: 'lines.data.n', op: 'eq', value: 1 }
export const filter: DealFilter = { and: [{ field: 'data.amount', op: 'gt', value: 1 }, { field: 'data.tags', op: 'has', value: 'x' }] }
// @ts-expect-error the value is a number
export const wrong: DealFilter = { field: 'data.amount', op: 'gt', value: 'x' }
export const patch: DealPatch = { amount: null, address: { city: 'Bern' } }
declare function seen(...all: unknown[]): void
`,
  )
  expect(faultsOf(use)).toEqual([])
})

test('`gen openapi` writes the description of the base, and finds a file that is out of date', {
  tags: 'full',
}, async () => {
  const out = join(folder, 'crm.json')
  expect(await plinth(['gen', 'openapi', '--out', out], settings)).toMatchObject({ code: 0 })
  const { paths } = JSON.parse(await readFile(out, 'utf8'))
  expect(Object.keys(paths)).toContain('/v1/crm/records/order-line/{id}')
  expect(await plinth(['gen', 'openapi', '--out', out, '--check'], settings)).toMatchObject({ code: 0 })
  await writeFile(out, '{}')
  const checked = await plinth(['gen', 'openapi', '--out', out, '--check'], settings)
  expect(checked).toMatchObject({ code: 1, err: expect.stringContaining('OUTDATED') })
})
