// @module-tag full
/** A paused agent in the pages: it is taken back and resumed with a button each. */
import { afterAll, beforeAll, expect } from 'vitest'
import { expectDetail, succeed, times } from '../support/answers.ts'
import { CHROMIUM } from '../support/browser.ts'
import { type Explorer, inBrowser, openExplorer, TIME, Visitor } from './explorer.ts'

let explorer: Explorer
beforeAll(async () => {
  if (CHROMIUM) explorer = await openExplorer()
}, TIME)
afterAll(() => explorer?.close())

inBrowser('a paused agent waits for a person, who undoes and resumes', async () => {
  const { call, as } = explorer.server
  const rule = { record_type: 'ran', operations: ['create'], max: 5000, per: 'day' }
  const grant = {
    base: 'desk',
    record_type: '*',
    environment: '*',
    permission: 'write',
    writes: { auto: [rule] },
  }
  succeed(await call('PUT', '/v1/desk/record-types/ran', {}), 201)
  const { token } = succeed(
    await call('POST', '/v1/tokens', { name: 'runaway', kind: 'agent', grants: [grant] }),
    201,
  )
  const write = (count: number) =>
    as(token)('POST', '/v1/desk/batch', {
      operations: times(count, () => ({ type: 'create_record', record_type: 'ran', data: {} })),
    })
  succeed(await write(999))
  expectDetail(await write(2), 403, { code: 'paused' })
  for (const path of ['/review', '/agents']) {
    const { page, faults, close } = await explorer.open('Mara Lindqvist', path, {
      ...{ viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
    })
    await new Visitor(page).sees('999 changes in an hour, and more were refused. Usually 0.')
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
    await close()
  }
  const { page, faults, close } = await explorer.open('Mara Lindqvist', '/review')
  const visitor = new Visitor(page)
  await visitor.sees('999 changes in an hour')
  await visitor.click('link', 'What it did')
  await visitor.sees('999 rans')
  await visitor.sees('runaway', page.getByRole('main').locator('.filter-chip'))
  expect(new URL(page.url()).searchParams.get('who')).toMatch(/^[0-9a-f-]{36}$/)
  await page.goBack()
  await visitor.click('button', 'Undo what it wrote…')
  await page.getByRole('button', { name: /999/ }).click()
  await expect
    .poll(
      async () => succeed(await call('GET', '/v1/desk/records/ran?include_total=true&limit=1')).meta.total,
      {
        timeout: 20_000,
      },
    )
    .toBe(0)
  await visitor.click('button', 'Resume')
  await visitor.sees('runaway may write again.')
  succeed(await write(2))
  expect(faults).toEqual([])
  await close()
})

inBrowser(
  'a person pauses an agent on its page, and lets it go on; a batch taken back in part says so',
  async () => {
    const { call, as } = explorer.server
    const { token } = explorer.desk.tokens['reply-agent']
    const { id } = succeed(await as(token)('GET', '/v1/tokens/self'))
    const { page, faults, close } = await explorer.open('Mara Lindqvist', `/agents/${id}`)
    const visitor = new Visitor(page)
    // Not that of the stream, which says "paused" until it is there.
    await page.locator('.panel').getByRole('button', { name: 'Pause' }).click()
    await visitor.sees('reply-agent is paused. It reads, and writes nothing.')
    await visitor.sees('Mara Lindqvist paused it.')
    const refused = await as(token)('PATCH', '/v1/desk/records/ticket/T-1004', { data: {} })
    expectDetail(refused, 403, { code: 'paused', message: expect.stringContaining('Mara Lindqvist') })
    await page.locator('.panel').getByRole('button', { name: 'Resume' }).click()
    await visitor.sees('reply-agent may write again.')
    succeed(await call('PUT', '/v1/desk/record-types/part', {}), 201)
    const operations = times(3, (n) => ({
      type: 'upsert_record',
      record_type: 'part',
      id: `p-${n}`,
      data: {},
    }))
    succeed(await call('POST', '/v1/desk/batch', { operations }))
    const { data } = succeed(await call('GET', '/v1/desk/changes?record_type=part'))
    succeed(await call('POST', `/v1/desk/changes/${data[1].seq}/revert`))
    await page.goto(`${explorer.server.url}/b/desk?type=part`)
    await visitor.sees('1 of 3 undone')
    expect(faults).toEqual([])
    await close()
  },
)
