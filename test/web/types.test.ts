// @module-tag full
/** Record types: what they hold, what works with them, who changed them, and changes that are tried before they count. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const typeOf = async (id: string) =>
  succeed(await explorer.as('Mara Lindqvist')('GET', `/v1/desk/record-types/${id}`))

inBrowser('a type says what its fields hold, what it is linked with, and what works with it', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Types')
  await visitor.sees('477', page.getByRole('row', { name: /Tickets/ }))
  await visitor.click('link', 'Tickets', page.getByRole('main'))
  const panel = page.getByRole('region', { name: 'Tickets' })
  for (const words of ['text, up to 200 characters', 'waiting', 'required · quick to find'])
    await visitor.sees(words, panel)
  await visitor.sees('each has at most one customer', panel)
  await visitor.sees('any number of messages for each', panel)
  await visitor.click('link', 'VIP channel', panel)
  await page.waitForURL(/automation\/trigger\/vip/)
  expect(faults).toEqual([])
  await close()
})

inBrowser('a change that records do not fit names them, and cannot be made', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/types/ticket')
  const visitor = new Visitor(page)
  await visitor.click('button', 'Edit priority')
  const dialog = page.getByRole('dialog')
  const act = dialog.getByRole('button', { name: 'Save' })
  expect(await act.isEnabled()).toBe(false)
  await dialog.getByLabel('the words').fill('low\nnormal\nhigh')
  await visitor.sees('5 records would not be valid.', dialog)
  expect(await act.isEnabled()).toBe(false)
  await dialog.getByLabel('the words').fill('low\nnormal\nhigh\nurgent\nlast')
  await visitor.sees('All records fit.', dialog)
  await close()
  expect(faults).toEqual([])
})

inBrowser('a field is added for all records, renamed, and taken away; its history says who', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/types/ticket')
  const visitor = new Visitor(page)
  const dialog = page.getByRole('dialog')
  const { version } = await typeOf('ticket')
  await visitor.click('button', 'New field')
  await dialog.getByLabel('name').fill('Seen by')
  await dialog.getByLabel('what it holds').selectOption({ label: 'yes or no' })
  await dialog.getByLabel('each has it').selectOption({ label: 'yes' })
  await visitor.sees('477 records would not be valid.', dialog)
  await dialog.getByLabel('where records have none').selectOption({ label: 'no' })
  await visitor.sees('All fit; 477 records would be written anew.', dialog)
  await visitor.click('button', 'Add the field', dialog)
  await visitor.sees(`Saved as version ${version + 1} of the type.`)
  const made = await typeOf('ticket')
  expect(made.json_schema.properties.seen_by).toEqual({ type: 'boolean' })
  expect(made.json_schema.required).toContain('seen_by')

  await visitor.click('button', 'Edit seen by')
  await dialog.getByLabel('name').fill('read')
  await visitor.click('button', 'Save', dialog)
  await visitor.sees(`Saved as version ${version + 2} of the type.`)
  expect(Object.keys((await typeOf('ticket')).json_schema.properties)).toContain('read')

  await visitor.click('button', 'Edit read')
  await visitor.click('button', 'Take it away', dialog)
  await visitor.click('button', 'Take read away', dialog)
  await visitor.sees(`Saved as version ${version + 3} of the type.`)
  expect(Object.keys((await typeOf('ticket')).json_schema.properties)).not.toContain('read')
  const last = page.getByRole('listitem').filter({ hasText: 'Mara Lindqvist' }).first()
  await visitor.sees('yes or no', last)
  expect(faults).toEqual([])
  await close()
})

inBrowser('a type is made, and one that was changed meanwhile is not written over', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/types')
  const visitor = new Visitor(page)
  const dialog = page.getByRole('dialog')
  await visitor.click('button', 'New type')
  await dialog.getByLabel('name').fill('Ticket')
  await visitor.sees('There is one of this name already.', dialog)
  await dialog.getByLabel('name').fill('Anträge ☃ 注')
  await visitor.click('button', 'Make the type', dialog)
  await expect.poll(async () => (await typeOf('antrage__6ce8')).name).toBe('Anträge ☃ 注')
  await visitor.click('button', 'New type')
  await dialog.getByLabel('name').fill('Call back')
  await visitor.click('button', 'Make the type', dialog)
  const panel = page.getByRole('region', { name: 'Call backs' })
  await panel.waitFor()
  expect((await typeOf('call_back')).json_schema.required).toEqual(['title'])
  await visitor.click('button', 'Edit…', panel)
  await dialog.getByLabel('description').fill('Whom to call.')
  await visitor.sees('All records fit.', dialog)
  await page.route('**/record-types?*', (route) => route.abort())
  succeed(await explorer.server.call('PATCH', '/v1/desk/record-types/call_back', { icon: 'phone' }))
  await visitor.click('button', 'Save', dialog)
  await visitor.sees(/version/i, dialog.getByRole('alert'))
  expect((await typeOf('call_back')).description).toBe(null)
  // The browser logs the reads that are kept from it.
  expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([])
  await close()
})

inBrowser(
  'a type is deleted after what goes with it was said, and is brought back from Activity',
  async () => {
    const { server } = explorer
    succeed(
      await server.call('PUT', '/v1/desk/record-types/parcel', { json_schema: { type: 'object' } }),
      201,
    )
    succeed(await server.call('PUT', '/v1/desk/records/parcel/p1', { data: {} }), 201)
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/types/parcel')
    const visitor = new Visitor(page)
    const dialog = page.getByRole('dialog')
    await visitor.click('button', 'Delete…')
    await visitor.sees('With it go: 1 record.', dialog)
    await visitor.click('button', 'Cancel', dialog)
    expect((await server.call('GET', '/v1/desk/records/parcel/p1')).status).toBe(200)
    await visitor.click('button', 'Delete…')
    await visitor.click('button', 'Delete Parcels', dialog)
    await visitor.sees('The type Parcels is deleted.')
    expect(new URL(page.url()).pathname).toBe('/b/desk/types')
    expect((await server.call('GET', '/v1/desk/records/parcel/p1')).status).toBe(404)
    await page.goto(`${server.url}/b/desk?who=Mara%20Lindqvist`)
    await visitor.click('button', 'Undo')
    await visitor.click('button', /^Undo/, dialog)
    await expect
      .poll(async () => (await server.call('GET', '/v1/desk/records/parcel/p1')).status, { timeout: 10_000 })
      .toBe(200)
    expect(faults).toEqual([])
    await close()
  },
)

inBrowser('who may not change types, and a protected production, show no way to', async () => {
  const grants = [{ base: 'desk', record_type: '*', environment: '*', permission: 'write' }]
  const { token } = succeed(
    await explorer.server.call('POST', '/v1/tokens', { name: 'writer', kind: 'person', grants }),
    201,
  )
  const ways = /^(Edit|Delete|New (type|field))/
  const first = await explorer.openWith(token, '/b/desk/types/ticket')
  await settled(first.page)
  expect(await first.page.getByRole('button', { name: ways }).count()).toBe(0)
  expect(first.faults).toEqual([])
  await first.close()
  const settings = { schema_changes: 'preview_only' }
  succeed(await explorer.server.call('PUT', '/v1/bases/desk', { name: 'Desk', settings }))
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/types/ticket')
  await new Visitor(page).sees('They are changed by previews only')
  await settled(page)
  expect(await page.getByRole('button', { name: ways }).count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})
