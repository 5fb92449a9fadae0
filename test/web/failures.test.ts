// @module-tag full
/** What the pages say when something is refused or gone, and that nothing is lost or shown to the wrong one by it. */
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, OTHER_PAGES, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const grantsOn = (permission: string, record_type = '*') => [
  { base: 'desk', record_type, environment: '*', permission },
]
const newToken = async (name: string, grants: object[]) =>
  succeed(await explorer.server.call('POST', '/v1/tokens', { name, kind: 'person', grants }), 201) as {
    id: string
    token: string
  }

const PAGES: Record<string, string> = {
  activity: '',
  'a request': '/r/none',
  records: '/t/ticket',
  'deleted records': '/t/ticket?view=deleted',
  'a record': '/t/ticket/T-1004',
  review: '/review',
  agents: '/agents',
}
/** Who asks nothing yet, or only what the frame asks too, is refused nothing. */
const { ask: _, types: __, ...READING } = OTHER_PAGES
/** What a person reads for each refusal; 0 is no answer. */
const REFUSALS: Record<number, string> = {
  0: 'The server does not answer.',
  403: 'You have no right to see or do this.',
  409: 'Somebody else changed this.',
  429: 'Too many requests. Try again in 7 seconds.',
  500: 'The server failed.',
}
const FRAME = /\/v1\/(bases|tokens\/self|desk\/record-types|desk\/changes\/stream)|\/graphql$/

const refuse = (status: number) => (route: Route) =>
  FRAME.test(new URL(route.request().url()).pathname) ? route.continue() : refuseWhole(status)(route)

const refuseWhole = (status: number) => (route: Route) => {
  if (status === 0) return route.abort()
  const error = { code: 'REFUSED', message: 'These are the words of the server.', request_id: 'req-4711' }
  return route.fulfill({ status, headers: { 'retry-after': '7' }, json: { error } })
}

/** The words of a refusal are the same on all pages, so some refusals are enough for the others. */
const CASES = Object.entries(REFUSALS).flatMap(([status, said]) => [
  { status: Number(status), said, which: 'each page', pages: PAGES },
  ...(['0', '403'].includes(status)
    ? [{ status: Number(status), said, which: 'each other page', pages: READING }]
    : []),
])
for (const { status, said, which, pages } of CASES)
  inBrowser(`${which} says so when it gets ${status === 0 ? 'no answer' : status}`, async () => {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', '/none')
    await page.route(/\/(v1|graphql)/, refuse(status))
    for (const [name, path] of Object.entries(pages)) {
      // Who may not see the tokens of others sees the own one.
      if (name === 'agents' && status === 403) continue
      await page.goto(`${explorer.server.url}/b/desk${path}`)
      const alert = page.getByRole('main').getByRole('alert').first()
      await alert.waitFor()
      expect.soft(await alert.textContent(), name).toContain(said)
      if (status !== 0) {
        expect.soft(await alert.textContent(), name).toContain('These are the words of the server.')
        expect.soft(await alert.textContent(), name).toContain('req-4711')
      }
    }
    expect(faults.filter((fault) => !/ERR_FAILED/.test(fault))).toEqual([])
    await close()
  })

inBrowser('a page that got no answer shows its records after another try', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/none')
  await page.route(/\/v1\//, refuse(500))
  await page.goto(`${explorer.server.url}/b/desk/agents`)
  const visitor = new Visitor(page)
  await visitor.sees('The server failed.')
  await page.unroute(/\/v1\//)
  await visitor.click('button', 'Try again')
  await visitor.sees('reply-agent')
  await close()
})

inBrowser('who loads the page while the server is away is signed in when it is back', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/agents')
  const visitor = new Visitor(page)
  await visitor.sees('reply-agent')
  for (const refused of [0, 500]) {
    await page.route('**/v1/tokens/self', refuseWhole(refused))
    await page.reload()
    await visitor.sees(refused === 0 ? 'The server does not answer.' : 'These are the words of the server.')
    await page.unroute('**/v1/tokens/self')
    if (refused !== 0) await page.reload()
    await visitor.sees('reply-agent')
  }
  await close()
})

/** Types into the field of a ticket, and ends the token of the tab meanwhile. */
async function editAndEnd(page: Page, id: string): Promise<Visitor> {
  const visitor = new Visitor(page)
  await page.getByLabel('customer name').fill('Typed before')
  succeed(await explorer.server.call('DELETE', `/v1/tokens/${id}`))
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.waitFor()
  // It stays, since there is no other way to what was typed.
  await page.keyboard.press('Escape')
  await again.waitFor()
  return visitor
}

