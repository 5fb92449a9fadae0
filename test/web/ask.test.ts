// @module-tag full
/** Questions in SQL: words that go on, rows, bars, and refusals in the words of the server. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, settled, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

inBrowser('an example is taken, asked, and drawn as bars whose address can be sent', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist')
  const visitor = new Visitor(page)
  await visitor.click('link', 'Ask')
  await visitor.click('button', 'How many tickets are there, by stage?')
  await visitor.click('button', /^Ask/)
  await visitor.sees('4 rows')
  const answer = page.getByRole('grid', { name: 'Answer' })
  await visitor.sees('209', answer)
  await visitor.click('button', 'Chart')
  await page.getByRole('img', { name: 'Answer as bars' }).waitFor()
  const { page: other, close: closeOther } = await explorer.open(
    'Mara Lindqvist',
    new URL(page.url()).pathname.slice('/b/desk'.length) + new URL(page.url()).search,
  )
  await other.getByRole('img', { name: 'Answer as bars' }).waitFor()
  await closeOther()
  expect(faults).toEqual([])
  await close()
})

inBrowser('what is shown is saved as a file: rows of SQL, and records as they were', async () => {
  const sql = encodeURIComponent('SELECT stage, count(*) AS n FROM ticket GROUP BY 1 ORDER BY 1')
  const filter = encodeURIComponent('{"field":"data.stage","op":"eq","value":"new"}')
  for (const [path, name, head] of [
    [`/ask?sql=${sql}`, 'desk.csv', 'stage,n'],
    [`/t/ticket?filter=${filter}&as_of=2020-01-01T00:00:00Z`, 'ticket.csv', 'id,external_id'],
  ] as const) {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', path)
    const visitor = new Visitor(page)
    await visitor.click('button', 'Copy as')
    const saving = page.waitForEvent('download')
    await visitor.click('menuitem', 'Save as CSV file')
    const file = await saving
    expect(file.suggestedFilename()).toBe(name)
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
    expect(lines[0]).toContain(head)
    expect(lines.length).toBe(name === 'desk.csv' ? 5 : 1)
    expect(faults).toEqual([])
    await close()
  }
})

inBrowser('words go on as the base has them, and nothing is asked but what is seen', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/ask')
  const visitor = new Visitor(page)
  await settled(page)
  const asked: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/sql')) asked.push(request.postDataJSON().query)
  })
  const field = page.getByRole('textbox', { name: 'Statement' })
  await field.pressSequentially('SELECT id, subj')
  // Before a table is named, the columns are those of the first type.
  await page.getByRole('option', { name: /^subject/ }).waitFor()
  await field.press('Enter')
  await field.pressSequentially(' FROM tick')
  await page.getByRole('option', { name: /^ticket/ }).waitFor()
  await field.press('Tab')
  await field.pressSequentially(` WHERE customer_name = 'sub`)
  expect(await page.getByRole('option').count()).toBe(0)
  await field.pressSequentially(`way'`)
  expect(await field.inputValue()).toBe(`SELECT id, subject FROM ticket WHERE customer_name = 'subway'`)
  expect(asked).toEqual([])
  await field.press('Control+Enter')
  await visitor.sees('No row answers this.')
  expect(asked).toEqual([await field.inputValue()])
  expect(faults).toEqual([])
  await close()
})

inBrowser('what cannot be read or is no SQL is refused in the words of the server', async () => {
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/ask?sql=SELECT+nothing+FROM+ticket')
  const visitor = new Visitor(page)
  await visitor.sees(/nothing/, page.getByRole('alert'))
  const field = page.getByRole('textbox', { name: 'Statement' })
  await field.fill('DELETE FROM ticket')
  await field.press('Control+Enter')
  await visitor.sees(/read/i, page.getByRole('alert'))
  expect(faults).toEqual([])
  await close()
})
