// @module-tag full
/** The views of the chat, in the bridge that hosts use: a person decides, filters, edits and undoes; values are text. */
import { mkdir } from 'node:fs/promises'
import AxeBuilder from '@axe-core/playwright'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import type { Body } from '../support/server.ts'
import { openPublic, type World } from '../support/world.ts'
import { inBrowser } from './explorer.ts'
import { type HostedView, showView } from './view-host.ts'

const EXTENSIONS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
const HURT = 'window.hurt=1'
const HOSTILE = {
  script: `<script>${HURT}</script></script></style>`,
  image: `<img src="https://hostile.invalid/x.png" onerror="${HURT}">`,
  address: `javascript:${HURT}`,
  'right-to-left': 'invoice\u202Efdp.exe',
  approval: 'Accepted. It is done.',
  lone: '{{plinth-page-key}}',
  'one-word': 'W'.repeat(3000),
}
/** Where pictures go, if somebody wants to look at them. */
const PICTURES = process.env['PLINTH_PICTURES']

let world: World
let browser: Browser
let client: Client
beforeAll(async () => {
  if (!CHROMIUM) return
  world = await openPublic()
  const properties = {
    title: { type: 'string' },
    stage: { enum: ['open', 'won', 'lost'] },
    amount: { type: 'number' },
    notes: { type: 'string' },
  }
  succeed(
    await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: { type: 'object', properties } }),
    201,
  )
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/about', {
      source_record_types: ['note'],
      target_record_types: ['deal'],
    }),
    201,
  )
  const operations = times(6, (n) => ({
    type: 'upsert_record',
    record_type: 'deal',
    id: `d${n}`,
    data: { title: `Deal ${n}`, stage: n % 2 ? 'won' : 'open', amount: 1000 * n, notes: 'Called on Monday.' },
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  const links = times(3, (n) => ({
    type: 'upsert_record',
    record_type: 'note',
    id: `n${n}`,
    data: {},
    relationships: [{ rel_type: 'about', record_type: 'deal', id: 'd0' }],
  }))
  succeed(await world.call('POST', '/v1/crm/batch', { operations: links }))
  browser = await openBrowser()
  const tools = 'query_records,get_record,update_record,delete_record,undo,changes,propose,promote,preview'
  client = await connectTo(`/mcp/crm?tools=${tools}`)
})
async function connectTo(path: string, token = world.adminToken): Promise<Client> {
  const made = new Client({ name: 'host', version: '1.0.0' }, { capabilities: { extensions: EXTENSIONS } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const url = new URL(path, world.url)
  await made.connect(new StreamableHTTPClientTransport(url, { requestInit }) as Transport)
  return made
}
afterAll(async () => {
  await client?.close()
  await browser?.close()
  await world?.close()
})

/** Calls a tool as a model does, and shows its answer as a host does. */
async function open(
  name: string,
  args: Body,
  { of = client, ...more }: { theme?: 'dark'; width?: number; of?: Client } = {},
): Promise<HostedView> {
  const server = (tool: string, given: Body): Promise<Body> => of.callTool({ name: tool, arguments: given })
  const { tools } = await of.listTools()
  const ui = tools.find((tool) => tool.name === name)?._meta?.['ui']
  const { resourceUri } = (ui ?? {}) as { resourceUri: string }
  const [content] = (await of.readResource({ uri: resourceUri })).contents
  const result = await server(name, args)
  const shown = await showView(browser, { html: (content as Body).text, args, result, ...more }, server)
  await picture(shown, `${name}-${more.theme ?? 'light'}`)
  return shown
}
async function picture({ page }: HostedView, name: string): Promise<void> {
  if (!PICTURES) return
  await mkdir(PICTURES, { recursive: true })
  await page.screenshot({ path: `${PICTURES}/${name}.png` })
}
const dataOf = async (id: string): Promise<Body> =>
  (await world.call('GET', `/v1/crm/records/deal/${id}`)).body.data
const isThere = async (id: string) => (await world.call('GET', `/v1/crm/records/deal/${id}`)).status === 200
/** Nothing is wider than the view, and nobody needs a mouse or a good eye. */
async function isReadable({ page, view, faults }: HostedView): Promise<void> {
  expect(await view.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  const height = () => Math.ceil(document.documentElement.getBoundingClientRect().height)
  const told = () => page.evaluate(() => (window as unknown as { height: number }).height)
  await expect.poll(told).toBe(await view.evaluate(height))
  const { violations } = await new AxeBuilder({ page }).include('iframe').disableRules(['region']).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
  expect(faults).toEqual([])
}

inBrowser('a deletion is planned by the model, accepted by the person and undone by them', async () => {
  const shown = await open('delete_record', { record_type: 'deal', id: 'd0' })
  const { view, said } = shown
  expect(await view.textContent('h1')).toMatch(/^Deletes 1 record/)
  await isReadable(shown)
  await view.click('button.primary')
  await view.waitForSelector('text=Accepted. It is done.')
  expect(await isThere('d0')).toBe(false)
  expect(said.at(-1)).toMatchObject({ method: 'ui/update-model-context' })
  await view.click('text=Undo')
  await view.waitForSelector('text=/^Undoes/')
  expect(await view.locator('text=Accepted').count()).toBe(0)
  await picture(shown, 'undo-plan')
  await view.click('button.primary')
  await expect.poll(() => isThere('d0')).toBe(true)
  await shown.close()
})

inBrowser('a promotion shows each field, and is declined without effect', async () => {
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'fix', copy: 'on_write' }), 201)
  succeed(
    await world.call('PATCH', '/v1/crm--fix/records/deal/d1', {
      data: { stage: 'lost', ...{ notes: HOSTILE.image } },
    }),
  )
  const shown = await open('promote', { from: 'crm--fix' }, { theme: 'dark' })
  const { view } = shown
  expect(await view.textContent('h1')).toBe('Promotes 1 record from crm--fix to crm.')
  expect(await view.textContent('.change-table')).toMatch(/stage.*won → lost/)
  await isReadable(shown)
  await view.click('text=Decline')
  await view.waitForSelector('text=Declined. Nothing was changed.')
  expect((await dataOf('d1')).stage).toBe('won')
  const again = await open('promote', { from: 'crm--fix' })
  await again.view.click('button.primary')
  await again.view.waitForSelector('text=Accepted. It is done.')
  expect((await dataOf('d1')).stage).toBe('lost')
  await Promise.all([shown.close(), again.close()])
})

inBrowser('a proposal of an agent is sent back with a word, then accepted', async () => {
  const agent = await world.newToken([{ permission: 'write', writes: 'propose' }], { kind: 'agent' })
  const { change_set: from } = succeed(
    await agent.call('PATCH', '/v1/crm/records/deal/d2', { data: { amount: 7 } }),
  )
  const asked = () =>
    agent.call('POST', '/v1/crm/review-requests', { from, title: 'Amounts', note: 'Signed.' })
  succeed(await asked(), 201)
  const shown = await open('propose', { from })
  await isReadable(shown)
  await shown.view.fill('input', 'Which contract?')
  await shown.view.click('text=Send back')
  await shown.view.waitForSelector('text=Sent back.')
  expect((await dataOf('d2')).amount).toBe(2000)
  succeed(await asked(), 201)
  const again = await open('propose', { from })
  await again.view.click('button.primary')
  await again.view.waitForSelector('text=Accepted. It is done.')
  expect((await dataOf('d2')).amount).toBe(7)
  await Promise.all([shown.close(), again.close()])
})

inBrowser('records are a table that filters, with the form of one that refuses to overwrite', async () => {
  const shown = await open('query_records', { record_type: 'deal', sort: 'id' })
  const { view, said } = shown
  expect(await view.locator('tbody tr').count()).toBe(6)
  await isReadable(shown)
  await view.selectOption('select', 'title')
  await view.fill('.filter input', 'deal 3')
  await view.click('text=Filter')
  await expect.poll(() => view.locator('tbody tr').count()).toBe(1)
  await view.click('tbody button')
  expect(await view.textContent('h1')).toBe('Deal 3')
  await picture(shown, 'record-form')
  await view.fill('text=stage >> xpath=../../input', 'lost')
  await view.click('text=Save')
  expect(await view.textContent('[role=status], [role=alert]')).toBe('Saved.')
  await view.waitForSelector('button:disabled:has-text("Save")')
  expect((await dataOf('d3')).stage).toBe('lost')
  await expect.poll(() => said.map(({ method }) => method)).toContain('ui/update-model-context')
  succeed(await world.call('PATCH', '/v1/crm/records/deal/d3', { data: { amount: 1 } }))
  await view.fill('text=stage >> xpath=../../input', 'open')
  await view.click('text=Save')
  await view.waitForSelector('[role=alert]')
  expect((await dataOf('d3')).stage).toBe('lost')
  await shown.close()
})

inBrowser('what happened is listed, and one change of it is taken back', async () => {
  succeed(await world.call('PATCH', '/v1/crm/records/deal/d4', { data: { stage: 'lost' } }))
  const shown = await open('changes', { record_type: 'deal', id: 'd4', order: 'desc', include: 'before' })
  const { view } = shown
  await isReadable(shown)
  await view.click('article >> nth=0 >> text=Undo')
  await view.click('button.primary')
  await expect.poll(async () => (await dataOf('d4')).stage).toBe('open')
  await shown.close()
})

inBrowser('at an endpoint the views call its own tools, and show no button for what it lacks', async () => {
  const put = async (path: string, body: object) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
  const visible = ['data.title', 'data.stage']
  const operations = ['list', 'get', 'update', 'delete', 'history']
  const deals = { record_type: 'deal', operations, fields: visible }
  await put('endpoints/desk', { tools: [deals], batch: { enabled: true }, undo: true })
  await put('endpoints/shelf', { tools: [{ ...deals, operations: ['list', 'history'] }] })
  for (const id of ['e1', 'e2'])
    await put(`records/deal/${id}`, { data: { title: `Desk ${id}`, stage: 'open', notes: 'x' } })
  const of = await connectTo('/mcp/crm/e/desk')
  const filter = { field: 'data.title', op: 'starts_with', value: 'Desk' }
  const shown = await open('list_deal', { filter, sort: 'id' }, { of })
  const { view } = shown
  expect(await view.textContent('h1')).toBe('Deal')
  expect(await view.locator('th').allTextContents()).toEqual(['title', 'stage'])
  await isReadable(shown)
  await view.selectOption('select', 'title')
  await view.fill('.filter input', 'e2')
  await view.click('text=Filter')
  await expect.poll(() => view.locator('tbody tr').count()).toBe(1)
  await view.click('tbody button')
  await view.fill('text=stage >> xpath=../../input', 'won')
  await view.click('text=Save')
  expect(await view.textContent('[role=status], [role=alert]')).toBe('Saved.')
  expect(await dataOf('e2')).toEqual({ title: 'Desk e2', stage: 'won', notes: 'x' })
  const past = await open('history_deal', { id: 'e2' }, { of, theme: 'dark' })
  await isReadable(past)
  // What was there before is not in a history, so nothing is said of it.
  expect(await past.view.textContent('article >> nth=0 >> .change-table')).toMatch(/^stage\s*→\s*won$/)
  await past.view.click('article >> nth=0 >> text=Undo')
  await past.view.click('button.primary')
  await expect.poll(async () => (await dataOf('e2')).stage).toBe('open')
  const ids = ['e1', 'e2'].map((id) => ({ type: 'delete_record', record_type: 'deal', id }))
  const plan = await open('batch', { operations: ids }, { of })
  expect(await plan.view.textContent('h1')).toBe('Deletes 2 records (2 deal).')
  await isReadable(plan)
  await plan.view.click('button.primary')
  await plan.view.waitForSelector('text=Accepted. It is done.')
  expect(await isThere('e1')).toBe(false)
  await plan.view.click('text=Undo')
  await plan.view.click('button.primary')
  await expect.poll(() => isThere('e1')).toBe(true)
  await of.close()
  const reading = await connectTo('/mcp/crm/e/shelf')
  const bare = await open('list_deal', { filter, limit: 1 }, { of: reading, theme: 'dark' })
  await isReadable(bare)
  expect([
    await bare.view.locator('text=Save').count(),
    await bare.view.locator('input[readonly]').count(),
  ]).toEqual([0, 2])
  const history = await open('history_deal', { id: 'e1' }, { of: reading })
  expect(await history.view.locator('text=Undo').count()).toBe(0)
  await reading.close()
  await Promise.all([shown, past, plan, bare, history].map(({ close }) => close()))
})

inBrowser(
  'at an endpoint a proposal is shown as far as the endpoint shows it, and decided elsewhere',
  async () => {
    const deals = { record_type: 'deal', operations: ['get', 'update'], fields: ['data.title', 'data.stage'] }
    succeed(await world.call('PUT', '/v1/crm/endpoints/counter', { tools: [deals] }), 201)
    const agent = await world.newToken([{ permission: 'write', writes: 'propose' }], { kind: 'agent' })
    succeed(await agent.call('PATCH', '/v1/crm/records/deal/d5', { data: { title: 'Five', notes: 'y' } }))
    const of = await connectTo('/mcp/crm/e/counter', agent.token)
    const shown = await open('proposal', {}, { of })
    await isReadable(shown)
    expect(await shown.view.textContent('.change-table')).toMatch(/^title.*Deal 5 → Five$/)
    expect(await shown.view.locator('button').allTextContents()).toEqual(['Open the explorer'])
    await Promise.all([of.close(), shown.close()])
  },
)

inBrowser('values are text in every view, whatever they look like', async () => {
  succeed(await world.call('PUT', '/v1/crm/record-types/hostile', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/hostile/h1', { data: HOSTILE }), 201)
  succeed(
    await world.call('PUT', '/v1/crm/records/hostile/h2', { data: { ...HOSTILE, script: HOSTILE.image } }),
    201,
  )
  succeed(
    await world.call('POST', '/v1/crm/preview', { name: 'evil', copy: 'on_write', title: HOSTILE.script }),
    201,
  )
  succeed(await world.call('PUT', '/v1/crm--evil/records/hostile/h3', { data: HOSTILE }), 201)
  for (const [name, args] of [
    ['query_records', { record_type: 'hostile' }],
    ['get_record', { record_type: 'hostile', id: 'h1' }],
    ['changes', { record_type: 'hostile', order: 'desc' }],
    ['promote', { from: 'crm--evil' }],
    ['propose', { from: 'crm--evil' }],
  ] as const) {
    const { view, faults, page, close } = await open(name, args)
    expect([name, await view.evaluate(() => 'hurt' in window)]).toEqual([name, false])
    expect([name, await page.evaluate(() => 'hurt' in window)]).toEqual([name, false])
    expect([name, await view.locator('img, a, iframe, #view script, #view style').count()]).toEqual([name, 0])
    expect([
      name,
      await view.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
    ]).toEqual([name, true])
    expect([name, faults]).toEqual([name, []])
    await close()
  }
})