inBrowser('a token that ends while one edits asks again, and what was typed stays', async () => {
  const first = await newToken('Nina Falk', grantsOn('write'))
  const second = await newToken('Nina Falk', grantsOn('write'))
  const { page, close } = await explorer.openWith(first.token, '/b/desk/t/ticket/T-1300?edit=yes')
  const visitor = await editAndEnd(page, first.id)
  await page.getByLabel('API token').fill(second.token)
  await visitor.click('button', 'Sign in')
  await visitor.click('button', /^Save 1 field/)
  await visitor.sees(/^Saved as version/)
  await visitor.sees('Typed before')
  await expect.poll(() => page.getByText('live', { exact: true }).count()).toBe(1)
  await close()
})

inBrowser('another person who signs in then sees nothing of what the one before read', async () => {
  const first = await newToken('Otto Brandt', grantsOn('write'))
  const second = await newToken('Pia Sommer', grantsOn('read', 'customer'))
  const { page, close } = await explorer.openWith(first.token, '/b/desk/t/ticket/T-1301?edit=yes')
  const subject = await page.getByLabel('subject').inputValue()
  const visitor = await editAndEnd(page, first.id)
  await page.getByLabel('API token').fill(second.token)
  await visitor.click('button', 'Sign in')
  await visitor.sees('Pia Sommer')
  await settled(page)
  const shown = `${await page.content()} ${await page.locator('input').evaluateAll(valuesOf)}`
  for (const secret of [subject, 'Typed before', 'Otto Brandt']) expect(shown).not.toContain(secret)
  await close()
})
const valuesOf = (inputs: Element[]) => inputs.map((each) => (each as HTMLInputElement).value).join(' ')

inBrowser('a stream that is cut says so, and is taken up where it ended', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.sees('live')
  const STREAM = /\/changes\/stream/
  await page.route(STREAM, (route) => route.abort())
  // The stream that is open ends with the visibility of the tab, the next one is refused.
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await expect.poll(() => page.getByText('paused', { exact: true }).count(), { timeout: 10_000 }).toBe(1)
  const title = 'Made while nobody looked'
  succeed(await explorer.as('Jonas Weber')('POST', '/v1/desk/records/article', { data: { title } }), 201)
  await page.unroute(STREAM)
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await visitor.sees('live')
  await visitor.sees(title)
  await close()
})

inBrowser('a page whose files are gone after an upgrade is loaded again, once', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  await settled(page)
  let loads = 0
  page.on('load', () => loads++)
  const PAGE = /\/assets\/page-.*\.js/
  const gone = (route: Route) => route.fulfill({ status: 404, body: '' })
  // Gone until the page is loaded again: it asks twice, to preload and to import.
  let isNew = false
  page.on('request', (request) => {
    isNew ||= request.isNavigationRequest()
  })
  await page.route(PAGE, (route) => (isNew ? route.continue() : gone(route)))
  const visitor = new Visitor(page)
  await visitor.click('link', 'Agents')
  await visitor.sees('Who works here')
  expect(loads).toBe(1)
  await page.unroute(PAGE)
  await page.route(PAGE, gone)
  await visitor.click('link', /^Review/)
  await visitor.sees('This page failed. Your data is as it was.')
  expect(loads).toBe(1)
  await close()
})

inBrowser('a page that is open while the server is away is not lost', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  await settled(page)
  await page.route(/./, (route) => route.abort())
  const visitor = new Visitor(page)
  await visitor.click('link', 'Agents')
  await visitor.sees('This page failed. Your data is as it was.')
  await page.unroute(/./)
  await visitor.sees('Who works here')
  await close()
})

inBrowser('what got no answer is read when there is a server again', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/none')
  const API = /\/(v1|graphql|healthz)/
  await page.route(API, (route) => route.fulfill({ status: 503, json: {} }))
  await page.reload()
  const visitor = new Visitor(page)
  await page.getByLabel('API token').waitFor()
  await page.unroute(API)
  await visitor.sees('There is no such page.')
  await page.route(API, (route) => route.abort())
  await visitor.click('link', 'Agents')
  await visitor.sees('The server does not answer.', page.getByRole('main'))
  await page.unroute(API)
  await visitor.sees('reply-agent')
  await close()
})

