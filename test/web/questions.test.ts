// @module-tag full
/** The questions that the pages answer, each within two clicks, by somebody who knows words only. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytes } from '../../web/src/words.ts'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import type { Body } from '../support/server.ts'
import { INVOICE_TEXT } from './desk-files.ts'
import { type Explorer, openExplorer, settled, Visitor } from './explorer.ts'

const TIME = 120_000
/** Of a person. The page has a tenth of it, and this machine is not the reader's. */
const ANSWER_MS = 10_000
const MOST_CLICKS = 2

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const get = async (path: string): Promise<Body> =>
  succeed(await explorer.server.call('GET', `/v1/desk/${path}`))

/** Asks on the first page of the desk; `answer` ends when the answer is in sight, and returns what follows from it. */
function question(
  words: string,
  answer: (visitor: Visitor, page: Page) => Promise<((visitor: Visitor) => Promise<void>) | undefined>,
): void {
  test.skipIf(!CHROMIUM)(`${words} In Chromium if there is one`, { timeout: TIME }, async () => {
    const { page, faults, close } = await explorer.open('Mara Lindqvist')
    await settled(page)
    const visitor = new Visitor(page)
    const asked = performance.now()
    const rest = await answer(visitor, page)
    expect(performance.now() - asked).toBeLessThan(ANSWER_MS)
    expect(visitor.clicks).toBeLessThanOrEqual(MOST_CLICKS)
    await rest?.(visitor)
    expect(faults).toEqual([])
    await close()
  })
}

question('What did the agent change in the last hour?', async (visitor, page) => {
  await visitor.click('button', '1 h')
  await visitor.click('button', 'Only triage-agent')
  const row = page.getByRole('listitem').filter({ hasText: '86 tickets' })
  await row.waitFor()
  const said = ((await row.textContent()) ?? '').replaceAll(/\s+/g, ' ')
  expect(said).toMatch(/triage-agent changed 86 tickets ?batch/)
  for (const field of [
    /summary empty.*Closed: no answer.*× ?86/,
    /owner.*empty.*× ?69/,
    /stage.*solved.*× ?55/,
  ])
    expect(said).toMatch(field)
  await expect
    .poll(() => page.getByRole('listitem').filter({ hasText: 'Jonas Weber changed' }).count())
    .toBe(0)
  return undefined
})

question('How much did agents do, whoever is looked at?', async (visitor, page) => {
  const said = () => page.locator('.legend').first().textContent()
  const before = await said()
  expect(before).toMatch(/agents \d{2}.*programs \d{2}.*people \d{2}/)
  await visitor.click('button', 'Only triage-agent')
  await page.waitForURL(/who=triage-agent/)
  await settled(page)
  expect(await said()).toBe(before)
  return undefined
})

question('Where is the PDF of this ticket?', async (visitor, page) => {
  await visitor.click('link', 'Refund for the double charge in October', page.getByRole('main'))
  await visitor.click('button', /INV-1183\.pdf/)
  const frame = page.locator('iframe')
  await frame.waitFor()
  const address = (await frame.getAttribute('src')) ?? ''
  expect(await (await fetch(new URL(address, page.url()))).text()).toContain(INVOICE_TEXT)
  return undefined
})

question('Which webhooks failed, and why?', async (visitor, page) => {
  const now = page.getByRole('complementary', { name: 'Now' })
  await visitor.sees('26', now)
  await visitor.sees('26 failed', page.getByRole('navigation', { name: 'Pages' }))
  for (const name of ['VIP channel', 'Urgent to Slack', 'Mail in', /422/, /503/, /"body" must be/])
    await visitor.sees(name, now)
  return async () => {
    const { receiver } = explorer
    const before = receiver.at('/vip').length
    await visitor.click('button', 'Send all again', now)
    await expect.poll(() => receiver.at('/vip').length, { timeout: ANSWER_MS }).toBe(before + 21)
  }
})

