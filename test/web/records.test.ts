// @module-tag full
/** What a person does with records: find, change, take back, delete, bring back. Each ends in what the server has. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, openExplorer, Visitor } from './explorer.ts'

const TIME = 60_000
let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

/** Opens a page as Mara, and closes it without a fault. */
const asMara = (name: string, path: string, act: (visitor: Visitor) => Promise<void>) =>
  test.skipIf(!CHROMIUM)(`${name}, in Chromium if there is one`, { timeout: TIME }, async () => {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', path)
    await act(new Visitor(page))
    expect(faults).toEqual([])
    await close()
  })

const ticket = async (id: string) =>
  succeed(await explorer.as('Mara Lindqvist')('GET', `/v1/desk/records/ticket/${id}`))
const change = async (id: string, data: object) =>
  succeed(await explorer.as('Jonas Weber')('PATCH', `/v1/desk/records/ticket/${id}`, { data }))
/** What the server has, once it has it. */
const becomes = (id: string, data: object) =>
  expect.poll(async () => (await ticket(id)).data, { timeout: 10_000 }).toMatchObject(data)
const count = async (filter: object) =>
  succeed(
    await explorer.as('Mara Lindqvist')('POST', '/v1/desk/records/ticket/query', {
      ...{ filter, limit: 1, include_total: true },
    }),
  ).meta.total as number

/** Selects two tickets that no other test touches. */
async function selectTwo(visitor: Visitor): Promise<string[]> {
  const boxes = visitor.page.getByRole('checkbox', { name: /^Select T-/ })
  await boxes.nth(20).check()
  await boxes.nth(21).check()
  const names = await boxes.evaluateAll((all) =>
    all.filter((each) => (each as HTMLInputElement).checked).map((each) => each.ariaLabel ?? ''),
  )
  return names.map((name) => name.replace('Select ', ''))
}

asMara(
  'what is open is shown first, and a facet narrows it to what nobody has',
  '/t/ticket',
  async (visitor) => {
    const open = { field: 'data.stage', op: 'neq', value: 'solved' }
    const all = await count(open)
    const unowned = await count({ and: [open, { field: 'data.owner', op: 'is_null' }] })
    await visitor.sees(`of ${all} tickets`)
    await visitor.click('button', `nobody ${unowned}`)
    await visitor.sees(`of ${unowned} tickets`)
    await visitor.page.reload()
    await visitor.sees(`of ${unowned} tickets`)
  },
)

asMara(
  'a list does not move while others write, and says what they changed',
  '/t/ticket',
  async (visitor) => {
    const rows = visitor.page.getByRole('row')
    const first = () => rows.nth(1).getByRole('gridcell').nth(1).textContent()
    await expect.poll(first).toBeTruthy()
    const before = await first()
    await change('T-1300', { channel: 'phone', stage: 'open', owner: 'zoe' })
    await visitor.sees(/1 ticket changed since you opened this list/)
    expect(await first()).toBe(before)
    await visitor.click('button', /changed since you opened/)
    await visitor.sees('zoe', rows.nth(1))
  },
)

asMara('the side bar counts what others make and delete', '/t/ticket', async ({ page }) => {
  const others = explorer.server.call
  const counts = (count: number) =>
    page
      .locator('.side-item[data-type=article] .note')
      .filter({ hasText: `${count}` })
      .waitFor()
  await counts(0)
  const { id } = succeed(
    await others('POST', '/v1/desk/records/article', { data: { title: 'Parcels' } }),
    201,
  )
  await counts(1)
  succeed(await others('DELETE', `/v1/desk/records/article/${id}`))
  await counts(0)
})

asMara('a field of several records is set, and that is undone', '/t/ticket', async (visitor) => {
  const ids = await selectTwo(visitor)
  const before = await Promise.all(ids.map(async (id) => (await ticket(id)).data.priority))
  await visitor.click('button', 'Set a field…')
  const dialog = visitor.page.getByRole('dialog')
  await dialog.getByLabel('Field').selectOption('priority')
  await dialog.getByLabel('priority required').selectOption('urgent')
  await visitor.click('button', /^Change \d tickets?$/, dialog)
  for (const id of ids) await becomes(id, { priority: 'urgent' })
  await visitor.click('button', 'Undo')
  for (const id of ids) await becomes(id, { priority: 'urgent' })
  await visitor.click('button', 'Undo 2 changes', dialog)
  for (const [at, id] of ids.entries()) await becomes(id, { priority: before[at] })
})

