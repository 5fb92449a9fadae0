// @module-tag full
/** All of it without a pointer: what can be pressed is reached, the focus is seen, and goes back where it was. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, OTHER_PAGES, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

const PAGES = {
  activity: '',
  records: '/t/ticket',
  'deleted records': '/t/ticket?view=deleted',
  'a record': '/t/ticket/T-1004',
  'a record that is edited': '/t/ticket/T-1004?edit=yes',
  review: '/review',
  agents: '/agents',
  ...OTHER_PAGES,
}

/** What is in focus, which is noted, and all that the keys did not reach yet. */
const inFocus = () => {
  const nameOf = (element: Element) => element.ariaLabel ?? element.textContent.trim().slice(0, 40)
  const element = document.activeElement ?? document.body
  element.toggleAttribute('data-reached', true)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { top, bottom, left, width } = element.getBoundingClientRect()
  /** Something else may stay in sight above it, such as the bar of a phone. */
  const isOnTop = [top + 3, (top + bottom) / 2, bottom - 3].some((at) => {
    const hit = document.elementFromPoint(Math.max(0, left) + Math.min(width, innerWidth) / 2, at)
    return hit !== null && (element.contains(hit) || hit.contains(element))
  })
  const all = [
    ...document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    ),
  ].filter((each) => each.tabIndex >= 0 && !each.matches(':disabled') && each.checkVisibility())
  return {
    count: all.length,
    isEnd: element === document.body,
    name: nameOf(element),
    isSeen: outlineStyle !== 'none' && outlineWidth !== '0px' && width > 0 && isOnTop,
    /** The stop of a grid goes to the cell whose button has the focus. */
    missed: all.filter((each) => !each.matches('[data-reached], :has([data-reached])')).map(nameOf),
  }
}

