// @module-tag full
/** Each page in each width and colour: readable for all, nothing sideways, nothing that jumps. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, openExplorer, settled } from './explorer.ts'

const TIME = 240_000
const LOOKS = [
  [360, 'light'],
  [360, 'dark'],
  [768, 'light'],
  [1440, 'light'],
  [1440, 'dark'],
  [3840, 'dark'],
] as const
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Browsers call a page bad from a tenth on. On a busy machine parts arrive one by one. */
const NOTICED = 0.1

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

/** A page, or what is opened on it. */
type Sight = { name: string; path: string; open?: (page: Page) => Promise<void> }
const press =
  (...keys: string[]) =>
  async (page: Page) => {
    for (const key of keys) await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
  }

const SIGHTS: Sight[] = [
  { name: 'records', path: '/t/ticket' },
  { name: 'deleted records', path: '/t/ticket?view=deleted' },
  { name: 'a chart of records', path: '/t/ticket?chart=stage' },
  { name: 'record', path: '/t/ticket/T-1004' },
  { name: 'links of a record', path: '/t/ticket/T-1004?tab=links' },
  { name: 'files of a record', path: '/t/ticket/T-1004?tab=files' },
  { name: 'a record as JSON', path: '/t/ticket/T-1004?tab=json' },
  { name: 'a version of a record', path: '/t/ticket/T-1004?v=4' },
  { name: 'two versions of a record', path: '/t/ticket/T-1004?v=8&vs=4' },
  { name: 'a record that is edited', path: '/t/ticket/T-1004?edit=yes' },
  { name: 'a text at the side', path: '/t/ticket/T-1004?file=call-notes.txt' },
  { name: 'a record that is not there', path: '/t/ticket/T-9' },
  { name: 'no page', path: '/none/at/all' },
  { name: 'review', path: '/review' },
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

for (const [width, colorScheme] of LOOKS)
  test.skipIf(!CHROMIUM)(
    `${width} px, ${colorScheme}, in Chromium if there is one`,
    { timeout: TIME },
    async () => {
      const options = { viewport: { width, height: 900 }, colorScheme, hasTouch: width === 360 }
      const { page, faults, close } = await explorer.open('Mara Lindqvist', '', options)
      await page.addInitScript(countShifts, NOTICED)
      for (const { name, path, open } of SIGHTS) {
        await page.goto(`${explorer.server.url}/b/desk${path}`)
        await settled(page)
        await open?.(page)
        const { violations } = await new AxeBuilder({ page }).withTags(STANDARDS).analyze()
        const found = violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
        )
        expect.soft(found, name).toEqual([])
        expect.soft(await page.evaluate(measured), name).toEqual({ sideways: 0, shift: [] })
        expect.soft(faults.splice(0), name).toEqual([])
      }
      await close()
    },
  )