inBrowser('what a person typed stays where the record cannot be read again', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/t/ticket/T-1302?edit=yes')
  await settled(page)
  await page.getByLabel('customer name').fill('Typed before')
  let reads = 0
  await page.route(/\/records\/ticket\/T-1302\?include/, (route) => {
    reads++
    return refuseWhole(503)(route)
  })
  const data = { subject: 'Changed meanwhile' }
  succeed(await explorer.as('Jonas Weber')('PATCH', '/v1/desk/records/ticket/T-1302', { data }))
  await expect.poll(() => reads, { timeout: 15_000 }).toBeGreaterThanOrEqual(3)
  await settled(page)
  expect(await page.getByLabel('customer name').inputValue()).toBe('Typed before')
  await close()
})

inBrowser('what a person typed stays where somebody deletes the record', async () => {
  const path = '/records/article/typed'
  succeed(await explorer.as('Jonas Weber')('PUT', `/v1/desk${path}`, { data: { title: 'New' } }), 201)
  const { page, close } = await explorer.open('Mara Lindqvist', '/t/article/typed?edit=yes')
  await settled(page)
  await page.getByLabel('title').fill('Typed before')
  succeed(await explorer.server.call('DELETE', `/v1/desk${path}`))
  const visitor = new Visitor(page)
  await visitor.sees('There is no such record, or it was deleted.')
  expect(await page.getByLabel('title').inputValue()).toBe('Typed before')
  await visitor.click('button', 'Cancel')
  await visitor.click('link', 'Deleted articles')
  await close()
})

inBrowser('the times of a page are those of the server, whatever the clock of the browser says', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  await page.addInitScript(() => {
    const AHEAD_MS = 5 * 3_600_000
    const { now } = Date
    Date.now = () => now() + AHEAD_MS
  })
  await page.goto(`${explorer.server.url}/b/desk/t/ticket/T-1004`)
  const visitor = new Visitor(page)
  await visitor.sees(/\d min left/)
  await page.goto(`${explorer.server.url}/b/desk`)
  const undo = page.waitForRequest(/dry_run=true/)
  await visitor.click('button', /^reply-agent$/, page.getByRole('main'))
  await visitor.click('menuitem', /last hour/)
  const since = Date.parse((await undo).postDataJSON().since)
  expect(Math.abs(Date.now() - 3_600_000 - since)).toBeLessThan(90_000)
  await close()
})

inBrowser('a write without a network fails at once, and is not done later', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/t/ticket/T-1303?edit=yes')
  await settled(page)
  const visitor = new Visitor(page)
  await page.context().setOffline(true)
  await page.getByLabel('customer name').fill('Typed before')
  await visitor.click('button', /^Save 1 field/)
  await visitor.sees('The server does not answer.')
  await visitor.click('button', 'Cancel')
  await page.context().setOffline(false)
  await visitor.sees('live')
  await settled(page)
  const { data } = succeed(await explorer.as('Jonas Weber')('GET', '/v1/desk/records/ticket/T-1303'))
  expect(data.customer_name).not.toBe('Typed before')
  await close()
})

inBrowser('a page stays in sight where the files of its undo are gone', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist')
  await settled(page)
  await page.route(/\/assets\/.*\.js|\/healthz/, (route) => route.abort())
  const visitor = new Visitor(page)
  await visitor.click('button', /^Undo/)
  await visitor.sees('This could not be opened. The page stays as it is until you load it again.')
  expect(await page.getByRole('navigation').first().isVisible()).toBe(true)
  await close()
})

inBrowser('what a person typed stays where the files of a part are gone after an upgrade', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/t/ticket/T-1004?edit=yes')
  await settled(page)
  let loads = 0
  page.on('load', () => loads++)
  await page.getByLabel('customer name').fill('Typed before')
  await page.route(/\/assets\/.*\.js/, (route) => route.fulfill({ status: 404, body: '' }))
  const visitor = new Visitor(page)
  await visitor.click('button', 'Undo this')
  await visitor.click('button', /^Undo all/, page.getByRole('dialog'))
  const said = page.getByRole('alert')
  await visitor.sees('This could not be opened. The page stays as it is until you load it again.', said)
  expect(loads).toBe(0)
  expect(await page.getByLabel('customer name').inputValue()).toBe('Typed before')
  await page.unroute(/\/assets\/.*\.js/)
  await visitor.click('button', 'Close', said)
  await expect.poll(() => said.count()).toBe(0)
  await visitor.click('button', 'Undo this')
  await visitor.click('button', /^Undo all/, page.getByRole('dialog'))
  expect(await page.getByLabel('customer name').inputValue()).toBe('Typed before')
  await visitor.click('button', 'Load it again', said)
  await expect.poll(() => loads).toBe(1)
  await close()
})
