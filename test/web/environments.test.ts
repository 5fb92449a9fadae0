// @module-tag full
/** Previews: what they differ in, and the ways to make, compare, reset and delete one. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

inBrowser('what a preview differs in, whether production can take it, and its comparison', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Environments')
  await visitor.sees('its configuration can be changed directly')
  const row = page.getByRole('row', { name: /csat/ })
  await visitor.sees('2 changes', row)
  await visitor.sees('83 tickets would not fit', row)
  const made = await explorer.server.call('GET', '/v1/desk--csat/changes?kind=base&operation=create')
  await visitor.sees(succeed(made).data[0].actor.name, row)
  await visitor.click('link', 'csat', row)
  const panel = page.getByRole('region', { name: 'csat' })
  await visitor.sees('record type, changed', panel)
  await visitor.click('link', 'Compare', panel)
  await visitor.sees('Change how tickets are stored')
  expect(faults).toEqual([])
  await close()
})

inBrowser('a preview is made, a seed of it is reset, and with its records it is deleted', async () => {
  const { server } = explorer
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/env')
  const visitor = new Visitor(page)
  await visitor.click('button', 'New preview')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('csat')
  await visitor.click('button', 'Make the preview', dialog)
  await visitor.sees('The preview "desk--csat" already exists.', dialog)
  expect(await dialog.textContent()).not.toContain('Somebody else')
  await dialog.getByLabel('Name').fill('trial')
  await dialog.getByLabel('Begins with').selectOption({ label: 'how records are stored, and no records' })
  await visitor.click('button', 'Make the preview', dialog)
  const panel = page.getByRole('region', { name: 'trial' })
  await panel.waitFor()
  const records = [{ record_type: 'article', external_id: 'one', data: { title: 'One' } }]
  succeed(await server.call('PUT', '/v1/desk--trial/seeds/first', { name: 'First', records }), 201)
  await page.reload()
  await visitor.click('button', 'Reset the seed First', panel)
  await visitor.sees('The seed is as it began: 1 record written.')
  const articles = '/v1/desk--trial/records/article'
  expect(succeed(await server.call('GET', articles)).data).toHaveLength(1)
  await visitor.click('button', 'Delete…', panel)
  await visitor.sees('With it go: 1 record.', dialog)
  await visitor.click('button', 'Delete trial', dialog)
  await page.getByRole('row', { name: /trial/ }).waitFor({ state: 'detached' })
  expect((await server.call('GET', '/v1/bases/desk--trial')).status).toBe(404)
  expect(faults).toEqual([])
  await close()
})

inBrowser('a change-set says who made it, and who may only read can look', async () => {
  const agent = explorer.as('triage-agent')
  const { token } = succeed(
    await explorer.server.call('POST', '/v1/tokens', {
      ...{ name: 'reader', kind: 'person' },
      grants: [{ base: 'desk', record_type: '*', environment: '*', permission: 'read' }],
    }),
    201,
  )
  const title = 'Close what waits'
  succeed(await agent('POST', '/v1/desk/preview', { copy: 'on_write', name: 'closes', title }), 201)
  succeed(await agent('PATCH', '/v1/desk--closes/records/ticket/T-1004', { data: { stage: 'solved' } }))
  const { page, faults, close } = await explorer.openWith(token, '/b/desk/env')
  const visitor = new Visitor(page)
  const row = page.getByRole('row', { name: /Close what waits/ })
  for (const words of ['change-set', 'triage-agent', '1 change']) await visitor.sees(words, row)
  await visitor.click('link', title, row)
  await visitor.sees('record, changed', page.getByRole('region', { name: title }))
  await settled(page)
  expect(await page.getByRole('button', { name: /delete|new preview|reset/i }).count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})
