// @module-tag full
/** How the server is: for who answers for all of it, and for nobody else. */
import { afterAll, beforeAll, expect } from 'vitest'
import { CHROMIUM } from '../support/browser.ts'
import { barriersOf, type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

inBrowser('whether the server is well, what needs a look, and its numbers', async () => {
  const { page, faults, close } = await explorer.openWith(explorer.server.adminToken, '/b/desk')
  const visitor = new Visitor(page)
  await visitor.click('link', /^Operate/)
  const checks = page.getByRole('table', { name: 'Check' })
  await visitor.sees(/PostgreSQL \d+/, checks)
  await visitor.sees(/GiB are free on the disk/, checks)
  // Receivers of the desk refuse, so its triggers need a look, and stand first.
  await visitor.sees('look here', checks.getByRole('row').nth(1))
  const numbers = page.getByRole('region', { name: 'Numbers of the last minute' })
  for (const name of ['requests a second', 'memory', 'database', 'free on the disk'])
    await visitor.sees(name, numbers)
  // The second reading of the metrics has something to compare with.
  await expect
    .poll(() => numbers.getByRole('definition').first().textContent(), { timeout: 20_000 })
    .toMatch(/^\d+\.\d$/)
  expect(await barriersOf(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 900 })
  const isWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth
  expect(await page.evaluate(isWide)).toBe(false)
  expect(faults).toEqual([])
  await close()
})

inBrowser('who answers for one base is told who may know', async () => {
  const { page, close } = await explorer.open('Mara Lindqvist', '/operate')
  const visitor = new Visitor(page)
  await visitor.sees('You have no right to see or do this.')
  expect(await page.getByRole('link', { name: /^Operate/ }).count()).toBe(0)
  await close()
})