question('What is claimed, and by whom?', async (visitor, page) => {
  const now = page.getByRole('complementary', { name: 'Now' })
  const claimed = now.getByRole('listitem').filter({ hasText: 'Jonas Weber' })
  await claimed.waitFor()
  expect(await claimed.textContent()).toMatch(/Refund for the double charge in October.*\d+ min left/)
  expect(await now.getByRole('listitem').filter({ hasText: 'min left' }).count()).toBe(4)
  expect(
    await now
      .getByRole('listitem')
      .filter({ hasText: /^agent/ })
      .count(),
  ).toBe(3)
  return async () => {
    await visitor.click('link', 'Refund for the double charge in October', claimed)
    await visitor.sees(/works on this/)
  }
})

question('Which tickets have no owner?', async (visitor, page) => {
  await visitor.click('link', /^Tickets/)
  await visitor.click('button', 'nobody 56')
  await visitor.sees(/of 56/)
  const rows = page.getByRole('grid').getByRole('row')
  await expect.poll(() => rows.count()).toBeGreaterThan(10)
  const owned = async () =>
    (await rows.allTextContents()).slice(1, 10).filter((row) => /ada|jonas|mara/i.test(row))
  await expect.poll(owned).toEqual([])
  return undefined
})

question('Who deleted this?', async (visitor, page) => {
  await visitor.click('link', /^Tickets/)
  await visitor.click('button', 'Deleted')
  await visitor.sees('Test ticket, please ignore')
  const row = page.getByRole('row', { name: /Test ticket/ })
  expect(await row.textContent()).toMatch(/importer/)
  return async () => {
    await visitor.click('button', /Restore/, row)
    const { id } = explorer.desk.tickets.mistaken
    await expect
      .poll(async () => (await explorer.server.call('GET', `/v1/desk/records/ticket/${id}`)).status)
      .toBe(200)
    succeed(await explorer.as('importer')('DELETE', `/v1/desk/records/ticket/${id}`))
  }
})

question('What happens if I promote?', async (visitor) => {
  const now = visitor.page.getByRole('complementary', { name: 'Now' })
  await visitor.sees('Satisfaction of customers', now)
  await visitor.click('link', 'Review', now)
  await visitor.sees(/83 tickets/)
  await visitor.sees('csat comment')
  await visitor.sees('Survey')
  await visitor.sees('low')
  return async () => {
    const promote = visitor.page.getByRole('button', { name: 'Promote', exact: true })
    expect(await promote.isDisabled()).toBe(true)
    expect((await get('promotions')).data).toEqual([])
  }
})

question('How many tickets are in each stage, by day?', async (visitor, page) => {
  await visitor.click('link', /^Tickets/)
  await visitor.click('button', 'Chart')
  const chart = page.getByRole('region', { name: 'Tickets by stage' })
  for (const count of ['new 58', 'open 146', 'waiting 64']) await visitor.sees(count, chart)
  return async () => {
    // The table beneath the chart equals an aggregate as of each day.
    const table = (await chart.getByRole('row').allInnerTexts()).map((row) => row.split(/\s*\t\s*/))
    const [heads = [], ...days] = table
    const filter = { not: { field: 'data.stage', op: 'eq', value: 'solved' } }
    const send = async (body: object): Promise<Body[]> => {
      const asked = { aggregations: [{ fn: 'count' }], filter, limit: 1000, ...body }
      return succeed(await explorer.server.call('POST', '/v1/desk/records/ticket/aggregate', asked)).data
    }
    const moments = await send({ over: { interval: 'day', since: '30d' } })
    expect(days).toHaveLength(moments.length)
    for (const [n, { at }] of moments.entries()) {
      const groups = await send({ as_of: at, group_by: ['data.stage'] })
      const counts = new Map(groups.map((row) => [row['data.stage'], row['count']]))
      expect(days[n]?.slice(1).map(Number)).toEqual(heads.slice(1).map((stage) => counts.get(stage) ?? 0))
    }
  }
})

