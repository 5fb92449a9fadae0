// @module-tag full
/** Each page in each width and colour: readable for all, nothing sideways, nothing that jumps. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHROMIUM } from '../support/browser.ts'
import { barriersOf, type Explorer, OTHER_PAGES, openExplorer, settled } from './explorer.ts'

const TIME = 600_000
/** All sights in two looks, the pages in the others. */
const LOOKS = [
  [360, 'dark', 'all'],
  [360, 'light', 'pages'],
  [768, 'light', 'pages'],
  [1440, 'dark', 'pages'],
  [1440, 'light', 'all'],
  [3840, 'dark', 'pages'],
] as const

/** Browsers call a page bad from a tenth on. On a busy machine parts arrive one by one. */
const NOTICED = 0.1

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

/** A page, or what is opened on it. */
type Sight = { name: string; path: string; isPage?: true; open?: (page: Page) => Promise<void> }
const press =
  (...keys: string[]) =>
  async (page: Page) => {
    for (const key of keys) await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
  }

/** Presses what has this name, and waits for what it opens. */
const click =
  (name: string | RegExp, opens: 'dialog' | 'menu' | 'region' | 'grid' = 'dialog') =>
  async (page: Page) => {
    await page.getByRole('button', { name }).filter({ visible: true }).first().click()
    await page.getByRole(opens).last().waitFor()
    await settled(page)
  }

const SIGHTS: Sight[] = [
  { name: 'activity', path: '', isPage: true },
  { name: 'activity that nothing matches', path: '?who=nobody' },
  { name: 'a menu', path: '', open: click('Who', 'menu') },
  { name: 'the plan of an undo', path: '?who=triage-agent', open: click('Undo') },
  { name: 'how to connect', path: '', open: click('Connect an agent') },
  { name: 'agents', path: '/agents', isPage: true },
  { name: 'an endpoint', path: '/agents/e/reply', isPage: true },
  ...Object.entries(OTHER_PAGES).map(([name, path]): Sight => ({ name, path, isPage: true })),
  { name: 'a field that is edited', path: '/types/ticket', open: click('Edit stage') },
  { name: 'a new token', path: '/agents', open: click('New token') },
  { name: 'a new record', path: '/t/article', open: click('New article') },
  { name: 'no records', path: '/t/article' },
  { name: 'records that nothing matches', path: '/t/ticket?q=none' },
  { name: 'what is proposed', path: '/review/desk--csat', isPage: true },
  { name: 'the undo of a change', path: '/t/ticket/T-1004', open: click('Undo this') },
  { name: 'what caused a change', path: '/t/ticket/T-1004', open: click('What caused it') },
  { name: 'records', path: '/t/ticket', isPage: true },
  { name: 'deleted records', path: '/t/ticket?view=deleted' },
  { name: 'a chart of records', path: '/t/ticket?chart=stage' },
  { name: 'record', path: '/t/ticket/T-1004', isPage: true },
  { name: 'links of a record', path: '/t/ticket/T-1004?tab=links' },
  { name: 'files of a record', path: '/t/ticket/T-1004?tab=files' },
  { name: 'a record as JSON', path: '/t/ticket/T-1004?tab=json' },
  { name: 'a version of a record', path: '/t/ticket/T-1004?v=4' },
  { name: 'two versions of a record', path: '/t/ticket/T-1004?v=8&vs=4' },
  { name: 'a record that is edited', path: '/t/ticket/T-1004?edit=yes' },
  { name: 'a text at the side', path: '/t/ticket/T-1004?file=call-notes.txt' },
  { name: 'a record that is not there', path: '/t/ticket/T-9' },
  { name: 'no page', path: '/none/at/all' },
  { name: 'review', path: '/review', isPage: true },
  { name: 'the keys', path: '/t/ticket/T-1004', open: press('?') },
  { name: 'the jump', path: '/t/ticket/T-1004', open: press('Control+k') },
]

type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] }

/** Notes what moved without being asked to, but for what nobody notices. */
const countShifts = (noticed: number) => {
  const shifts = window as unknown as { shift: string[] }
  shifts.shift = []
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries() as Shift[])
      if (!hadRecentInput && value >= noticed)
        shifts.shift.push(...sources.map(({ node }) => `${(node as Element | null)?.className} ${value}`))
  }).observe({ type: 'layout-shift', buffered: true })
}
const measured = () => ({
  sideways: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
  shift: (window as unknown as { shift: string[] }).shift,
})

for (const [width, colorScheme, which] of LOOKS)
  test.skipIf(!CHROMIUM)(
    `${width} px, ${colorScheme}, in Chromium if there is one`,
    { timeout: TIME },
    async () => {
      const options = { viewport: { width, height: 900 }, colorScheme, hasTouch: width === 360 }
      const { page, faults, close } = await explorer.open('Mara Lindqvist', '', options)
      await page.addInitScript(countShifts, NOTICED)
      for (const { name, path, open } of which === 'all' ? SIGHTS : SIGHTS.filter(({ isPage }) => isPage)) {
        await page.goto(`${explorer.server.url}/b/desk${path}`)
        await settled(page)
        await open?.(page)
        expect.soft(await barriersOf(page), name).toEqual([])
        expect.soft(await page.evaluate(measured), name).toEqual({ sideways: 0, shift: [] })
        expect.soft(faults.splice(0), name).toEqual([])
      }
      await close()
    },
  )
