// @module-tag full
/** Files: folders, what a text says, what changed between its versions, and the ways to store, restore and delete. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const REFUNDS = '/v1/desk/files/doc/policies/refunds.md'

inBrowser('a policy is found, what changed in it is seen, and a former version comes back', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Files')
  await visitor.click('link', 'policies/')
  await visitor.click('link', 'refunds.md')
  const panel = page.getByRole('region', { name: 'refunds.md' })
  await visitor.sees('Up to 500 € an agent may propose a refund.', panel)
  await visitor.sees('-Up to 300 € an agent may propose a refund. A person approves it.', panel)
  await visitor.sees('+Never promise a date.', panel)
  await visitor.click('button', 'v1', panel)
  await visitor.click('button', 'As it was in version 1', panel)
  await visitor.sees('It is as in version 1 again.')
  const { version } = succeed(await explorer.server.call('GET', `${REFUNDS}?meta=1`))
  expect(version).toBe(3)
  expect((await explorer.server.call('GET', REFUNDS)).text).toContain('Up to 300 €')
  expect(faults).toEqual([])
  await close()
})

inBrowser('a search shows where the words are, and a dropped file is stored in the folder', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/files/doc?in=policies/')
  const visitor = new Visitor(page)
  const content = {
    name: 'holidays.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('We rest in August.\n'),
  }
  await page.getByLabel('Upload', { exact: true }).setInputFiles(content)
  await visitor.sees('“holidays.txt” is stored.')
  const search = page.getByRole('searchbox', { name: 'Search paths and texts, Enter' })
  await search.fill('august')
  await search.press('Enter')
  await visitor.sees('We rest in August.', page.getByRole('table'))
  await visitor.click('link', /holidays/)
  const panel = page.getByRole('region', { name: 'holidays.txt' })
  const saving = page.waitForEvent('download')
  await visitor.click('button', 'Download', panel)
  expect((await saving).suggestedFilename()).toBe('holidays.txt')
  await visitor.click('button', 'Delete…', panel)
  await visitor.click('button', 'Delete the file', page.getByRole('dialog'))
  await visitor.sees('No file has these words.')
  expect((await explorer.server.call('GET', '/v1/desk/files/doc/policies/holidays.txt')).status).toBe(404)
  expect(faults).toEqual([])
  await close()
})

inBrowser('the files become a folder of a machine by a command that holds a key', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/files/doc')
  const visitor = new Visitor(page)
  await visitor.click('button', 'As a folder…')
  await visitor.click('button', 'To read', page.getByRole('dialog'))
  await visitor.sees(/rclone mount/, page.getByRole('dialog'))
  expect(succeed(await explorer.server.call('GET', '/v1/desk/s3-credentials')).data).toHaveLength(1)
  expect(faults).toEqual([])
  await close()
})
