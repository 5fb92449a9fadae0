// @module-tag full
/** What a base does by itself: what fails and why, and the way to send it again. */
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

inBrowser('which webhook failed, what it was told, what set it off, and once more', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.click('link', /^Automation/)
  const row = page.getByRole('row', { name: /VIP channel/ })
  await visitor.sees('When tickets are changed and customer name is Copperfield Bank', row)
  await visitor.sees('21', row)
  await visitor.click('link', 'VIP channel', row)
  const panel = page.getByRole('region', { name: 'VIP channel' })
  await visitor.sees('The receiver answered 422.', panel)
  await panel.getByText('Refund for the double charge in October').first().click()
  await visitor.sees('unknown channel #support-vip', panel)
  await visitor.sees('Set off by', panel)
  await visitor.sees('urgent', panel)
  const sent = () => explorer.receiver.at('/vip').length
  const before = sent()
  await visitor.click('button', 'Send again', panel)
  await expect.poll(sent).toBe(before + 1)
  await visitor.click('button', 'Send all that failed again', panel)
  await expect.poll(sent).toBeGreaterThanOrEqual(before + 21)
  expect(faults).toEqual([])
  await close()
})

inBrowser('what a sender sent, why it was refused, and a switch that the server keeps', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/automation?failed=yes')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Mail in')
  const panel = page.getByRole('region', { name: 'Mail in' })
  await panel.getByText('refused', { exact: true }).click()
  await visitor.sees(/"html":"<p>Hello<\/p>"/, panel)
  await visitor.sees('"body" must be of type string.', panel)
  await visitor.click('button', 'Switch off', panel)
  await visitor.sees('It is switched off.')
  const { enabled } = succeed(await explorer.server.call('GET', '/v1/desk/inbound-webhooks/mail_in'))
  expect(enabled).toBe(false)
  await page.keyboard.press('Escape')
  await visitor.sees('switched off', page.getByRole('row', { name: /Mail in/ }))
  expect(faults).toEqual([])
  await close()
})

inBrowser('what ran, what it was given, and why it was taken back', async () => {
  const step = { name: 'close', type: 'patch_record', record_type: 'ticket', id: '{{input.ticket}}' }
  const action = { name: 'Close a ticket', steps: [{ ...step, data: { stage: 'solved' } }] }
  succeed(await explorer.server.call('PUT', '/v1/desk/actions/close', action), 201)
  const input = { ticket: 'T-9999' }
  await explorer.as('triage-agent')('POST', '/v1/desk/actions/close/run', { input })
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/automation?kind=action')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Close a ticket')
  expect(await page.getByRole('row').count()).toBe(2)
  const panel = page.getByRole('region', { name: 'Close a ticket' })
  await visitor.sees(/There is no record "T-9999"/, panel)
  await panel.getByText('triage-agent').click()
  await visitor.sees(/"ticket": "T-9999"/, panel)
  expect(faults).toEqual([])
  await close()
})

inBrowser('of more triggers and types than one request can count, each has its counts', async () => {
  const { call } = explorer.server
  for (let n = 0; n < 50; n++) {
    succeed(await call('PUT', `/v1/desk/record-types/more${n}`, {}), 201)
    succeed(
      await call('PUT', `/v1/desk/triggers/more${n}`, { url: 'https://more.example', enabled: false }),
      201,
    )
  }
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/automation')
  const visitor = new Visitor(page)
  await visitor.sees(/2[12]/, page.getByRole('row', { name: /VIP channel/ }))
  await visitor.sees('When records are created', page.getByRole('row', { name: /more49/i }))
  await visitor.sees(/\d{3}/, page.getByRole('link', { name: /^Tickets/ }))
  expect(faults).toEqual([])
  await close()
})