question('What did this agent use?', async (visitor, page) => {
  await visitor.click('link', 'Agents', page.getByRole('navigation').first())
  await visitor.click('link', /reply-agent/)
  const panel = page.getByRole('region', { name: /reply-agent/ })
  await visitor.sees(/failed/, panel)
  return async () => {
    const [used] = (await get('usage?token=reply-agent')).data
    expect(used).toMatchObject({ failed: 3 })
    const said = ((await panel.textContent()) ?? '').replaceAll(/\s+/g, ' ')
    expect(said).toContain(`${used.calls} calls`)
    expect(said).toContain(`${used.failed} failed`)
    expect(said).toContain(`${used.changes} changes`)
    expect(said).toContain(`${bytes(used.bytes_in)} in, ${bytes(used.bytes_out)} out`)
    await page.getByRole('img', { name: 'Calls by hour' }).waitFor()
  }
})

question('Which tickets did it change?', async (visitor, page) => {
  const row = page.getByRole('listitem').filter({ hasText: '86 tickets' })
  await visitor.click('button', '86 tickets', row)
  const ticket = row.getByRole('link', { name: /Firefox|Invoice|Export|Timezone/ }).first()
  await ticket.scrollIntoViewIfNeeded()
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0)
  await ticket.click()
  await page.waitForURL(/\/t\/ticket\/T-\d+/)
  // A page begins at its top, wherever the one before it was.
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  return undefined
})

question('Where is ticket T-1004, and what else is of Copperfield Bank?', async (visitor, page) => {
  await visitor.click('button', /Search, or go to/)
  const jump = page.getByRole('dialog')
  await jump.getByRole('combobox').fill('copper')
  await jump.getByRole('option', { name: 'Copperfield Bank Customer' }).waitFor()
  await jump.getByRole('combobox').fill('t-1004')
  const found = jump.getByRole('option', { name: 'Ticket T-1004' })
  await found.waitFor()
  await found.click()
  await page.waitForURL(/T-1004$/)
  return undefined
})

question('Can I take back what the agent did?', async (visitor, page) => {
  const row = page.getByRole('listitem').filter({ hasText: '86 tickets' })
  await visitor.click('button', 'Undo', row)
  const plan = page.getByRole('dialog')
  await visitor.sees('Undo 83 changes', plan)
  expect(await plan.textContent()).toMatch(
    /83\s*tickets go back\s*3\s*stay, changed since\s*55\s*calls already sent/,
  )
  return async () => {
    await visitor.click('button', 'Undo 83 changes', plan)
    await visitor.sees('83 changes undone.')
    expect(await closed()).toBe(3)
    await visitor.click('button', 'Undo the undo')
    await visitor.click('button', 'Undo 83 changes', plan)
    await expect.poll(closed, { timeout: ANSWER_MS }).toBe(86)
  }
})

question('Where is what I sent back?', async (visitor) => {
  const [request] = (await get('review-requests')).data
  const decision = { decision: 'send_back', note: 'Keep low: we report on it.' }
  const mara = explorer.as('Mara Lindqvist')
  succeed(await mara('POST', `/v1/desk/review-requests/${request.id}/decision`, decision))
  await visitor.click('link', 'Review')
  await visitor.sees('Nothing waits for you.')
  await visitor.click('button', 'Sent back')
  await visitor.sees('Keep low: we report on it.')
  return async () => {
    // Written again, it waits for a person.
    const path = '/v1/desk--csat/record-types/survey'
    succeed(await explorer.server.call('PATCH', path, { description: 'How it was.' }))
    await visitor.page.goto(`${explorer.server.url}/b/desk/review`)
    await visitor.sees('Change how tickets are stored')
    await visitor.click('button', 'Sent back')
    await visitor.sees('Nothing is with an agent again.')
  }
})

/** How many tickets the agent has closed. */
async function closed(): Promise<number> {
  const query = `SELECT count(*)::int AS n FROM ticket WHERE data->>'summary' LIKE 'Closed:%'`
  return succeed(await explorer.server.call('POST', '/v1/desk/sql', { query })).data[0].n
}