asMara('several records are deleted, shown as deleted, and brought back', '/t/ticket', async (visitor) => {
  const ids = await selectTwo(visitor)
  await visitor.click('button', 'Delete…')
  await visitor.click('button', 'Delete 2 tickets', visitor.page.getByRole('dialog'))
  await visitor.sees('2 tickets deleted.')
  await visitor.click('button', 'Deleted')
  await visitor.sees('Mara Lindqvist', visitor.page.getByRole('grid'))
  await visitor.click('button', /^Restore/, visitor.page.getByRole('grid'))
  await visitor.click('button', /^Restore/, visitor.page.getByRole('grid'))
  for (const id of ids) await becomes(id, {})
})

asMara(
  'an edit shows the fault while one types, and is saved as the next version',
  '/t/ticket/T-1100',
  async (visitor) => {
    const { version } = await ticket('T-1100')
    await visitor.click('button', /^Edit/)
    const field = visitor.page.getByLabel('refund')
    await field.fill('-4')
    await visitor.sees('"refund" must be at least 0.')
    await field.fill('40')
    await visitor.click('button', `Save 1 field as version ${version + 1}`)
    await visitor.sees(`Saved as version ${version + 1}.`)
    await becomes('T-1100', { refund: 40 })
  },
)

asMara('an edit that others overtook shows mine and theirs', '/t/ticket/T-1101?edit=yes', async (visitor) => {
  await visitor.page.getByLabel('owner').fill('mine')
  await change('T-1101', { owner: 'theirs' })
  await visitor.click('button', /^Save 1 field/)
  await visitor.sees('owner (theirs)')
  // Above the foot of the form, whose buttons would hide it.
  const [keep, foot] = await Promise.all(
    ['Save mine over it', /^Save 1 field/].map((name) =>
      visitor.page.getByRole('button', { name }).boundingBox(),
    ),
  )
  expect((keep?.y ?? Infinity) + (keep?.height ?? 0)).toBeLessThan(foot?.y ?? 0)
  await visitor.click('button', 'Save mine over it')
  await becomes('T-1101', { owner: 'mine' })
})

asMara('what a change set off is named', '/t/ticket/T-1004', async (visitor) => {
  await visitor.click('button', 'What caused it')
  const dialog = visitor.page.getByRole('dialog')
  await visitor.sees('VIP channel', dialog)
  await visitor.sees('failed', dialog)
  expect(await dialog.textContent()).not.toMatch(/\b(vip|dead)\b/)
})

asMara('a change is undone with its plan, and the undo as well', '/t/ticket/T-1004', async (visitor) => {
  await visitor.click('button', 'Undo this')
  const dialog = visitor.page.getByRole('dialog')
  await visitor.sees('priority', dialog)
  await visitor.click('button', 'Undo this change', dialog)
  await becomes('T-1004', { priority: 'high', due: '2026-12-20' })
  await visitor.click('button', 'Undo the undo')
  await visitor.sees('priority', dialog)
  await becomes('T-1004', { priority: 'high', due: '2026-12-20' })
  await visitor.click('button', 'Undo 1 change', dialog)
  await becomes('T-1004', { priority: 'urgent', due: '2026-11-27' })
})