/** What a window is when a page is shown at twice its size. */
const TWICE = { viewport: { width: 720, height: 450 } }
const CASES = [
  ...Object.entries(PAGES).map(([name, path]) => ({ name, path, size: {} })),
  ...(['activity', 'a record', 'a record that is edited'] as const).map((name) => ({
    ...{ name: `${name} at twice its size`, path: PAGES[name], size: TWICE },
  })),
]
for (const { name, path, size } of CASES)
  inBrowser(`the keys reach all of ${name}, in its order, and the focus is seen`, async () => {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', path, size)
    await settled(page)
    await page.getByRole('link', { name: 'Skip to the content' }).focus()
    const unseen: string[] = []
    let last = await page.evaluate(inFocus)
    const { count } = last
    for (let presses = 0; presses < count + 3; presses++) {
      await page.keyboard.press('Tab')
      last = await page.evaluate(inFocus)
      if (last.isEnd) break
      if (!last.isSeen) unseen.push(last.name)
    }
    expect(count).toBeGreaterThan(10)
    expect(unseen).toEqual([])
    expect(last.missed).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

const MOST_TABS = 300
/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < MOST_TABS; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Not reached in ${MOST_TABS} steps: ${target}`)
}
const hasFocus = (target: Locator) =>
  expect.poll(() => target.evaluate((element) => element === document.activeElement)).toBe(true)

const ticket = async (id: string) =>
  succeed(await explorer.as('Mara Lindqvist')('GET', `/v1/desk/records/ticket/${id}`))

inBrowser('what an agent did is taken back, and the undo as well', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const row = page.getByRole('listitem').filter({ hasText: '86 tickets' })
  const undo = row.getByRole('button', { name: 'Undo', exact: true })
  await settled(page)
  await tabTo(page, undo)
  await page.keyboard.press('Enter')
  const plan = page.getByRole('dialog')
  const act = plan.getByRole('button', { name: 'Undo 83 changes' })
  await act.waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => plan.count()).toBe(0)
  await hasFocus(undo)
  await page.keyboard.press('Enter')
  await expect.poll(() => act.isEnabled()).toBe(true)
  await tabTo(page, act)
  await page.keyboard.press('Enter')
  const visitor = new Visitor(page)
  await visitor.sees('83 changes undone.')
  await tabTo(page, page.getByRole('button', { name: 'Undo the undo' }).last())
  await page.keyboard.press('Enter')
  await expect.poll(() => act.isEnabled()).toBe(true)
  await tabTo(page, act)
  await page.keyboard.press('Enter')
  await visitor.sees('83 changes undone.')
  expect(faults).toEqual([])
  await close()
})

inBrowser('a record is found, selected, opened, edited and saved', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await settled(page)
  for (const key of ['g', 'r']) await page.keyboard.press(key)
  const cells = page.getByRole('gridcell')
  await cells.first().waitFor()
  await settled(page)
  await page.keyboard.press('/')
  await hasFocus(page.getByRole('searchbox'))
  await tabTo(page, page.getByRole('grid').locator('[role=gridcell][tabindex="0"]'))
  for (const key of ['ArrowDown', 'j', 'k', ' ']) await page.keyboard.press(key)
  const peek = page.getByRole('dialog')
  await visitor.sees('priority', peek)
  await page.keyboard.press(' ')
  await expect.poll(() => peek.count()).toBe(0)
  await page.keyboard.press('x')
  await visitor.sees('1 selected')
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByText('1 selected').count()).toBe(0)
  const inGrid = () => page.evaluate(() => document.activeElement?.getAttribute('data-at'))
  expect(await inGrid()).toBe('1:0')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/t\/ticket\/T-\d+/)
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await page.getByRole('button', { name: /^Edit/ }).waitFor()
  const before = await ticket(id)
  await page.keyboard.press('e')
  await hasFocus(page.getByLabel('subject'))
  await page.keyboard.press('Escape')
  await hasFocus(page.getByRole('button', { name: /^Edit/ }))
  await page.keyboard.press('e')
  await hasFocus(page.getByLabel('subject'))
  await page.keyboard.press('End')
  await page.keyboard.type(' again')
  await page.keyboard.press('Control+Enter')
  await visitor.sees(`Saved as version ${before.version + 1}.`)
  expect((await ticket(id)).data.subject).toBe(`${before.data.subject} again`)
  await visitor.sees(`Version ${before.version + 1} of ${before.version + 1}`)
  await page.keyboard.press('[')
  await visitor.sees(`This is version ${before.version}, as it was then.`)
  await page.keyboard.press(']')
  await expect.poll(() => page.getByText('as it was then').count()).toBe(0)
  await page.keyboard.press('u')
  await visitor.sees('The record becomes what it was before:', page.getByRole('dialog'))
  await page.keyboard.press('Escape')
  await page.keyboard.press('y')
  await hasFocus(page.getByRole('menuitem').first())
  expect(faults).toEqual([])
  await close()
})

inBrowser('a word leads to a page, a type and a record', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review')
  await settled(page)
  const link = page.getByRole('main').getByRole('link').first()
  await tabTo(page, link)
  await page.keyboard.press('Control+k')
  await hasFocus(page.getByRole('combobox'))
  await page.keyboard.press('Escape')
  await hasFocus(link)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('agen')
  await page.keyboard.press('Enter')
  await new Visitor(page).sees('Who works here')
  for (const key of ['g', 'a']) await page.keyboard.press(key)
  await new Visitor(page).sees('What happened')
  expect(faults).toEqual([])
  await close()
})

inBrowser('what happened is looked at row by row, and what is live is held and goes on', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.sees('86 tickets')
  for (const key of ['j', 'j', 'k', ' ']) await page.keyboard.press(key)
  const first = page.getByRole('main').getByRole('button', { expanded: true, name: /Details/ })
  await hasFocus(first)
  await visitor.sees('live')
  await page.keyboard.press('.')
  await visitor.sees('paused')
  const title = 'Made while it was held'
  succeed(await explorer.as('Jonas Weber')('POST', '/v1/desk/records/article', { data: { title } }), 201)
  await settled(page)
  expect(await page.getByText(title).count()).toBe(0)
  await page.keyboard.press('.')
  await visitor.sees(title)
  await visitor.sees('live')
  expect(faults).toEqual([])
  await close()
})

inBrowser('a menu opens, moves, chooses and closes', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const who = page.getByRole('button', { name: 'Who', exact: true })
  await tabTo(page, who)
  await page.keyboard.press('Enter')
  const items = page.getByRole('menuitemradio')
  await hasFocus(items.first())
  await page.keyboard.press('End')
  await hasFocus(items.last())
  await page.keyboard.press('Escape')
  await expect.poll(() => items.count()).toBe(0)
  await hasFocus(who)
  await page.keyboard.press('Enter')
  await hasFocus(items.first())
  await page.keyboard.press('J')
  await page.keyboard.press('Enter')
  await page.waitForURL(/who=Jonas/)
  await new Visitor(page).sees('Jonas Weber')
  expect(faults).toEqual([])
  await close()
})

inBrowser('the keys are silent in fields, and can be switched off', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/t/ticket')
  await settled(page)
  await page.getByRole('searchbox').focus()
  await page.keyboard.type('?ga')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByRole('searchbox').blur()
  await page.keyboard.press('?')
  await tabTo(page, page.getByRole('button', { name: 'Switch the keys off' }))
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  for (const key of ['g', 'a', '?']) await page.keyboard.press(key)
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(new URL(page.url()).pathname).toBe('/b/desk/t/ticket')
  expect(faults).toEqual([])
  await close()
})

inBrowser('where the system chooses the colours, states and authors still differ', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '', { forcedColors: 'active' })
  await settled(page)
  const style = (target: Locator, name: string) =>
    target.evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name)
  const canvas = await style(page.locator('body'), 'background-color')
  const main = page.getByRole('main')
  for (const kind of ['agent', 'person', 'program'])
    expect(await style(main.locator(`.shape.${kind}`).first(), 'forced-color-adjust')).toBe('none')
  expect(await style(main.locator('.swatch').first(), 'background-color')).not.toBe(canvas)
  expect(await style(page.getByRole('button', { pressed: true }), 'outline-style')).toBe('solid')
  expect(await style(page.getByRole('link', { name: 'Activity' }).first(), 'outline-style')).toBe('solid')
  await page.goto(`${explorer.server.url}/b/desk/t/ticket`)
  const priority = page
    .getByRole('gridcell')
    .getByText(/^(urgent|high|normal|low)$/)
    .first()
  expect(await style(priority.locator('..'), 'border-style')).toBe('solid')
  expect(faults).toEqual([])
  await close()
})
