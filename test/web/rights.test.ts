// @module-tag full
/** What the pages show to whom, and what happens to them when the right ends. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, OTHER_PAGES, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const newToken = async (name: string, grants: object[]) =>
  succeed(await explorer.server.call('POST', '/v1/tokens', { name, grants }), 201) as {
    id: string
    token: string
  }
const onDesk = (permission: string) => ({ base: 'desk', record_type: '*', environment: '*', permission })

inBrowser('a token that is pasted is exchanged, and never kept', async () => {
  const { token } = await newToken('pasted', [onDesk('read')])
  const page = await explorer.browser.newPage()
  await page.goto(`${explorer.server.url}/b/desk`)
  const visitor = new Visitor(page)
  await page.getByLabel('API token').fill('plt_wrong')
  await visitor.click('button', 'Sign in')
  await visitor.sees(/token/i, page.getByRole('status'))
  await page.getByLabel('API token').fill(` ${token}\n`)
  await visitor.click('button', 'Sign in')
  await visitor.sees('Tickets')
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]),
  )
  expect(kept).toMatch(/plt_/)
  expect(kept).not.toContain(token)
  await page.close()
})

inBrowser('a sign-out ends all tabs, and a new tab is signed in by those that are open', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.sees('Tickets')
  const second = await page.context().newPage()
  await second.goto(`${explorer.server.url}/b/desk`)
  await new Visitor(second).sees('Tickets')
  await visitor.click('button', /Mara Lindqvist/)
  await visitor.click('menuitem', 'Sign out')
  for (const each of [page, second]) await each.getByLabel('API token').waitFor()
  await second.reload()
  await second.getByLabel('API token').waitFor()
  await close()
})

inBrowser('a page of another server of the machine reads nothing and frames nothing', async () => {
  const { url } = explorer.server
  const other = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<iframe src="${url}/b/desk"></iframe>`)
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const page = await explorer.browser.newPage()
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
  await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
  for (const path of ['/', '/b/desk', '/v1/bases', '/v1/tokens/self']) {
    const read = page.evaluate((address) => fetch(address).then((answer) => answer.text()), url + path)
    await expect(read, path).rejects.toThrow(/Failed to fetch/)
  }
  await page.close()
  await new Promise((resolve) => other.close(resolve))
})

const READING = [
  '',
  '/t/ticket',
  '/t/ticket/T-1004',
  '/t/ticket/T-1004?edit=yes',
  '/review',
  '/agents',
  '/agents/e/reply',
  ...Object.values(OTHER_PAGES),
]

inBrowser('a token that only reads has no button that would fail', async () => {
  const { token } = await newToken('reader', [onDesk('read')])
  const { data } = succeed(await explorer.server.call('GET', '/v1/desk/changes?group=request&limit=1'))
  for (const path of [...READING, `/r/${data[0].request_id}`]) {
    const { page, faults, close } = await explorer.openWith(token, `/b/desk${path}`)
    await new Visitor(page).sees('Tickets')
    await settled(page)
    const writing = page.getByRole('button', {
      name: /^(undo|edit|delete|release|promote|decline|send|new|revoke|set |save)/i,
    })
    const able = await writing.evaluateAll((buttons) =>
      buttons
        // A button that stays pressed narrows what is shown.
        .filter(
          (each) =>
            each.checkVisibility() && !each.matches(':disabled, [aria-disabled=true], [aria-pressed]'),
        )
        .map((each) => each.textContent),
    )
    expect(able, path).toEqual([])
    expect(faults).toEqual([])
    await close()
  }
})

inBrowser('a token that may not read a record type sees nothing of it on any page', async () => {
  const { token } = await newToken('of customers', [{ ...onDesk('write'), record_type: 'customer' }])
  const { data } = succeed(
    await explorer.server.call('GET', '/v1/desk/changes?group=request&record_type=ticket&limit=1'),
  )
  const customer = succeed(await explorer.server.call('GET', '/v1/desk/records/customer?limit=1')).data[0]
  const paths = [
    ...READING,
    `/r/${data[0].request_id}`,
    `/t/customer/${customer.id}?tab=links`,
    '/t/customer',
  ]
  const { page, faults, close } = await explorer.openWith(token, '/b/desk/t/customer')
  await new Visitor(page).sees(customer.data.name)
  let refusals = 0
  page.on('response', (response) => {
    if (response.status() === 403) refusals++
  })
  for (const path of paths) {
    refusals = 0
    await page.goto(`${explorer.server.url}/b/desk${path}`)
    await settled(page)
    const shown = await page.locator('body').textContent()
    for (const secret of [
      /Refund for the double charge/,
      /Charts do not load/,
      /\b477\b/,
      /\b86\b/,
      /VIP channel/,
    ])
      expect.soft(shown, `${path} ${secret}`).not.toMatch(secret)
    expect.soft(refusals, `${path} does not ask again what is refused`).toBeLessThan(10)
    expect.soft(faults.splice(0), path).toEqual([])
  }
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Refund')
  await settled(page)
  await new Visitor(page).sees('Nothing found.', page.getByRole('dialog'))
  await close()
})

inBrowser('the side bar, the jump and the keys have the pages that the token can open', async () => {
  const ofType = await newToken('of customers', [{ ...onDesk('admin'), record_type: 'customer' }])
  const reached = { base: 'desk', endpoint: 'reply', environment: '*', permission: 'write' }
  const ofEndpoint = await newToken('of an endpoint', [reached])
  for (const [{ token }, pages] of [
    [ofType, ['Activity', 'Agents', 'Environments', 'Types', 'Ask', 'GraphQL']],
    [ofEndpoint, ['Agents', 'GraphQL']],
  ] as const) {
    const { page, close } = await explorer.openWith(token, '/b/desk/agents')
    await settled(page)
    expect(await page.locator('.side-pages a').allTextContents()).toEqual(pages)
    await page.keyboard.press('g')
    await page.keyboard.press('v')
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Agents' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/b/desk/agents')
    expect(await page.getByRole('option', { name: 'Review' }).count()).toBe(0)
    await close()
  }
})

inBrowser('a long name of a base takes one line, and is whole in its title', async () => {
  const name = `Support and customer operations of the northern region ${'x'.repeat(60)}`
  succeed(await explorer.server.call('PUT', '/v1/bases/long', { name }), 201)
  const { token } = await newToken('of long', [{ ...onDesk('admin'), base: 'long' }])
  const { page, close } = await explorer.openWith(token, '/b/long')
  await settled(page)
  const lines = page.getByTitle(name)
  expect((await lines.boundingBox())?.height).toBeLessThan(50)
  expect(await lines.locator('strong').textContent()).toBe(name)
  await close()
})

inBrowser('a token of another base sees neither the name nor the number of what is in this one', async () => {
  succeed(await explorer.server.call('PUT', '/v1/bases/other', { name: 'Other place' }), 201)
  const grant = { base: 'other', record_type: '*', environment: '*', permission: 'admin' }
  const { token } = await newToken('elsewhere', [grant])
  const { page, close } = await explorer.openWith(token, '/')
  await page.waitForURL(/\/b\/other$/)
  for (const path of READING) {
    await page.goto(`${explorer.server.url}/b/desk${path}`)
    await settled(page)
    // Ids of requests and durations are numbers of their own.
    const text = (await page.locator('body').textContent()) ?? ''
    const shown = text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+ ms/g, '')
    for (const secret of ['Support desk', 'Tickets', '477', 'Mara Lindqvist', 'reply-agent', 'Refund for'])
      expect.soft(shown, path).not.toContain(secret)
  }
  await close()
})

inBrowser('who proposes something cannot accept it', async () => {
  const { page, faults, close } = await explorer.open('schema-agent', '/review')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Review', page.getByRole('main'))
  await visitor.sees('This is your own proposal. Somebody else decides.')
  await visitor.sees('“low”')
  const deciding = page.getByRole('button', {
    name: /^(promote|accept|send back|decline|set them|roll back)/i,
  })
  expect(await deciding.count()).toBe(0)
  await page.keyboard.press('Control+Enter')
  await settled(page)
  expect(succeed(await explorer.server.call('GET', '/v1/desk/promotions')).data).toEqual([])
  expect(faults).toEqual([])
  await close()
})