asMara('an undo that is clicked while its plan is read again is carried out', '', async (visitor) => {
  const { subject } = (await ticket('T-1102')).data
  await change('T-1102', { subject: 'mistaken' })
  const { data } = succeed(
    await explorer.as('Mara Lindqvist')('GET', '/v1/desk/records/ticket/T-1102/history?limit=1'),
  )
  await visitor.page.goto(`${explorer.server.url}/b/desk/r/${data[0].request_id}`)
  await visitor.click('button', 'Undo')
  const dialog = visitor.page.getByRole('dialog')
  await visitor.sees('mistaken', dialog)
  // Another change has the plan read again; its answer is held back until the click is done.
  const { promise: clicked, resolve: click } = Promise.withResolvers<void>()
  const again = visitor.page.waitForRequest(/dry_run=true/)
  await visitor.page.route(/dry_run=true/, async (route) => {
    await clicked
    await route.continue()
  })
  await change('T-1103', { owner: 'zoe' })
  await again
  await dialog.getByRole('button', { name: 'Undo 1 change' }).click({ timeout: 5000 })
  click()
  await becomes('T-1102', { subject })
})

asMara('a row that is open stays so, with its focus, while its author goes on', '', async (visitor) => {
  await change('T-1104', { owner: 'zoe' })
  const row = visitor.page.locator('.feed-row').filter({ hasText: 'Jonas Weber' }).first()
  await visitor.sees('Jonas Weber', visitor.page.getByRole('main'))
  const time = row.getByRole('button', { name: 'Details' })
  await time.click()
  await visitor.sees(/^request /, row)
  await visitor.sees('zoe', row)
  const opened = await row.locator('.feed-open').textContent()
  const words = await row.locator('.feed-what').textContent()
  await change('T-1105', { owner: 'zoe' })
  await expect.poll(() => row.locator('.feed-what').textContent(), { timeout: 10_000 }).not.toBe(words)
  expect(await row.locator('.feed-open').textContent()).toBe(opened)
  expect(await time.evaluate((each) => each === document.activeElement)).toBe(true)
})

asMara('a version is shown as it was, and beside another one', '/t/ticket/T-1004', async (visitor) => {
  await visitor.click(
    'button',
    'As it was before',
    visitor.page.getByRole('complementary', { name: 'History' }),
  )
  await visitor.sees(/This is version \d+, as it was then/)
  await visitor.click('button', 'Compare…')
  await visitor.click('menuitem', /with version 2\b/)
  await visitor.sees(/^Version 2 and version \d+$/)
  await visitor.sees('Copperfield Bank')
})

asMara('the claim of another one is released', '/t/ticket/T-1004', async (visitor) => {
  await visitor.sees(/works on this/)
  await visitor.click('button', 'Release')
  await expect.poll(() => visitor.page.getByText('works on this').count()).toBe(0)
  const { data } = succeed(
    await explorer.as('Mara Lindqvist')('GET', '/v1/desk/claims?record_type=ticket&record_id=T-1004'),
  )
  expect(data).toEqual([])
})

test.skipIf(!CHROMIUM)(
  'words are searched where an index has them: in some texts, or in all data, in Chromium if there is one',
  { timeout: TIME },
  async () => {
    const { server, open } = explorer
    const text = { type: 'string', maxLength: 200 }
    const properties = { title: text, body: text, hint: text }
    const type = (fields: string[]) => ({
      json_schema: { type: 'object', properties },
      indexes: [{ fields, type: 'text' }],
    })
    const all = ['data.title', 'data.body', 'data.hint']
    for (const [id, fields] of Object.entries({ some_texts: all.slice(0, 2), all_texts: all })) {
      succeed(await server.call('PUT', `/v1/desk/record-types/${id}`, type(fields)), 201)
      const data = { title: 'One', body: 'Of a walrus', hint: 'In the sea' }
      succeed(await server.call('PUT', `/v1/desk/records/${id}/one`, { data }), 201)
      const { page, faults, close } = await open('Mara Lindqvist', `/t/${id}`)
      const asked: string[] = []
      page.on('request', (request) => {
        const body = request.url().includes('/query') ? (request.postData() ?? '') : ''
        if (body.includes('"walrus"')) asked.push(body)
      })
      await page.getByRole('searchbox', { name: 'Search words' }).fill('walrus')
      await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(0)
      await page.getByRole('gridcell', { name: 'One', exact: true }).waitFor()
      const isOfAll = asked.some((body) => body.includes('"field":"data"'))
      expect(isOfAll, id).toBe(id === 'all_texts')
      expect(faults).toEqual([])
      await close()
    }
  },
)
